import type { CallContext, Tool } from "../catalog/tool.js";
import type { Catalog } from "../catalog/catalog.js";
import type { ArgumentPlans } from "../calls/arguments.js";
import type { RunCalls } from "../calls/call-tool.js";
import type { LimitValues } from "../calls/limits.js";
import type { CallPolicy } from "../calls/policy.js";
import { ValidationError } from "../errors.js";
import type { SandboxLimits } from "../sandbox/limits.js";
import type { FinishedResult, SandboxProvider } from "../sandbox/provider.js";
import { isBlankScript, prepareScript } from "../sandbox/script.js";
import type { PausedRuns } from "../session/paused-runs.js";
import type { Observation } from "../telemetry/telemetry.js";
import { EMPTY_SCRIPT } from "./descriptions.js";
import type { ExecuteArguments, ExecuteOutcome, MetaToolSettings } from "./meta-tool.js";
import { keepPaused } from "./paused-script.js";
import type { RunProgress } from "./progress.js";
import type { RequiredSchema } from "./required-schema.js";
import { outcomeOf, refused } from "./run-outcome.js";
import type { PartOptions } from "./script-in-sandbox.js";
import { keepSession, sessionOf, type ScriptSessions } from "./session-script.js";
import { RunUnderWay } from "./run-under-way.js";

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
  /** Name of the server whose tools these are: a run goes on only there. */
  server: string | undefined;
  /** Where paused scripts are kept. Absent: the sandbox cannot pause any. */
  pausedRuns: PausedRuns | undefined;
  /** Absent: scripts leave nothing for the next one. */
  sessions: ScriptSessions | undefined;
  /** Present: scripts may call only tools whose schema was asked for. */
  requiredSchema: RequiredSchema | undefined;
  /** The meta-tool by which a model goes on with a paused script, if there is one. */
  resumeTool(): string | undefined;
}

/** Who watches a run. */
export interface RunWatch {
  observation?: Observation<"execute"> | undefined;
  progress?: RunProgress | undefined;
}

/** Runs one script. Never rejects for what it did. */
export async function runScript(
  parts: RunParts,
  args: ExecuteArguments,
  context: CallContext,
  watch: RunWatch = {},
): Promise<ExecuteOutcome> {
  if (isBlankScript(prepareScript(args.code).code)) {
    return refused(new ValidationError(EMPTY_SCRIPT), performance.now());
  }
  const session = parts.sessions && sessionOf(parts.sessions, context);
  if (session?.key === undefined) return runOnce(parts, args, context, watch, session?.notes ?? []);
  return runInSession(parts, args, context, watch, session.key);
}

async function runOnce(
  parts: RunParts,
  args: ExecuteArguments,
  context: CallContext,
  watch: RunWatch,
  notes: readonly string[],
): Promise<ExecuteOutcome> {
  const run = new RunUnderWay(parts, context, watch, { code: args.code });
  run.notes.push(...notes);
  const result = await run.run(inputsOf(args));
  if (result.status === "suspended") return keepPaused(parts, run, result, { code: args.code, context });
  return finished(parts, run, result);
}

/** Runs the script in the memory that the last one of its session left, and keeps what it leaves. */
async function runInSession(
  parts: RunParts,
  args: ExecuteArguments,
  context: CallContext,
  watch: RunWatch,
  key: string,
): Promise<ExecuteOutcome> {
  const { sessions } = parts.sessions as ScriptSessions;
  return sessions.use(key, args.restart === true, async ({ memory, notes, revision }) => {
    // The time to wait for others of the session is not the script's own.
    const run = new RunUnderWay(parts, context, watch, { code: args.code });
    run.notes.push(...notes);
    const place = { key, revision };
    const start = { ...inputsOf(args), keepSnapshot: true, ...(memory === undefined ? {} : { from: memory }) };
    const result = await run.run(start);
    if (result.status === "suspended") {
      return keepPaused(parts, run, result, { code: args.code, context, session: place });
    }
    run.notes.push(...(await keepSession(sessions, place, result, memory !== undefined)));
    return finished(parts, run, result);
  });
}

const inputsOf = ({ inputs }: ExecuteArguments): PartOptions => (inputs === undefined ? {} : { inputs: { inputs } });

/** The outcome of a run that has ended; nothing of it is left under way. */
export async function finished(parts: RunParts, run: RunUnderWay, result: FinishedResult): Promise<ExecuteOutcome> {
  try {
    const joined = await joinCalls(parts.sandbox, result, run.calls);
    const { calls, start, view, logs } = run;
    const { sandbox, limits } = parts;
    return await outcomeOf({ result, notes: [...run.notes, ...joined], calls, logs, start, view, sandbox, limits });
  } finally {
    run.stopClock();
    run.calls.end();
  }
}

/** Calls that the script did not await get this long, in milliseconds. */
const JOIN_MS = 5000;

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
