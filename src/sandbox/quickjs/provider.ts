import { ConfigurationError } from "../../errors.js";
import { nearestNames } from "../../nearest.js";
import { DEFAULT_SANDBOX_LIMITS, resolveLimits, type SandboxLimits, type SandboxLimitValues } from "../limits.js";
import type { SandboxProvider, SandboxResult, SandboxRunOptions } from "../provider.js";
import { defaultMaxWorkers, WorkerPool, type Refusal } from "./pool.js";
import { HostRun, type RunStart } from "./host-run.js";
import { failure, refuseBadRun, resumeOf, startOf } from "./request.js";
import type { SandboxWorker } from "./sandbox-worker.js";

/** Options of {@link quickJsSandbox}. */
export interface QuickJsSandboxOptions {
  /** Replaces the default limits, key by key; `null` removes one. */
  limits?: SandboxLimits;
  /**
   * Worker threads that are kept ready. Each takes about 13 MB.
   * @default 1
   */
  minWorkers?: number;
  /**
   * Most worker threads, and so most scripts that run at the same time.
   * @default Math.max(4, availableParallelism())
   */
  maxWorkers?: number;
  /**
   * Runs that may wait for a worker; further ones fail with kind `limit`.
   * @default 256
   */
  maxQueue?: number;
  /** Where the worker's file lies (`dist/worker.js` of this package), when a bundler has moved it. */
  workerUrl?: string | URL;
  /**
   * Longest time that a waiting thread stays awake before it sleeps, in microseconds. Calls are several times faster
   * with it. It adapts by itself; 0 turns it off, for processes whose CPU quota is less than two processors.
   * @default 100
   */
  spinUs?: number;
}

interface ResolvedOptions {
  limits: SandboxLimitValues;
  minWorkers: number;
  maxWorkers: number;
  maxQueue: number;
  workerUrl: string | URL | undefined;
  spinUs: number;
}

let shared: SandboxProvider | undefined;

/**
 * QuickJS in worker threads: each script gets a thread and an engine of its own whose memory is restored before it, so
 * that nothing of one run reaches the next; time, memory and stack have hard limits, and a script that cannot be
 * stopped is killed with its thread. Without options it is one pool per process, shared by all who ask.
 *
 * @throws {ConfigurationError} for an unknown option or limit, or one out of bounds.
 * @example
 * const sandbox = quickJsSandbox({ limits: { timeoutMs: 5_000 }, maxWorkers: 2 });
 * const result = await sandbox.run("return await add(3, 4)", { externalFunctions: { add: (a: number, b: number) => a + b } });
 * await sandbox.close?.();
 */
export function quickJsSandbox(options?: QuickJsSandboxOptions): SandboxProvider {
  if (options === undefined || Object.keys(options).length === 0) return (shared ??= newShared());
  return newSandbox(resolve(options));
}

/** Once closed it is not given out again: who asks later gets a new one. */
function newShared(): SandboxProvider {
  const sandbox = newSandbox(resolve({}));
  const close = async (): Promise<void> => {
    if (shared === provider) shared = undefined;
    await sandbox.close?.();
  };
  const provider: SandboxProvider = { ...sandbox, close };
  return provider;
}

function newSandbox({ limits, ...options }: ResolvedOptions): SandboxProvider {
  const pool = new WorkerPool(options);
  const limitsOf = (run: SandboxRunOptions) => resolveLimits<SandboxLimitValues>(run.limits, limits);
  return {
    name: "quickjs",
    accepts: "script",
    warmUp: () => pool.warmUp(limits.memoryBytes),
    run: async (code, run) => {
      const runLimits = limitsOf(run);
      return refuseBadRun(code, run, runLimits) ?? runInPool(pool, startOf(code), run, runLimits);
    },
    resume: async (snapshot, answers, run) =>
      runInPool(pool, resumeOf(snapshot, answers, run.code), run, limitsOf(run)),
    close: () => pool.close(),
  };
}

async function runInPool(
  pool: WorkerPool,
  start: RunStart,
  options: SandboxRunOptions,
  limits: SandboxLimitValues,
): Promise<SandboxResult> {
  const acquired = pool.acquire(limits.memoryBytes, options.signal);
  // Not awaited when a worker is free, as it usually is: a promise costs a turn.
  const lease = acquired instanceof Promise ? await acquired : acquired;
  if (typeof lease === "string") return refusal(lease);
  try {
    return await runIn(lease.worker, start, options, limits);
  } finally {
    lease.release();
  }
}

async function runIn(
  worker: SandboxWorker,
  start: RunStart,
  options: SandboxRunOptions,
  limits: SandboxLimitValues,
): Promise<SandboxResult> {
  const run: HostRun = new HostRun(
    start,
    limits,
    options,
    worker.linkFor(() => run),
  );
  await worker.run(run, limits, options.signal);
  return run.result;
}

function refusal(why: Refusal): SandboxResult {
  if (why === "cancelled") return failure("cancelled", "CancelledError", "The run was cancelled.");
  if (why === "closed") return failure("sandbox", "SandboxError", "The sandbox was closed.");
  return failure("limit", "LimitError", "The sandbox is busy: too many scripts are waiting. Try again later.");
}

const KNOWN = ["limits", "minWorkers", "maxWorkers", "maxQueue", "workerUrl", "spinUs"];

function resolve(options: QuickJsSandboxOptions): ResolvedOptions {
  for (const key of Object.keys(options)) if (!KNOWN.includes(key)) throw unknownOption(key);
  const maxWorkers = count("maxWorkers", options.maxWorkers, 1, defaultMaxWorkers());
  return {
    limits: resolveLimits<SandboxLimitValues>(options.limits, DEFAULT_SANDBOX_LIMITS),
    maxWorkers,
    minWorkers: Math.min(maxWorkers, count("minWorkers", options.minWorkers, 0, 1)),
    maxQueue: count("maxQueue", options.maxQueue, 0, 256),
    workerUrl: options.workerUrl,
    spinUs: count("spinUs", options.spinUs, 0, 100),
  };
}

function count(name: string, value: number | undefined, least: number, standard: number): number {
  if (value === undefined) return standard;
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new ConfigurationError(
    `quickJsSandbox: ${name} must be a whole number of at least ${least}; got ${String(value)}`,
  );
}

function unknownOption(key: string): ConfigurationError {
  const [nearest] = nearestNames(key, KNOWN, 1);
  return new ConfigurationError(
    `quickJsSandbox: unknown option "${key}". ${nearest === undefined ? `Known: ${KNOWN.join(", ")}.` : `Did you mean ${nearest}?`}`,
  );
}
