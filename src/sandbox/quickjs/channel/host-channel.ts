import { MessageChannel, receiveMessageOnPort, type MessagePort } from "node:worker_threads";
import {
  AS_BYTES,
  MOST_IN_RING,
  newFrame,
  newRingMemory,
  ON_PORT,
  openRings,
  SHARED_WORD,
  WORD,
  type Frame,
  type Rings,
} from "./ring.js";
import { Patience } from "./patience.js";
import type { WorkerEnd } from "./worker-channel.js";

/** A message of the worker. `text` is a copy. */
export type FrameHandler = (kind: number, id: number, run: number, text: string) => void;

const shared = new SharedArrayBuffer(8);
const sharedWords = new Int32Array(shared);

/** Frames read in one turn of the event loop: a worker that floods must not make the host late. */
const FRAMES_PER_TURN = 128;
/** And the longest time for them, in milliseconds: a single one may hold a megabyte, and what it asks for may take long. */
const MOST_TURN_MS = 5;

/**
 * The host's end. Messages are announced by an empty message on a port; for a moment after the worker was given work the
 * host looks by itself, from setImmediate, so that timers and I/O of the process go on meanwhile.
 */
export class HostChannel {
  /** What the worker thread needs to open its end; the port must be transferred. */
  readonly workerEnd: WorkerEnd;
  onFrame: FrameHandler = () => {};
  /** A message that is no text. */
  onBytes: (kind: number, run: number, bytes: Uint8Array) => void = () => {};
  onReady: () => void = () => {};

  private readonly rings: Rings;
  private readonly port: MessagePort;
  private readonly large: Uint8Array[] = [];
  private readonly frame: Frame = newFrame();
  private readonly patience = new Patience();
  private looking = false;
  private expecting = false;
  private afterRun = false;
  private sentAt = 0;
  private closed = false;

  constructor(spinUs: number, cores: number) {
    const memory = newRingMemory();
    const { port1, port2 } = new MessageChannel();
    this.rings = openRings(memory);
    this.port = port1;
    this.workerEnd = { rings: memory, shared, port: port2, spinUs: cores > 1 ? spinUs : 0, cores };
    port1.on("message", (message: unknown) => this.receive(message));
  }

  /** Keeps the process alive while a run waits. */
  ref(): void {
    this.port.ref();
  }

  unref(): void {
    this.port.unref();
  }

  /** Starts a run: the worker has been idle. */
  sendRun(kind: number, run: number, text: string): void {
    Atomics.add(sharedWords, SHARED_WORD.RUNNING, 1);
    Atomics.store(this.rings.words, WORD.ABORT, 0);
    this.send(kind, 0, run, text);
    this.expect(true);
  }

  /** Sends bytes that the run which comes next will need. */
  sendBytes(kind: number, bytes: Uint8Array): void {
    if (bytes.length <= MOST_IN_RING && this.rings.down.write(kind, 0, 0, bytes, 0, bytes.length)) return;
    const copy = bytes.slice();
    this.port.postMessage(copy, [copy.buffer as ArrayBuffer]);
    this.rings.down.writeText(kind | ON_PORT, 0, 0, "");
  }

  /** Answers a call of the run. */
  sendReply(kind: number, id: number, run: number, text: string): void {
    this.send(kind, id, run, text);
    this.expect(false);
  }

  /** The run is over. */
  endRun(): void {
    Atomics.sub(sharedWords, SHARED_WORD.RUNNING, 1);
    this.expecting = false;
  }

  /** Asks the worker to give up the run. It may be in a loop that never looks. */
  abort(run: number): void {
    Atomics.store(this.rings.words, WORD.ABORT, run);
    // A frame of no known kind: it ends a wait that began just before the word was set.
    this.send(0, 0, run, "");
  }

  /** Milliseconds the script has computed in its run, the time since it last started included. */
  computedMs(): number {
    const since = Atomics.load(this.rings.words, WORD.COMPUTES_SINCE);
    const before = Atomics.load(this.rings.words, WORD.COMPUTED_MS);
    return since === 0 ? before : before + ((Date.now() - since) | 0);
  }

