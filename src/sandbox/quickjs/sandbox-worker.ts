import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { messageOf, SandboxError } from "../../errors.js";
import { MOST_STACK_BYTES, type SandboxLimitValues } from "../limits.js";
import { HostChannel } from "./channel/host-channel.js";
import { compiledEngine } from "./engine.js";
import type { HostRun, RunLink } from "./host-run.js";
import { KIND } from "./protocol.js";
import type { WorkerSetup } from "./worker.js";
import { defaultWorkerUrl } from "./worker-url.js";

export interface WorkerOptions {
  workerUrl: string | URL | undefined;
  /** Longest time awake before sleeping, in microseconds. */
  spinUs: number;
}

/** The stack of the thread must be at least 32 times the script's, or the engine's own frames trap (measured). */
const STACK_MB = (MOST_STACK_BYTES / (1 << 20)) * 32;
/** After its deadline a worker gets this long to notice by itself. */
const GRACE_MS = 150;
/** Longest delay of a timer in Node. */
const MOST_TIMER_MS = 2 ** 31 - 1;

/** One worker thread, as the host sees it: takes one run at a time, and is killed when it does not come to an end. */
export class SandboxWorker {
  /** True once a run came to its end here. */
  hasServed = false;
  memoryBytes: number;
  private readonly thread: Worker;
  private readonly channel: HostChannel;
  private readonly ready: Promise<void>;
  private current: { id: number; run: HostRun; stop: (failure: Failure) => void } | undefined;
  private runs = 0;
  private alive = true;
  private killed = false;
  private startError: unknown;

  constructor(options: WorkerOptions, memoryBytes: number, onExit: () => void) {
    this.memoryBytes = memoryBytes;
    this.channel = new HostChannel(options.spinUs, availableParallelism());
    const setup: WorkerSetup = {
      end: this.channel.workerEnd,
      engine: compiledEngine(),
      memoryBytes,
      maxStackBytes: MOST_STACK_BYTES,
    };
    this.thread = new Worker(workerFile(options.workerUrl), {
      workerData: setup,
      transferList: [this.channel.workerEnd.port],
      resourceLimits: { stackSizeMb: STACK_MB },
      // Nothing of the host is the worker's business, and its output must not reach the host's.
      env: {},
      // Flags of the host are not for this thread; some, such as --input-type, it could not even start with.
      execArgv: [],
      stdout: true,
      stderr: true,
    });
    this.ready = new Promise((resolve) => {
      this.channel.onReady = resolve;
    });
    this.channel.onFrame = (kind, id, run, text) => this.receive(kind, id, run, text);
    this.channel.onBytes = (_kind, run, bytes) => {
      if (run === this.current?.id) this.current.run.receiveSnapshot(bytes);
    };
    this.thread.on("error", (error) => {
      this.startError = error;
    });
    this.thread.on("exit", () => {
      this.exited();
      onExit();
    });
    this.unref();
  }

  /** Runs a script to its end. Never rejects: the result says how it ended. */
  async run(run: HostRun, limits: SandboxLimitValues, signal: AbortSignal | undefined): Promise<void> {
    const id = ++this.runs;
    this.ref();
    const stopped = new Promise<Failure>((resolve) => {
      this.current = { id, run, stop: resolve };
    });
    const watch = this.watch(id, limits, signal);
    try {
      const started = await Promise.race([this.ready.then(() => undefined), stopped]);
      if (started !== undefined) return run.end(started.kind, started.message);
      this.start(run, id);
      watch.begin();
      const failure = await Promise.race([run.result.then(() => undefined), stopped]);
      this.channel.endRun();
      if (failure === undefined) this.hasServed = true;
      else await this.kill(run, failure);
    } finally {
      watch.end();
      this.current = undefined;
      this.unref();
    }
  }

  async terminate(): Promise<void> {
    this.current?.stop({ kind: "cancelled", message: "The sandbox was closed." });
    await this.thread.terminate();
  }

  private start(run: HostRun, id: number): void {
    const request = run.request();
    this.memoryBytes = request.memoryBytes;
    if (run.memory !== undefined) this.channel.sendBytes(KIND.SNAPSHOT, run.memory);
    this.channel.sendRun(KIND.RUN, id, JSON.stringify(request));
    run.answerPending();
  }

