import type { CatalogView } from "../catalog/catalog.js";
import type { RunCalls } from "../calls/call-tool.js";
import type { LimitValues } from "../calls/limits.js";
import { CodeModeError, LimitError, messageOf } from "../errors.js";
import type { FinishedResult, LogEntry, SandboxProvider, ScriptError } from "../sandbox/provider.js";
import { isPlainJson, toPlainJson } from "../sandbox/values/plain.js";
import { NOTHING_RETURNED } from "./descriptions.js";
import type { ExecuteOutcome, SuspendedRun } from "./meta-tool.js";
import { adviceFor } from "./next-step.js";

/** A script that came to its end. */
export interface Ended {
  result: FinishedResult;
  notes: readonly string[];
  calls: RunCalls;
  logs: readonly LogEntry[];
  /** On the clock of `performance.now()`. */
  start: number;
  view: CatalogView;
  sandbox: SandboxProvider;
  limits: LimitValues;
}

/** What became of a script that ended. */
export async function outcomeOf(ended: Ended): Promise<ExecuteOutcome> {
  const { result, calls } = ended;
  const common = commonOf(ended, result);
  if (result.status === "completed") return completed(result.value, common, ended);
  const advice = await adviceFor(result.error, ended.view, calls.textTools);
  const error = { ...result.error, hint: result.error.hint ?? advice.hint };
  return {
    ...common,
    status: "failed",
    error,
    next: advice.next,
    ...(calls.protocolError === undefined ? {} : { protocolError: calls.protocolError }),
  };
}

/** What every outcome holds. */
type Common = Omit<ExecuteOutcome & { status: "completed" }, "status" | "value">;

function commonOf(
  { calls, logs, notes, start }: Pick<Ended, "calls" | "logs" | "notes" | "start">,
  result?: FinishedResult,
): Common {
  return {
    logs: [...logs],
    calls: calls.answered.map((record) => ({ ...record })),
    stdout: linesOf(logs, ["log", "info", "debug"]),
    stderr: linesOf(logs, ["warn", "error"]),
    notes: [...(result?.notes ?? []), ...notes],
    content: [],
    contentOnly: false,
    truncated: result !== undefined && isTruncated(result),
    durationMs: msSince(start),
    ...(result?.stats === undefined ? {} : { stats: result.stats }),
  };
}

function completed(value: unknown, common: Common, { calls, limits, sandbox }: Ended): ExecuteOutcome {
  try {
    const plain = isPlainJson(value) ? value : toPlainJson(value);
    const resolved = calls.handles.resolve(plain);
    // A provider that takes whole scripts has kept the limit itself, where it was known what to cut.
    if (sandbox.accepts !== "script") checkResultBytes(resolved.value, limits.maxResultBytes);
    const notes = plain === undefined ? [...common.notes, NOTHING_RETURNED] : common.notes;
    return { ...common, status: "completed", ...resolved, notes };
  } catch (error) {
    return { ...common, status: "failed", error: scriptErrorOf(error) };
  }
}

/** What became of a script that waits for somebody. */
export function pausedOutcome(
  waiting: Pick<SuspendedRun, "run" | "expiresAt" | "pending" | "stillRunning" | "resumeTool">,
  facts: Pick<Ended, "calls" | "logs" | "notes" | "start">,
): ExecuteOutcome {
  return { ...commonOf(facts), status: "suspended", ...waiting };
}

/** The outcome of a script, or of a wish, that was refused before anything ran. */
export function refused(error: CodeModeError, start: number): ExecuteOutcome {
  return {
    status: "failed",
    error: scriptErrorOf(error),
    calls: [],
    stdout: "",
    stderr: "",
    notes: [],
    content: [],
    contentOnly: false,
    truncated: false,
    durationMs: msSince(start),
  };
}

function checkResultBytes(value: unknown, most: number): void {
  if (most === Number.POSITIVE_INFINITY || value === undefined) return;
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes <= most) return;
  throw new LimitError(
    `The result takes ${bytes} bytes, at most ${most} are allowed (limits.maxResultBytes). Filter and aggregate inside the script.`,
    { details: { limit: "maxResultBytes", bytes, most } },
  );
}

function scriptErrorOf(error: unknown): ScriptError {
  if (!CodeModeError.isInstance(error)) {
    return { kind: "limit", name: "LimitError", message: `The result cannot be sent as JSON: ${messageOf(error)}` };
  }
  return { kind: error.kind, name: error.name, message: error.message, details: error.details };
}

const isTruncated = (result: FinishedResult): boolean =>
  (result.notes ?? []).some((note) => note.startsWith("The result was truncated"));

function linesOf(logs: readonly LogEntry[], levels: readonly LogEntry["level"][]): string {
  return logs
    .filter(({ level }) => levels.includes(level))
    .map(({ text }) => text)
    .join("\n");
}

const msSince = (start: number): number => Math.round((performance.now() - start) * 1000) / 1000;
