import type { CallRecord } from "../../calls/call-record.js";
import { shownName } from "../../calls/parameters.js";
import type { CallToolResult, ContentBlock } from "../../catalog/tool.js";
import type { LogEntry } from "../../sandbox/provider.js";
import type { ExecuteOutcome, ExecuteResultSerializer } from "../meta-tool.js";
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

const MAX_LISTED_TOOLS = 20;

/** Calls that had their effect, by tool: those that may have changed something first. */
export function completedCalls(calls: readonly CallRecord[]): string {
  const byTool = new Map<string, { count: number; readOnly: boolean }>();
  for (const { tool, ok, readOnly } of calls) {
    if (!ok) continue;
    const known = byTool.get(tool);
    byTool.set(tool, { count: (known?.count ?? 0) + 1, readOnly: readOnly === true });
  }
  const tools = [...byTool].sort(([, a], [, b]) => Number(a.readOnly) - Number(b.readOnly));
  const listed = tools.slice(0, MAX_LISTED_TOOLS).map(([tool, { count, readOnly }]) => {
    return `${shownName(tool)} (${count} call${count === 1 ? "" : "s"}${readOnly ? ", read-only" : ""})`;
  });
  const left = tools.length - listed.length;
  return left > 0 ? `${listed.join(", ")} and ${left} more tools` : listed.join(", ");
}

function logText(logs: readonly LogEntry[]): string {
  if (logs.length === 0) return "";
  const lines = logs.map(({ level, text }) => (level === "warn" || level === "error" ? `[${level}] ${text}` : text));
  return `Console:\n${lines.join("\n")}`;
}

const noteText = (notes: readonly string[]): string => notes.map((note) => `Note: ${note}`).join("\n");
