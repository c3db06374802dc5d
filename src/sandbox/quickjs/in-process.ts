import { resolveLimits, DEFAULT_SANDBOX_LIMITS, type SandboxLimits, type SandboxLimitValues } from "../limits.js";
import type { SandboxProvider, SandboxResult, SandboxRunOptions } from "../provider.js";
import { compiledEngine } from "./engine.js";
import { refuseBadRun, resumeOf, startOf } from "./request.js";
import { Instance } from "./instance.js";
import { KIND } from "./protocol.js";
import { ScriptRun } from "./run.js";
import { HostRun, type RunStart } from "./host-run.js";

/** The main thread has about 984 KB of stack, and the engine needs up to 32 times what a script may use of its own. */
const MOST_STACK_BYTES = 64 * 1024;
const KEEP_BELOW_BYTES = 32 << 20;

/**
 * QuickJS in the thread of the host: for bundlers and runtimes without worker threads.
 *
 * Weaker than {@link quickJsSandbox}: while a script computes the host's event loop stands still, a built-in that never
 * looks at the clock (`new Array(1e9).join()`) cannot be stopped, and deep recursion ends at a small depth (64 KiB of
 * stack). Memory cap, isolation of runs and error kinds are the same. Runs one script at a time; others wait.
 *
 * @param options.limits Replaces the default limits, key by key; `null` removes one.
 * @throws {ConfigurationError} for an unknown limit or one out of bounds.
 * @example
 * const sandbox = inProcessSandbox({ limits: { timeoutMs: 1_000 } });
 * await sandbox.run("return 6 * 7", {}); // { status: "completed", value: 42, ... }
 */
export function inProcessSandbox(options: { limits?: SandboxLimits } = {}): SandboxProvider {
  const limits = resolveLimits<SandboxLimitValues>(options.limits, DEFAULT_SANDBOX_LIMITS);
  const engine = new InProcessEngine();
  const limitsOf = (run: SandboxRunOptions) => resolveLimits<SandboxLimitValues>(run.limits, limits);
  return {
    name: "quickjs-in-process",
    accepts: "script",
    run: async (code, run) => {
      const runLimits = limitsOf(run);
      return refuseBadRun(code, run, runLimits) ?? engine.run(startOf(code), run, runLimits);
    },
    resume: (snapshot, answers, run) => engine.run(resumeOf(snapshot, answers, run.code), run, limitsOf(run)),
  };
}

/** What the host has for the script, in the order it came. */
type Delivery = { id: number; bytes: Buffer } | { openCalls: readonly number[] };

class InProcessEngine {
  private instance: Instance | undefined;
  private last: Promise<unknown> = Promise.resolve();

  run(start: RunStart, options: SandboxRunOptions, limits: SandboxLimitValues): Promise<SandboxResult> {
    const turn = this.last.then(() => this.runNow(start, options, limits));
    this.last = turn.catch(() => undefined);
    return turn;
  }

  private async runNow(
    start: RunStart,
    options: SandboxRunOptions,
    limits: SandboxLimitValues,
  ): Promise<SandboxResult> {
    const instance = await this.ready(limits.memoryBytes);
    const deliveries: Delivery[] = [];
    let wake: () => void = () => {};
    const deliver = (delivery: Delivery) => {
      deliveries.push(delivery);
      wake();
    };
    const run = new HostRun(
      start,
      { ...limits, maxStackBytes: Math.min(limits.maxStackBytes, MOST_STACK_BYTES) },
      options,
      {
        reply: (id, text) => deliver({ id, bytes: Buffer.from(text) }),
        suspend: (openCalls) => deliver({ openCalls }),
      },
    );
    const script = this.start(instance, run, options);
    while (!script.over) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      if (deliveries.length === 0) await waitFor(woken, script.waitMs(), options.signal);
      for (const delivery of deliveries.splice(0)) take(script, run, delivery);
      script.tick();
    }
    const report = script.report();
    if (options.keepSnapshot === true && report.suspended !== true) keep(run, script.finalSnapshot());
    run.receive(KIND.REPORT, 0, JSON.stringify(report));
    if (instance.broken || instance.memorySize > KEEP_BELOW_BYTES) this.instance = undefined;
    else instance.reset();
    return run.result;
  }

  private start(instance: Instance, run: HostRun, options: SandboxRunOptions): ScriptRun {
    const request = run.request();
    const script = new ScriptRun(instance, request, {
      send: (kind, id, bytes, at, length) =>
        run.receive(kind, id, Buffer.from(bytes.buffer, bytes.byteOffset + at, length).toString()),
      cancelled: () => options.signal?.aborted === true,
      computing: () => {},
    });
    const { memory } = run;
    if (request.from === "resume" && memory !== undefined) script.resume(memory, request.openCalls);
    else script.start(memory);
    run.answerPending();
    return script;
  }

  private async ready(memoryBytes: number): Promise<Instance> {
    if (this.instance?.memoryBytes === memoryBytes) return this.instance;
    this.instance = await Instance.create({
      engine: compiledEngine(),
      memoryBytes,
      maxStackBytes: MOST_STACK_BYTES,
    });
    return this.instance;
  }
}

function take(script: ScriptRun, run: HostRun, delivery: Delivery): void {
  if ("openCalls" in delivery) keep(run, script.suspend(delivery.openCalls));
  else script.settle(delivery.id, delivery.bytes, 0, delivery.bytes.length);
}

function keep(run: HostRun, snapshot: Uint8Array | undefined): void {
  if (snapshot !== undefined) run.receiveSnapshot(snapshot);
}

/** Until `woken`, `ms` have passed or the caller gives up. */
async function waitFor(woken: Promise<void>, ms: number, signal: AbortSignal | undefined): Promise<void> {
  let stop: () => void = () => {};
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const timer = Number.isFinite(ms) ? setTimeout(stop, ms) : undefined;
  signal?.addEventListener("abort", stop, { once: true });
  try {
    await Promise.race([woken, stopped]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
}
