import { foldedText } from "../catalog/untrusted-text.js";
import type { ElicitAnswer, ElicitQuestion } from "../catalog/tool.js";
import { shownName } from "./parameters.js";

/** A call that a person is to decide about. */
export interface CallQuestion {
  tool: string;
  server?: string | undefined;
  /** As the tool will get them, without hidden ones. */
  arguments: Readonly<Record<string, unknown>>;
  /** Why the policy asks. */
  reason?: string | undefined;
}

/** What a person said. Edited arguments are coerced and checked like a script's own. */
export type PersonDecision =
  | { action: "allow"; arguments?: Record<string, unknown> | undefined }
  | { action: "deny"; reason?: string | undefined };

/** Longest text of the arguments of one call. A person who cannot read it all sees that something was cut. */
const MAX_ARGUMENT_CHARACTERS = 1_000;
const MAX_REASON_CHARACTERS = 300;

/** `write_file({"path":"a.txt"}): outside of the project`: one call on one line, whatever its arguments hold. */
export function questionLine({ tool, server, arguments: args, reason }: CallQuestion): string {
  const from = server === undefined ? "" : ` of ${shownName(server)}`;
  const why = reason === undefined || reason === "" ? "" : `: ${foldedText(reason, MAX_REASON_CHARACTERS)}`;
  return `${shownName(tool)}(${argumentText(args)})${from}${why}`;
}

function argumentText(args: Readonly<Record<string, unknown>>): string {
  // As JSON no text of an argument can end the line. Bidi and other invisible characters must not change what is read.
  const text = visible(JSON.stringify(args));
  if (text.length <= MAX_ARGUMENT_CHARACTERS) return text;
  return `${text.slice(0, MAX_ARGUMENT_CHARACTERS)}... [${text.length - MAX_ARGUMENT_CHARACTERS} more characters]`;
}

const visible = (json: string): string =>
  json.replaceAll(
    /[\p{Cf}\p{Co}\p{Zl}\p{Zp}]|[\u{80}-\u{9f}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );

/** One form for all calls that wait: a single one is accepted or not, of several each can be left out. */
export function questionForm(questions: readonly CallQuestion[]): ElicitQuestion {
  const lines = questions.map(questionLine);
  if (lines.length === 1) {
    return {
      message: `A script asks to call ${lines[0] ?? ""}\nAllow this call?`,
      requestedSchema: { type: "object", properties: {} },
    };
  }
  const properties = questions.map(({ tool }, index): [string, object] => [
    `call_${index + 1}`,
    { type: "boolean", title: `${index + 1}. ${shownName(tool)}`, default: true },
  ]);
  const listed = lines.map((line, index) => `${index + 1}. ${line}`).join("\n");
  return {
    message: `A script asks to make ${lines.length} calls:\n${listed}\nAllow these calls?`,
    requestedSchema: { type: "object", properties: Object.fromEntries(properties) },
  };
}

/** What the answer to {@link questionForm} says about each call. Only "accept" allows anything. */
export function decisionsOf(answer: ElicitAnswer, count: number): PersonDecision[] {
  const { action, content } = answer;
  if (action !== "accept") {
    const reason = action === "decline" ? "the person declined" : "the person gave no answer";
    return Array.from({ length: count }, () => ({ action: "deny", reason }));
  }
  return Array.from({ length: count }, (_, index): PersonDecision => {
    const key = `call_${index + 1}`;
    const ticked = content !== undefined && Object.hasOwn(content, key) ? content[key] : undefined;
    // Whoever accepts the form accepts what it lists, unless a box says otherwise; anything but a tick is no tick.
    const isAllowed = count === 1 || ticked === undefined || ticked === true;
    return isAllowed ? { action: "allow" } : { action: "deny", reason: "the person declined" };
  });
}
