import { deriveContext, type CallContext } from "../catalog/tool.js";
import { failureOf, type EndFacts } from "../telemetry/telemetry.js";
import type { ExecuteArguments, ExecuteOutcome, ResumeArguments } from "./meta-tool.js";
import { RunProgress } from "./progress.js";
import { resumeScript } from "./resume-script.js";
import { runScript, type RunParts, type RunWatch } from "./run-script.js";

/** Runs one script, as {@link runScript} does, and tells who watches: the client that wants progress, events and spans. */
export function runWatched(parts: RunParts, args: ExecuteArguments, context: CallContext): Promise<ExecuteOutcome> {
  return watched(parts, args.code, context, (own, watch) => runScript(parts, args, own, watch));
}

/** Goes on with a paused script, as {@link resumeScript} does, and tells who watches. */
export function resumeWatched(parts: RunParts, args: ResumeArguments, context: CallContext): Promise<ExecuteOutcome> {
  return watched(parts, "", context, (own, watch) => resumeScript(parts, args, own, watch));
}

async function watched(
  parts: RunParts,
  code: string,
  context: CallContext,
  part: (context: CallContext, watch: RunWatch) => Promise<ExecuteOutcome>,
): Promise<ExecuteOutcome> {
  const { telemetry } = parts.settings;
  if (telemetry.ready !== undefined) await telemetry.ready;
  const observation = telemetry.observe("execute");
  const { onProgress } = context;
  const progress = onProgress === undefined ? undefined : new RunProgress(onProgress);
  const own = progress === undefined ? context : deriveContext(context, { onProgress: progress.listener });
  const run = (): Promise<ExecuteOutcome> => part(own, { observation, progress });
  try {
    const outcome = await (observation === undefined ? run() : observation.within(run));
    observation?.end(factsOf(outcome, code, context));
    return outcome;
  } catch (error) {
    observation?.end({ ...NOTHING, ...failureOf(error), codeBytes: bytesOf(code), callerId: context.callerId });
    throw error;
  } finally {
    progress?.end();
  }
}

const NOTHING = { resultBytes: 0, logBytes: 0, calls: 0, failedCalls: 0, truncated: false };

function factsOf(outcome: ExecuteOutcome, code: string, { callerId }: CallContext): EndFacts<"execute"> {
  const { calls, stdout, stderr, truncated } = outcome;
  return {
    ...endOf(outcome),
    codeBytes: bytesOf(code),
    resultBytes: outcome.status === "completed" ? jsonBytes(outcome.value) : 0,
    logBytes: bytesOf(stdout) + bytesOf(stderr),
    calls: calls.length,
    failedCalls: calls.filter(({ ok }) => !ok).length,
    truncated,
    callerId,
  };
}

function endOf(outcome: ExecuteOutcome): Pick<EndFacts<"execute">, "outcome" | "kind"> {
  if (outcome.status === "failed") return { outcome: "error", kind: outcome.error.kind };
  return { outcome: outcome.status === "completed" ? "ok" : "suspended" };
}

const bytesOf = (text: unknown): number => (typeof text === "string" ? Buffer.byteLength(text) : 0);

/** The value was plain JSON already when the outcome was made. */
const jsonBytes = (value: unknown): number => (value === undefined ? 0 : bytesOf(JSON.stringify(value)));
