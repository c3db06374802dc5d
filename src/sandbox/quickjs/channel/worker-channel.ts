import { receiveMessageOnPort, type MessagePort } from "node:worker_threads";
import { MOST_IN_RING, newFrame, ON_PORT, openRings, SHARED_WORD, WORD, type Frame, type Rings } from "./ring.js";
import { Attention } from "./attention.js";
import { Patience } from "./patience.js";

/** What a worker gets to open its end. */
export interface WorkerEnd {
  rings: SharedArrayBuffer;
  /** Words shared by all workers of the process. */
  shared: SharedArrayBuffer;
  port: MessagePort;
  /** Longest time awake before sleeping, in microseconds; 0: always sleep. */
  spinUs: number;
  /** Threads that can run at once: fewer of them may spin at any time, because the host needs one. */
  cores: number;
}

/** Looks at the ring between two looks at the clock. */
const LOOKS = 50;
const FULL_RING_WAIT_MS = 5;

/**
 * The worker's end. The worker has no event loop while it lives: it reads by blocking, and `terminate()` ends a blocked
 * wait too. It stays awake for a moment before it sleeps, where that has been paying: a wake-up costs many times a look.
 */
export class WorkerChannel {
  private readonly rings: Rings;
  private readonly shared: Int32Array;
  private readonly port: MessagePort;
  private readonly spinUs: number;
  private readonly cores: number;
  private readonly frame = newFrame();
  private readonly idle = new Patience();
  private readonly attention = new Attention();
  private sentAt = 0;

  constructor(end: WorkerEnd) {
    this.rings = openRings(end.rings);
    this.shared = new Int32Array(end.shared);
    this.port = end.port;
    this.cores = end.cores;
    this.spinUs = end.cores > 1 ? end.spinUs : 0;
    this.setHot(false);
  }

  /** Says that this worker can take runs. */
  ready(): void {
    this.port.postMessage("ready");
  }

  /** Sends a message; `ping()` makes sure that it is read. */
  send(kind: number, id: number, run: number, bytes: Uint8Array, at: number, length: number): void {
    if (length <= MOST_IN_RING) {
      while (!this.rings.up.write(kind, id, run, bytes, at, length)) this.waitForRoom();
      return;
    }
    const copy = bytes.slice(at, at + length);
    // The bytes first, then the frame that announces them.
    this.port.postMessage(copy, [copy.buffer as ArrayBuffer]);
    while (!this.rings.up.writeText(kind | ON_PORT, id, run, "")) this.waitForRoom();
  }

  /** Wakes the host, unless it looks by itself. One ping for all that was sent in one turn of the script. */
  ping(): void {
    this.sentAt = performance.now();
    if (Atomics.exchange(this.rings.words, WORD.HOST_AWAKE, 1) === 0) this.port.postMessage(0);
  }

  /** The id of the run that the host gave up. */
  get aborted(): number {
    return Atomics.load(this.rings.words, WORD.ABORT);
  }

  /** Lets the host see how long the script computes: a loop that never looks at the clock is ended from there. */
  computing(active: boolean, cpuMs: number): void {
    const { words } = this.rings;
    Atomics.store(words, WORD.COMPUTED_MS, Math.round(cpuMs));
    Atomics.store(words, WORD.COMPUTES_SINCE, active ? Date.now() | 0 || 1 : 0);
  }

  /** Blocks until a frame is there: at most `ms`. `release(frame)` after use. */
  receive(ms: number): Frame | undefined {
    if (this.rings.down.empty && (ms <= 0 || !this.waitDuringRun(ms))) return undefined;
    if (ms > 0 && this.spinUs > 0) this.attend();
    return this.take();
  }

  /** Blocks between runs, without end. */
  receiveWhenIdle(): Frame | undefined {
    if (this.rings.down.empty && this.spinUs > 0 && this.idle.allows) {
      if (this.spin()) this.idle.hit();
      else this.idle.miss();
    }
    if (this.rings.down.empty) this.sleep(Infinity);
    return this.take();
  }

  release(frame: Frame): void {
    this.rings.down.release(frame);
  }

  private take(): Frame | undefined {
    const { frame } = this;
    if (!this.rings.down.peek(frame)) return undefined;
    if ((frame.kind & ON_PORT) === 0) return frame;
    let message = receiveMessageOnPort(this.port);
    while (message === undefined) message = receiveMessageOnPort(this.port);
    frame.bytes = message.message as Uint8Array;
    frame.at = 0;
    frame.length = frame.bytes.length;
    frame.kind &= ~ON_PORT;
    return frame;
  }

  /** An answer has come: learns how long it took, and tells the host how to wait for the next message. */
  private attend(): void {
    this.attention.record((performance.now() - this.sentAt) * 1000);
    this.setHot(this.attention.hostAwake);
  }

  private waitDuringRun(ms: number): boolean {
    return (this.attention.awake && this.spin()) || this.sleep(ms);
  }

  private sleep(ms: number): boolean {
    const { words, down } = this.rings;
    const until = performance.now() + ms;
    Atomics.store(words, WORD.WORKER_SLEEPS, 1);
    while (down.empty) {
      const left = until - performance.now();
      if (left <= 0) break;
      Atomics.wait(words, WORD.DOWN_HEAD, down.tail, left);
    }
    Atomics.store(words, WORD.WORKER_SLEEPS, 0);
    return !down.empty;
  }

  private spin(): boolean {
    const { words, down } = this.rings;
    let hit = false;
    Atomics.store(words, WORD.SPINNING, 1);
    if (Atomics.add(this.shared, SHARED_WORD.SPINNING, 1) < this.cores - 1) {
      const end = performance.now() + this.spinUs / 1000;
      do {
        for (let look = 0; look < LOOKS && !hit; look++) hit = !down.empty;
      } while (!hit && performance.now() < end);
    }
    Atomics.sub(this.shared, SHARED_WORD.SPINNING, 1);
    Atomics.store(words, WORD.SPINNING, 0);
    return hit;
  }

  private setHot(on: boolean): void {
    Atomics.store(this.rings.words, WORD.HOT, on ? 1 : 0);
  }

  private waitForRoom(): void {
    this.ping();
    Atomics.wait(this.rings.words, WORD.UP_TAIL, this.rings.up.tail, FULL_RING_WAIT_MS);
  }
}
