import type { CallToolResult, ContentBlock } from "../../catalog/tool.js";
import type { LogEntry } from "../../sandbox/provider.js";
import type { ExecuteOutcome, ExecuteResultSerializer } from "../meta-tool.js";
import { completedCalls } from "./completed-calls.js";
import { suspendedText } from "./suspended.js";

type Failed = ExecuteOutcome & { status: "failed" };
type Completed = ExecuteOutcome & { status: "completed" };

/**
 * The default reply: the value (a string as it is, anything else as JSON), images and resources it holds, then captured
 * console output and notes as blocks of their own. A failure says what went wrong and where, what had been done by then
 * and, where that is known, how to go on.
 *
 * @example
 * codeMode({ executeResultSerializer: textResult() });
 */
export function textResult(): ExecuteResultSerializer {
  return function serializeText(outcome): CallToolResult {
    const blocks = mainBlocks(outcome);
    const extra = [logText(outcome.logs ?? []), noteText(outcome.notes)].filter((text) => text !== "");
    const content = [...blocks, ...extra.map(textBlock)];
    return outcome.status === "failed" ? { content, isError: true } : { content };
  };
}

function mainBlocks(outcome: ExecuteOutcome): ContentBlock[] {
  if (outcome.status === "completed") return valueBlocks(outcome);
  return [textBlock(outcome.status === "failed" ? failureText(outcome) : suspendedText(outcome))];
}

const textBlock = (text: string): ContentBlock => ({ type: "text", text });

/** The value as content. Media stand behind the text that mentions them, or alone when there is nothing else. */
export function valueBlocks({ value, content, contentOnly }: Completed): ContentBlock[] {
  if (contentOnly) return [...content];
  if (value === undefined) return [];
  return [textBlock(valueText(value)), ...content];
}

/** A string as it is, anything else as compact JSON. */
export function valueText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** What a failed script is told. */
export function failureText({ error, calls, next }: Failed): string {
  const lines = [`${error.name}: ${error.message || "(no message)"}`];
  if (error.line !== undefined) lines.push(`  at line ${error.line}${column(error.column)}`);
  if (error.frame !== undefined) lines.push(error.frame.replace(/\n+$/, ""));
  if (error.hint !== undefined) lines.push(`Hint: ${error.hint}`);
  const done = completedCalls(calls);
  if (done !== "") lines.push(`Completed before the error: ${done}.`);
  if (next !== undefined) lines.push(`Next: ${next}`);
  return lines.join("\n");
}

const column = (at: number | undefined): string => (at === undefined ? "" : `, column ${at}`);

function logText(logs: readonly LogEntry[]): string {
  if (logs.length === 0) return "";
  const lines = logs.map(({ level, text }) => (level === "warn" || level === "error" ? `[${level}] ${text}` : text));
  return `Console:\n${lines.join("\n")}`;
}

const noteText = (notes: readonly string[]): string => notes.map((note) => `Note: ${note}`).join("\n");