  /** Reads what is left after the worker's end; nothing is read later. */
  close(): void {
    if (this.closed) return;
    while (!this.rings.up.empty && this.read());
    this.closed = true;
    // A killed worker cannot take its own count back.
    if (Atomics.load(this.rings.words, WORD.SPINNING) === 1) Atomics.sub(sharedWords, SHARED_WORD.SPINNING, 1);
    this.port.close();
  }

  private receive(message: unknown): void {
    if (message === "ready") return this.onReady();
    if (message instanceof Uint8Array) {
      this.large.push(message);
      return;
    }
    if (this.looking) return;
    if (this.readTurn()) this.doze();
    else this.keepLooking();
  }

  private send(kind: number, id: number, run: number, text: string): void {
    const { down, words } = this.rings;
    if (!down.writeText(kind, id, run, text)) {
      const bytes = new TextEncoder().encode(text);
      this.port.postMessage(bytes, [bytes.buffer]);
      // Answers are at most as many as unanswered calls, so there is always room for the frame that announces one.
      down.writeText(kind | ON_PORT, id, run, "");
    }
    if (Atomics.load(words, WORD.WORKER_SLEEPS) === 1) Atomics.notify(words, WORD.DOWN_HEAD, 1);
  }

  /** The worker has something to do now, so its next message is near: looks for it where that has been paying. */
  private expect(afterRun: boolean): void {
    this.sentAt = performance.now();
    this.expecting = true;
    this.afterRun = afterRun;
    if (this.looking || this.workerEnd.spinUs === 0) return;
    if (afterRun ? !this.patience.allows : Atomics.load(this.rings.words, WORD.HOT) === 0) return;
    Atomics.store(this.rings.words, WORD.HOST_AWAKE, 1);
    this.keepLooking();
  }

  private readonly look = (): void => {
    const waitedForRun = this.afterRun;
    if (!this.readTurn()) return this.keepLooking();
    if (this.closed) return;
    if (this.expecting && performance.now() - this.sentAt < this.workerEnd.spinUs / 1000) return this.keepLooking();
    if (waitedForRun) {
      if (this.expecting) this.patience.miss();
      else this.patience.hit();
    }
    this.looking = false;
    this.doze();
  };

  private keepLooking(): void {
    this.looking = true;
    setImmediate(this.look);
  }

  /** From here on a ping is needed. What came in between is read in the next turn. */
  private doze(): void {
    const { words, up } = this.rings;
    Atomics.store(words, WORD.HOST_AWAKE, 0);
    if (this.closed || up.empty) return;
    Atomics.store(words, WORD.HOST_AWAKE, 1);
    this.keepLooking();
  }

  /** False when there is more to read than one turn may. */
  private readTurn(): boolean {
    const end = performance.now() + MOST_TURN_MS;
    for (let count = 0; count < FRAMES_PER_TURN; count++) {
      if (!this.read()) return true;
      if (performance.now() >= end) break;
    }
    return this.rings.up.empty;
  }

  private read(): boolean {
    const { frame } = this;
    if (this.closed || !this.rings.up.peek(frame)) return false;
    this.expecting = false;
    const { kind, id, run } = frame;
    const bytes =
      (kind & ON_PORT) === 0 ? (frame.bytes as Buffer).subarray(frame.at, frame.at + frame.length) : this.takeLarge();
    const isText = (kind & AS_BYTES) === 0;
    // Both are copies: the frame's place is the worker's again once it is released.
    const text = isText ? asBuffer(bytes).toString() : "";
    const copy = isText ? undefined : bytes.slice();
    this.rings.up.release(frame);
    Atomics.notify(this.rings.words, WORD.UP_TAIL, 1);
    const plainKind = kind & ~(ON_PORT | AS_BYTES);
    if (copy === undefined) this.onFrame(plainKind, id, run, text);
    else this.onBytes(plainKind, run, new Uint8Array(copy));
    return true;
  }

  private takeLarge(): Uint8Array {
    for (;;) {
      const message: unknown = this.large.shift() ?? receiveMessageOnPort(this.port)?.message;
      if (message instanceof Uint8Array) return message;
      if (message === undefined) return new Uint8Array(0); // The worker was killed between the two: its frame is dropped as broken.
    }
  }
}

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
