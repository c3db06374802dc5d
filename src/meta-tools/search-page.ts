import type { CallToolResult, Tool } from "../catalog/tool.js";
import { foldedText } from "../catalog/untrusted-text.js";
import { LimitError } from "../errors.js";
import { isProse, type SearchResultSerializer, type SerializeContext } from "../search/serializers/serializer.js";
import { serverList, type Answer, type FoundTools } from "./find-tools.js";

/** How a page is printed. */
export interface PageOptions {
  serializer: SearchResultSerializer;
  /** All but the size of the catalog, which the page knows. */
  context: Omit<SerializeContext, "total">;
  /** Of the whole reply, in bytes of UTF-8. */
  maxBytes: number;
  /** The cursor for the hits from an offset on. */
  cursorAt(offset: number): Promise<string>;
  /** What is missing from the catalog now: a sentence each. */
  absences: readonly string[];
}

/** A gateway with many servers down must not drown the tools that were found. */
const MAX_ABSENCES = 5;

/** Room kept for the heading and the notes. */
const MARGIN_BYTES = 1_024;
/** Characters of a question or name that a reply repeats, and questions that it answers one by one. */
const MAX_SAID_CHARACTERS = 200;
const MAX_ANSWERS = 20;

/** Tools as text. */
export interface Printed {
  text: string;
  /** Tools in the text. */
  shown: number;
}

/**
 * The reply of a search. Too large: as many tools as fit, and a cursor for the rest.
 *
 * @throws {LimitError} when one tool alone is too large.
 */
export async function searchPage(found: FoundTools, options: PageOptions): Promise<CallToolResult> {
  const { serializer, context, maxBytes } = options;
  const printed = await printThatFits(found.tools, serializer, { ...context, total: found.total }, maxBytes);
  const isText = isProse(serializer) && !isJson(printed.text);
  const absences = absenceNotes(options.absences);
  if (isText && found.tools.length === 0) return textReply([[nothingFound(found), ...absences].join("\n\n")]);
  const notes = [...notesOf(found), ...(await restNotes(found, printed, options)), ...absences];
  if (!isText) return textReply([printed.text, ...(notes.length === 0 ? [] : [notes.join("\n")])]);
  return textReply([[...headingOf(found, printed), printed.text, ...notes].join("\n\n")]);
}

/**
 * As many of the tools as fit into a reply, printed.
 *
 * @throws {LimitError} when the first alone is too large.
 */
export async function printThatFits(
  all: readonly Tool[],
  serializer: SearchResultSerializer,
  context: SerializeContext,
  maxBytes: number,
): Promise<Printed> {
  const room = Math.max(0, maxBytes - MARGIN_BYTES);
  let tools = all;
  for (;;) {
    const printed = await serializer([...tools], context);
    const text = typeof printed === "string" ? printed : JSON.stringify(printed);
    const bytes = Buffer.byteLength(text);
    if (bytes <= room || tools.length === 0) return { text, shown: tools.length };
    if (tools.length === 1) throw oneTooLarge(tools[0]?.name ?? "", bytes, maxBytes);
    // A little less than the share that fits, so that a few rounds do.
    tools = tools.slice(0, Math.max(1, Math.floor(((tools.length * room) / bytes) * 0.95)));
    // A page this large took a while: others first.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function oneTooLarge(name: string, bytes: number, most: number): LimitError {
  return new LimitError(
    `${said(name)} alone takes ${bytes} bytes in this form, at most ${most} are allowed (limits.maxResultBytes). Ask for less detail.`,
    { details: { limit: "maxResultBytes", bytes, most } },
  );
}

function headingOf({ total, unfiltered, offset }: FoundTools, { shown }: Printed): string[] {
  if (shown >= total) return [];
  const from = offset === 0 ? "" : ` from ${offset + 1} on`;
  return [`${shown} of ${total} tools${from}${unfiltered ? ", in name order" : ""}:`];
}

/** What the tools on the page do not tell: names that do not exist, and which question found what. */
function notesOf({ unknown, answers }: FoundTools): string[] {
  const missing = unknown.map(({ name, nearest }) => {
    const hint = nearest.length === 0 ? "" : ` Nearest: ${nearest.map(said).join(", ")}.`;
    return `No tool is named ${JSON.stringify(said(name))}.${hint}`;
  });
  return answers.length < 2 ? missing : [...missing, answers.slice(0, MAX_ANSWERS).map(answerLine).join("\n")];
}

/** Names for one question among several. */
const MAX_NAMES = 5;

function answerLine({ query, tools, nearest }: Answer): string {
  const names = tools.slice(0, MAX_NAMES).map(({ name }) => said(name));
  const near = nearest.length === 0 ? "" : ` Nearest names: ${nearest.map(said).join(", ")}.`;
  return names.length === 0
    ? `Nothing fits ${JSON.stringify(said(query))}.${near}`
    : `For ${JSON.stringify(said(query))}: ${names.join(", ")}`;
}

async function restNotes(found: FoundTools, { shown }: Printed, options: PageOptions): Promise<string[]> {
  const left = found.tools.length - shown;
  if (left === 0 && !found.more) return [];
  const cursor = await options.cursorAt(found.offset + shown);
  const size = left > 0 ? `${left} more found, left out: a reply has at most ${options.maxBytes} bytes. ` : "";
  return [`${size}Next page: the same search with cursor ${JSON.stringify(cursor)}.`];
}

function absenceNotes(absences: readonly string[]): string[] {
  const left = absences.length - MAX_ABSENCES;
  return left > 0 ? [...absences.slice(0, MAX_ABSENCES), `${left} more servers are not available.`] : [...absences];
}

function nothingFound(found: FoundTools): string {
  const [first] = found.answers;
  if (found.unknown.length > 0 || found.answers.length > 1) {
    return [...notesOf(found), `${found.total} tools were looked through${where(found)}.`].join("\n");
  }
  if (found.total === 0) return "No tools matched: there are no tools here.";
  if (first === undefined || found.offset > 0) return "No tools matched: there are no further ones.";
  const near = first.nearest.length === 0 ? "" : ` Nearest names: ${first.nearest.map(said).join(", ")}.`;
  return `No tools matched ${JSON.stringify(said(first.query))} (of ${found.total}${where(found)}).${near} Try other words, or an empty query for all tools in name order.`;
}

const where = ({ servers }: FoundTools): string => (servers.length === 0 ? "" : `; servers: ${serverList(servers)}`);

/** Words of others within a line of ours. */
const said = (text: string): string => foldedText(text, MAX_SAID_CHARACTERS);

/** A program may read it: nothing is put around it. */
const isJson = (text: string): boolean => /^\s*[[{]/.test(text);

/** A reply of one block for each text. */
export function textReply(texts: readonly string[]): CallToolResult {
  return { content: texts.map((text) => ({ type: "text", text })) };
}
