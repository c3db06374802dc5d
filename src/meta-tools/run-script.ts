import type { CallContext, Tool } from "../catalog/tool.js";
import type { Catalog, CatalogView } from "../catalog/catalog.js";
import type { ArgumentPlans } from "../calls/arguments.js";
import { RunCalls, type RunCallsOptions } from "../calls/call-tool.js";
import type { LimitValues } from "../calls/limits.js";
import type { CallPolicy } from "../calls/policy.js";
import { CodeModeError, LimitError, messageOf, ValidationError } from "../errors.js";
import type { SandboxLimits } from "../sandbox/limits.js";
import type { FinishedResult, LogEntry, SandboxProvider, SandboxRunOptions, ScriptError } from "../sandbox/provider.js";
import { portablePrelude } from "../sandbox/portable-prelude.js";
import { isBlankScript, prepareScript, toFunctionBody } from "../sandbox/script.js";
import { isPlainJson, toPlainJson } from "../sandbox/values/plain.js";
import type { Observation } from "../telemetry/telemetry.js";
import { EMPTY_SCRIPT, NOTHING_RETURNED } from "./descriptions.js";
import { discoveryFunctions } from "./discovery-functions.js";
import type { ExecuteArguments, ExecuteOutcome, MetaToolSettings } from "./meta-tool.js";
import { adviceFor } from "./next-step.js";
import { progressFunction, type RunProgress } from "./progress.js";

/** What every run of an engine shares. */
export interface RunParts {
  catalog: Catalog;
  plans: ArgumentPlans;
  policy: CallPolicy | undefined;
  sandbox: SandboxProvider;
  /** Those the user gave: the rest is the provider's own. */
  sandboxLimits: SandboxLimits;
  limits: LimitValues;
  settings: MetaToolSettings;
  metaToolNames: ReadonlySet<string>;
  /** Gets what tools gave to scripts. */
  onResult: ((tool: Tool, value: unknown, context: CallContext) => void) | undefined;
}

/** Who watches a run. */
export interface RunWatch {
  observation?: Observation<"execute"> | undefined;
  progress?: RunProgress | undefined;
}

/** Calls that the script did not await get this long, in milliseconds. */
const JOIN_MS = 5000;

/** Runs one script. Never rejects for what it did. */
export async function runScript(
  parts: RunParts,
  args: ExecuteArguments,
  context: CallContext,
  watch: RunWatch = {},
): Promise<ExecuteOutcome> {
  const start = performance.now();
  if (isBlankScript(prepareScript(args.code).code)) return refused(new ValidationError(EMPTY_SCRIPT), start);
  const view = parts.catalog.view(context);
  const calls = newCalls(parts, view, context, watch);
  const logs: LogEntry[] = [];
  try {
    const result = await sandboxed(parts, args, { calls, view, context, logs, watch });
    const notes = await joinCalls(parts.sandbox, result, calls);
    return await outcomeOf({ result, notes, calls, logs, start, view, parts });
  } finally {
    calls.end();
  }
}

function newCalls(parts: RunParts, view: CatalogView, context: CallContext, watch: RunWatch): RunCalls {
  const { limits, plans, policy, metaToolNames, onResult } = parts;
  const observe = onResult && ((tool: Tool, value: unknown) => onResult(tool, value, context));
  return new RunCalls({
    catalog: view,
    limits,
    plans,
    policy,
    context,
    metaToolNames,
    onResult: observe,
    ...watchCalls(watch),
  });
}

const watchCalls = ({ observation, progress }: RunWatch): Pick<RunCallsOptions, "observation" | "onAnswered"> => ({
  observation,
  onAnswered: progress && (() => progress.called()),
});

/** A run under way. */
interface Under {
  calls: RunCalls;
  view: CatalogView;
  context: CallContext;
  logs: LogEntry[];
  watch: RunWatch;
}