  /** A link for a run of this worker. What comes after the end of the run is dropped. */
  linkFor(runOf: () => HostRun): RunLink {
    const send = (kind: number, id: number, text: string) => {
      if (this.alive && this.current?.run === runOf()) this.channel.sendReply(kind, id, this.current.id, text);
    };
    return {
      reply: (id, text) => send(KIND.REPLY, id, text),
      suspend: (openCalls) => send(KIND.SUSPEND, 0, JSON.stringify(openCalls)),
    };
  }

  private receive(kind: number, id: number, run: number, text: string): void {
    if (run !== this.current?.id || (this.killed && kind === KIND.CALL)) return;
    try {
      this.current.run.receive(kind, id, text);
    } catch {
      this.current.stop({ kind: "sandbox", message: "The sandbox sent a message that is none." });
    }
  }

  /** The host's own clocks: they work also while the script is in a loop that looks at none. */
  private watch(
    id: number,
    limits: SandboxLimitValues,
    signal: AbortSignal | undefined,
  ): { begin(): void; end(): void } {
    const timers = new Set<NodeJS.Timeout>();
    const later = (ms: number, then: () => void) => {
      const timer = setTimeout(
        () => {
          timers.delete(timer);
          then();
        },
        Math.min(ms, MOST_TIMER_MS),
      );
      timers.add(timer);
    };
    const stop = (failure: Failure) => this.current?.id === id && this.current.stop(failure);
    const checkCompute = () => {
      const left = limits.cpuMs - this.channel.computedMs();
      if (left <= 0) stop({ kind: "timeout", message: "cpuMs" });
      else later(left + GRACE_MS, checkCompute);
    };
    const cancel = () => {
      this.channel.abort(id);
      later(GRACE_MS, () => stop({ kind: "cancelled", message: "cancelled" }));
    };
    signal?.addEventListener("abort", cancel, { once: true });
    return {
      begin: () => {
        if (Number.isFinite(limits.timeoutMs))
          later(limits.timeoutMs + GRACE_MS, () => stop({ kind: "timeout", message: "timeoutMs" }));
        if (Number.isFinite(limits.cpuMs) && limits.cpuMs < limits.timeoutMs)
          later(limits.cpuMs + GRACE_MS, checkCompute);
        if (signal?.aborted === true) cancel();
      },
      end: () => {
        for (const timer of timers) clearTimeout(timer);
        signal?.removeEventListener("abort", cancel);
      },
    };
  }

  /** Reads what the script still said, then ends the run with the failure. */
  private async kill(run: HostRun, failure: Failure): Promise<void> {
    const dead = this.thread.terminate();
    // Calls that were still on their way are not started: nobody waits for them any more.
    this.killed = true;
    this.channel.close();
    run.end(failure.kind, failure.message);
    await dead;
  }

  private exited(): void {
    this.alive = false;
    const why = this.startError === undefined ? "its thread ended" : messageOf(this.startError);
    this.current?.stop({ kind: "sandbox", message: `The sandbox stopped: ${why}` });
    this.channel.close();
  }

  private ref(): void {
    this.thread.ref();
    this.channel.ref();
  }

  private unref(): void {
    this.thread.unref();
    this.channel.unref();
  }
}

interface Failure {
  kind: "timeout" | "cancelled" | "sandbox";
  message: string;
}

function workerFile(given: string | URL | undefined): URL {
  const url = given === undefined ? defaultWorkerUrl() : typeof given === "string" ? new URL(given) : given;
  if (url.protocol !== "file:" || existsSync(fileURLToPath(url))) return url;
  throw new SandboxError(
    `The worker of the sandbox was not found at ${url.href}. A bundler has moved this package: keep it out of the bundle ` +
      "(esbuild: --external:mcp-codemode; webpack: externals: { 'mcp-codemode': 'module mcp-codemode' }; Next.js: " +
      "serverExternalPackages: ['mcp-codemode']), or copy mcp-codemode/dist/worker.js beside it and pass quickJsSandbox({ workerUrl }). " +
      "Where threads cannot be had, pass another `sandboxProvider`, such as inProcessSandbox(). Installed by: npm install mcp-codemode.",
  );
}
