import { availableParallelism } from "node:os";
import { SandboxWorker, type WorkerOptions } from "./sandbox-worker.js";

/** Bounds of a pool, resolved. */
export interface PoolOptions extends WorkerOptions {
  minWorkers: number;
  maxWorkers: number;
  maxQueue: number;
}

/** Runs that ask for other memory caps than a worker's instance has cost a new instance: the pool avoids it where it can. */
export interface Lease {
  worker: SandboxWorker;
  /** Must be called once, when the run is over. */
  release(): void;
}

/** Why no worker was given. */
export type Refusal = "full" | "cancelled" | "closed";

interface Waiting {
  memoryBytes: number;
  give(result: Lease | Refusal): void;
}

/** A few more than processors: runs mostly wait for tools. */
export const defaultMaxWorkers = (): number => Math.max(4, availableParallelism());

/**
 * Worker threads for runs, one run a worker. Idle ones do not keep the process alive; one that was killed is replaced.
 */
export class WorkerPool {
  private readonly idle: SandboxWorker[] = [];
  private readonly all = new Set<SandboxWorker>();
  private readonly queue: Waiting[] = [];
  private closed = false;

  constructor(private readonly options: PoolOptions) {}

  /** Starts the minimum of workers, without waiting for them. */
  warmUp(memoryBytes: number): void {
    while (!this.closed && this.all.size < this.options.minWorkers) this.idle.push(this.spawn(memoryBytes));
  }

  /** Workers that live now, and how many of them run something. */
  get size(): { workers: number; busy: number; waiting: number } {
    return { workers: this.all.size, busy: this.all.size - this.idle.length, waiting: this.queue.length };
  }

  /** A worker for one run: an idle one, a new one, or the next that becomes free. */
  acquire(memoryBytes: number, signal: AbortSignal | undefined): Lease | Refusal | Promise<Lease | Refusal> {
    if (this.closed) return "closed";
    const worker = this.takeIdle(memoryBytes);
    if (worker !== undefined) return this.lease(worker);
    if (this.all.size < this.options.maxWorkers) return this.lease(this.spawn(memoryBytes));
    if (this.queue.length >= this.options.maxQueue) return "full";
    return new Promise((resolve) => this.enqueue(memoryBytes, signal, resolve));
  }

  /** Ends all workers; runs that wait are refused. */
  async close(): Promise<void> {
    this.closed = true;
    for (const waiting of this.queue.splice(0)) waiting.give("closed");
    this.idle.length = 0;
    await Promise.all([...this.all].map((worker) => worker.terminate()));
  }

  private takeIdle(memoryBytes: number): SandboxWorker | undefined {
    if (this.idle.length === 0) return undefined;
    const fitting = this.idle.findLastIndex((worker) => worker.memoryBytes === memoryBytes);
    return this.idle.splice(fitting < 0 ? this.idle.length - 1 : fitting, 1)[0];
  }

  private spawn(memoryBytes: number): SandboxWorker {
    const worker = new SandboxWorker(this.options, memoryBytes, () => this.forget(worker));
    this.all.add(worker);
    return worker;
  }

  /** A worker has ended, on its own or because it was killed. */
  private forget(worker: SandboxWorker): void {
    this.all.delete(worker);
    const at = this.idle.indexOf(worker);
    if (at >= 0) this.idle.splice(at, 1);
    if (this.closed) return;
    const next = this.queue.shift();
    if (next !== undefined) next.give(this.lease(this.spawn(next.memoryBytes)));
    // A worker that dies while it starts would be replaced without end: only one that has served is.
    else if (worker.hasServed && this.all.size < this.options.minWorkers)
      this.idle.push(this.spawn(worker.memoryBytes));
  }

  private lease(worker: SandboxWorker): Lease {
    let released = false;
    const release = () => {
      if (released) return;
      released = true;
      this.free(worker);
    };
    return { worker, release };
  }

  private free(worker: SandboxWorker): void {
    if (this.closed || !this.all.has(worker)) return;
    const next = this.queue.shift();
    if (next === undefined) this.idle.push(worker);
    else next.give(this.lease(worker));
  }

  private enqueue(
    memoryBytes: number,
    signal: AbortSignal | undefined,
    resolve: (result: Lease | Refusal) => void,
  ): void {
    const leave = () => {
      const at = this.queue.indexOf(waiting);
      if (at < 0) return;
      this.queue.splice(at, 1);
      resolve("cancelled");
    };
    const waiting: Waiting = {
      memoryBytes,
      give: (result) => {
        signal?.removeEventListener("abort", leave);
        resolve(result);
      },
    };
    signal?.addEventListener("abort", leave, { once: true });
    this.queue.push(waiting);
  }
}