async function sandboxed(parts: RunParts, args: ExecuteArguments, run: Under): Promise<FinishedResult> {
  const { sandbox, sandboxLimits, settings } = parts;
  const { calls, view, context, logs, watch } = run;
  const options: SandboxRunOptions = {
    externalFunctions: {
      call_tool: (name: unknown, ...given: unknown[]) => calls.callTool(name, ...given),
      progress: progressFunction(watch.progress),
      ...discoveryFunctions(calls, view, settings, context),
    },
    limits: sandboxLimits,
    signal: context.signal,
    resultOverflow: "truncate",
    onLog: (entry) => logs.push(entry),
    ...(args.inputs === undefined ? {} : { inputs: { inputs: args.inputs } }),
  };
  try {
    const result: unknown = await sandbox.run(await codeFor(sandbox, args.code), options);
    return isSandboxResult(result) ? result : { status: "completed", value: result };
  } catch (error) {
    return { status: "failed", error: sandboxFailure(error) };
  }
}

/** A provider without a prelude of its own gets the body of an async function that builds one. */
async function codeFor(sandbox: SandboxProvider, code: string): Promise<string> {
  return sandbox.accepts === "script" ? code : portablePrelude(await toFunctionBody(code));
}

function isSandboxResult(result: unknown): result is FinishedResult {
  const status = typeof result === "object" && result !== null ? (result as { status?: unknown }).status : undefined;
  return status === "completed" || status === "failed";
}

/** A provider that rejects was called wrongly or is broken; only errors of this package are written for readers. */
function sandboxFailure(error: unknown): ScriptError {
  const message = CodeModeError.isInstance(error) ? error.message : "The sandbox failed before the script could run.";
  const kind = CodeModeError.isInstance(error) ? error.kind : "sandbox";
  return { kind, name: "SandboxError", message };
}

const HOPELESS: ReadonlySet<string> = new Set(["timeout", "memory", "stack", "cancelled", "sandbox"]);

/** Waits for calls that the script did not await. A provider that takes whole scripts has done so itself. */
async function joinCalls(sandbox: SandboxProvider, result: FinishedResult, calls: RunCalls): Promise<string[]> {
  const open = calls.unanswered;
  if (open.length === 0 || sandbox.accepts === "script") return [];
  if (result.status === "failed" && HOPELESS.has(result.error.kind)) return [];
  await calls.idle(JOIN_MS);
  const left = new Set(calls.unanswered);
  return open.map((record) => {
    if (left.has(record)) return `${record.tool} was not awaited and was cancelled: await every call.`;
    const failure = calls.failureOf(record);
    return failure === undefined
      ? `${record.tool} was not awaited; it finished.`
      : `${record.tool} was not awaited and failed: ${failure}`;
  });
}

interface Ended {
  result: FinishedResult;
  notes: readonly string[];
  calls: RunCalls;
  logs: readonly LogEntry[];
  start: number;
  view: CatalogView;
  parts: RunParts;
}

async function outcomeOf(ended: Ended): Promise<ExecuteOutcome> {
  const { result, calls } = ended;
  const logs = result.logs ?? ended.logs;
  const common = {
    logs: [...logs],
    calls: calls.records.map((record) => ({ ...record })),
    stdout: linesOf(logs, ["log", "info", "debug"]),
    stderr: linesOf(logs, ["warn", "error"]),
    content: [],
    contentOnly: false,
    truncated: isTruncated(result),
    ...(result.stats === undefined ? {} : { stats: result.stats }),
  };
  const notes = [...(result.notes ?? []), ...ended.notes];
  const durationMs = msSince(ended.start);
  if (result.status === "completed") return completed(result.value, { ...common, notes, durationMs }, ended);
  const advice = await adviceFor(result.error, ended.view, calls.textTools);
  const error = { ...result.error, hint: result.error.hint ?? advice.hint };
  return {
    ...common,
    status: "failed",
    error,
    notes,
    durationMs,
    next: advice.next,
    ...(calls.protocolError === undefined ? {} : { protocolError: calls.protocolError }),
  };
}

type Common = Omit<ExecuteOutcome & { status: "completed" }, "status" | "value">;

function completed(value: unknown, common: Common, { calls, parts: { limits, sandbox } }: Ended): ExecuteOutcome {
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

function refused(error: CodeModeError, start: number): ExecuteOutcome {
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
