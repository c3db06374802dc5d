import type { ExecuteOutcome, ExecuteResultSerializer } from "../meta-tool.js";
import { suspendedText } from "./suspended.js";

/**
 * One JSON object for programs that read the reply: `{ ok, result?, error?, suspended?, logs?, notes?, calls }`. Images and
 * resources follow as blocks.
 *
 * @example
 * codeMode({ executeResultSerializer: jsonResult() });
 */
export function jsonResult(): ExecuteResultSerializer {
  return function serializeJson(outcome) {
    const { logs = [], notes, calls } = outcome;
    const reply = {
      ok: outcome.status === "completed",
      ...endOf(outcome),
      ...(logs.length > 0 ? { logs } : {}),
      ...(notes.length > 0 ? { notes } : {}),
      calls,
    };
    const content = [{ type: "text" as const, text: JSON.stringify(reply) }, ...outcome.content];
    return outcome.status === "failed" ? { content, isError: true } : { content };
  };
}

function endOf(outcome: ExecuteOutcome): object {
  if (outcome.status === "completed") return { result: outcome.value ?? null };
  if (outcome.status === "failed") return { error: { ...outcome.error, next: outcome.next } };
  const { run, expiresAt, pending, stillRunning } = outcome;
  return { suspended: { run, expiresAt, pending, stillRunning, next: suspendedText(outcome) } };
}
