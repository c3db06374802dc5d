import type { CallRecord } from "../calls/call-record.js";
import type { CallToolResult } from "../catalog/tool.js";
import { CodeModeError, messageOf, type ErrorKind } from "../errors.js";
import type { ExecuteOutcome, PendingQuestion } from "./meta-tool.js";

/** Key in `_meta` of every reply of execute, and of every refusal of a meta-tool. */
export const RUN_MARK = "mcp-codemode/run";

/** Calls listed in the mark; the rest is counted. */
const MAX_LISTED_CALLS = 200;

/** What a program can read of a reply without reading its text. */
export interface RunMark {
  /** How it ended: "ok", or the kind of the error. "suspended": it waits for somebody. */
  kind: "ok" | "suspended" | ErrorKind;
  /** Names a run that waits, for `resume`. */
  run?: string;
  /** What a person has to decide. */
  pending?: readonly PendingQuestion[];
  /** Milliseconds since 1970: from then on the run cannot go on any more. Absent: no limit. */
  expiresAt?: number;
  calls: readonly CallRecord[];
  /** Calls beyond those listed. */
  callsOmitted?: number;
  durationMs: number;
  /** The result was made smaller to fit. */
  truncated: boolean;
  error?: { name: string; message: string; line?: number; column?: number; details?: unknown };
}

/** The mark of a run. */
export function runMark(outcome: ExecuteOutcome): RunMark {
  const { calls, durationMs, truncated } = outcome;
  const omitted = calls.length - MAX_LISTED_CALLS;
  return {
    ...endOf(outcome),
    calls: calls.slice(0, MAX_LISTED_CALLS),
    ...(omitted > 0 ? { callsOmitted: omitted } : {}),
    durationMs,
    truncated,
    ...(outcome.status === "failed" ? { error: errorFacts(outcome.error) } : {}),
  };
}

function endOf(outcome: ExecuteOutcome): Pick<RunMark, "kind" | "run" | "pending" | "expiresAt"> {
  if (outcome.status === "completed") return { kind: "ok" };
  if (outcome.status === "failed") return { kind: outcome.error.kind };
  const { run, pending, expiresAt } = outcome;
  return { kind: "suspended", run, pending, ...(Number.isFinite(expiresAt) ? { expiresAt } : {}) };
}

function errorFacts(error: (ExecuteOutcome & { status: "failed" })["error"]): NonNullable<RunMark["error"]> {
  const { name, message, line, column, details } = error;
  return {
    name,
    message,
    ...(line === undefined ? {} : { line }),
    ...(column === undefined ? {} : { column }),
    ...(details === undefined ? {} : { details }),
  };
}

/** The reply of a meta-tool that could not do what it was asked. */
export function refusal(error: unknown): CallToolResult {
  const kind = CodeModeError.isInstance(error) ? error.kind : "tool";
  const mark: RunMark = { kind, calls: [], durationMs: 0, truncated: false };
  if (CodeModeError.isInstance(error)) {
    mark.error = { name: error.name, message: error.message, details: error.details };
  }
  return { content: [{ type: "text", text: messageOf(error) }], isError: true, _meta: { [RUN_MARK]: mark } };
}
