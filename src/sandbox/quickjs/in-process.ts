import { resolveLimits, DEFAULT_SANDBOX_LIMITS, type SandboxLimits, type SandboxLimitValues } from "../limits.js";
import type { SandboxProvider, SandboxResult, SandboxRunOptions } from "../provider.js";
import { compileEngine } from "./engine.js";
import { refuseBadRun, toRun } from "./request.js";
import { Instance } from "./instance.js";
import { KIND } from "./protocol.js";
import { ScriptRun } from "./run.js";
import type { HostRun } from "./host-run.js";

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
  return {
    name: "quickjs-in-process",
    accepts: "script",
    run: (code, runOptions) =>
      engine.run(code, runOptions, resolveLimits<SandboxLimitValues>(runOptions.limits, limits)),
  };
}

class InProcessEngine {
  private wasmModule: WebAssembly.Module | undefined;
  private instance: Instance | undefined;
  private last: Promise<unknown> = Promise.resolve();

  run(code: string, options: SandboxRunOptions, limits: SandboxLimitValues): Promise<SandboxResult> {
    const refused = refuseBadRun(code, options, limits);
    if (refused !== undefined) return Promise.resolve(refused);
    const turn = this.last.then(() => this.runNow(code, options, limits));
    this.last = turn.catch(() => undefined);
    return turn;
  }

  private async runNow(code: string, options: SandboxRunOptions, limits: SandboxLimitValues): Promise<SandboxResult> {
    const instance = await this.ready(limits.memoryBytes);
    const answers: { id: number; bytes: Buffer }[] = [];
    let wake: () => void = () => {};
    const run = toRun(
      code,
      options,
      { ...limits, maxStackBytes: Math.min(limits.maxStackBytes, MOST_STACK_BYTES) },
      (id, text) => {
        answers.push({ id, bytes: Buffer.from(text) });
        wake();
      },
    );
    const script = this.start(instance, run, options);
    while (!script.over) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      if (answers.length === 0) await waitFor(woken, script.waitMs(), options.signal);
      for (const { id, bytes } of answers.splice(0)) script.settle(id, bytes, 0, bytes.length);
      script.tick();
    }
    run.receive(KIND.REPORT, 0, JSON.stringify(script.report()));
    if (instance.broken || instance.memorySize > KEEP_BELOW_BYTES) this.instance = undefined;
    else instance.reset();
    return run.result;
  }

  private start(instance: Instance, run: HostRun, options: SandboxRunOptions): ScriptRun {
    const script = new ScriptRun(instance, run.request(), {
      send: (kind, id, bytes, at, length) =>
        run.receive(kind, id, Buffer.from(bytes.buffer, bytes.byteOffset + at, length).toString()),
      cancelled: () => options.signal?.aborted === true,
      computing: () => {},
    });
    script.start();
    return script;
  }

  private async ready(memoryBytes: number): Promise<Instance> {
    if (this.instance?.memoryBytes === memoryBytes) return this.instance;
    this.wasmModule ??= compileEngine();
    this.instance = await Instance.create({
      wasmModule: this.wasmModule,
      memoryBytes,
      maxStackBytes: MOST_STACK_BYTES,
    });
    return this.instance;
  }
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
