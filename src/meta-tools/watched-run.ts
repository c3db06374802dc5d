import { deriveContext, type CallContext } from "../catalog/tool.js";
import { failureOf, type EndFacts } from "../telemetry/telemetry.js";
import type { ExecuteArguments, ExecuteOutcome } from "./meta-tool.js";
import { RunProgress } from "./progress.js";
import { runScript, type RunParts } from "./run-script.js";

/** Runs one script, as {@link runScript} does, and tells who watches: the client that wants progress, events and spans. */
export async function runWatched(
  parts: RunParts,
  args: ExecuteArguments,
  context: CallContext,
): Promise<ExecuteOutcome> {
  const { telemetry } = parts.settings;
  if (telemetry.ready !== undefined) await telemetry.ready;
  const observation = telemetry.observe("execute");
  const { onProgress } = context;
  const progress = onProgress === undefined ? undefined : new RunProgress(onProgress);
  const own = progress === undefined ? context : deriveContext(context, { onProgress: progress.listener });
  const run = (): Promise<ExecuteOutcome> => runScript(parts, args, own, { observation, progress });
  try {
    const outcome = await (observation === undefined ? run() : observation.within(run));
    observation?.end(factsOf(outcome, args, context));
    return outcome;
  } catch (error) {
    observation?.end({ ...NOTHING, ...failureOf(error), codeBytes: bytesOf(args.code), callerId: context.callerId });
    throw error;
  } finally {
    progress?.end();
  }
}

const NOTHING = { resultBytes: 0, logBytes: 0, calls: 0, failedCalls: 0, truncated: false };

function factsOf(outcome: ExecuteOutcome, args: ExecuteArguments, { callerId }: CallContext): EndFacts<"execute"> {
  const { calls, stdout, stderr, truncated } = outcome;
  return {
    ...(outcome.status === "completed" ? { outcome: "ok" } : { outcome: "error", kind: outcome.error.kind }),
    codeBytes: bytesOf(args.code),
    resultBytes: outcome.status === "completed" ? jsonBytes(outcome.value) : 0,
    logBytes: bytesOf(stdout) + bytesOf(stderr),
    calls: calls.length,
    failedCalls: calls.filter(({ ok }) => !ok).length,
    truncated,
    callerId,
  };
}

const bytesOf = (text: unknown): number => (typeof text === "string" ? Buffer.byteLength(text) : 0);

/** The value was plain JSON already when the outcome was made. */
const jsonBytes = (value: unknown): number => (value === undefined ? 0 : bytesOf(JSON.stringify(value)));
