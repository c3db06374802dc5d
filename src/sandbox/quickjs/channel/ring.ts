/**
 * A ring buffer between two threads: one writes, one reads, both without locks. A frame is a header of 16 bytes (length,
 * kind, id, run) and bytes. Two of them in one SharedArrayBuffer carry all messages of a worker.
 */

/** Words that both threads share, 32 bits each, at the start of the buffer. */
export const WORD = {
  DOWN_HEAD: 0,
  DOWN_TAIL: 1,
  UP_HEAD: 2,
  UP_TAIL: 3,
  /** The worker sleeps in Atomics.wait: it has to be notified. */
  WORKER_SLEEPS: 4,
  /** The host looks at the ring by itself: no ping is needed. */
  HOST_AWAKE: 5,
  /** The id of the run that was given up. */
  ABORT: 6,
  /** The worker says that staying awake has been paying. */
  HOT: 7,
  /** The worker is spinning: taken back by the host if it was killed meanwhile. */
  SPINNING: 8,
  /** Since when the script computes, low 32 bits of Date.now(); 0 while it waits. */
  COMPUTES_SINCE: 9,
  /** Milliseconds the script has computed in this run, up to then. */
  COMPUTED_MS: 10,
} as const;

/** Words shared by all workers of a process. */
export const SHARED_WORD = { SPINNING: 0, RUNNING: 1 } as const;

const CONTROL_BYTES = 256;
/** Bytes of one ring. */
const RING_BYTES = 1 << 18;
const HEADER_BYTES = 16;
const MASK = RING_BYTES - 1;
const SKIP = 0xff;

/** Set in a frame's kind when its bytes were too many for the ring and lie on the message port instead. */
export const ON_PORT = 0x100;
/** Set in a frame's kind when its bytes are not text. */
export const AS_BYTES = 0x200;
/** Texts larger than this go by the port. */
export const MOST_IN_RING = RING_BYTES / 4;

const padded = (length: number): number => (HEADER_BYTES + length + 15) & ~15;

/** A frame that was read. Its bytes are valid until it is released. */
export interface Frame {
  kind: number;
  id: number;
  run: number;
  bytes: Uint8Array;
  at: number;
  length: number;
  next: number;
}

export const newFrame = (): Frame => ({ kind: 0, id: 0, run: 0, bytes: EMPTY, at: 0, length: 0, next: 0 });
const EMPTY = new Uint8Array(0);

export class Ring {
  private readonly words: Int32Array;
  private readonly header: Int32Array;
  private readonly data: Buffer;
  private head = 0;
  private at = 0;

  constructor(
    shared: SharedArrayBuffer,
    private readonly headWord: number,
    private readonly tailWord: number,
    offset: number,
  ) {
    this.words = new Int32Array(shared, 0, CONTROL_BYTES / 4);
    this.header = new Int32Array(shared, offset, RING_BYTES / 4);
    this.data = Buffer.from(shared, offset, RING_BYTES);
  }

  get empty(): boolean {
    return Atomics.load(this.words, this.headWord) === Atomics.load(this.words, this.tailWord);
  }

  /** The reader's place: what a writer waits on when the ring is full. */
  get tail(): number {
    return Atomics.load(this.words, this.tailWord);
  }

  /** Writes a frame. False when there is no room for it now. */
  write(kind: number, id: number, run: number, bytes: Uint8Array, from: number, length: number): boolean {
    if (!this.reserve(length)) return false;
    this.data.set(bytes.subarray(from, from + length), this.at + HEADER_BYTES);
    this.commit(length, kind, id, run);
    return true;
  }

  /** The same for a text. */
  writeText(kind: number, id: number, run: number, text: string): boolean {
    const length = text.length * 3 <= 4096 ? text.length * 3 : Buffer.byteLength(text);
    if (length > MOST_IN_RING || !this.reserve(length)) return false;
    this.commit(this.data.write(text, this.at + HEADER_BYTES), kind, id, run);
    return true;
  }

  /** Fills `frame` with the next one without taking it. False when there is none. */
  peek(frame: Frame): boolean {
    for (;;) {
      const tail = Atomics.load(this.words, this.tailWord);
      if (Atomics.load(this.words, this.headWord) === tail) return false;
      const at = tail & MASK;
      const word = at >> 2;
      frame.length = this.header[word] ?? 0;
      frame.kind = this.header[word + 1] ?? 0;
      frame.id = this.header[word + 2] ?? 0;
      frame.run = this.header[word + 3] ?? 0;
      frame.bytes = this.data;
      frame.at = at + HEADER_BYTES;
      frame.next = (tail + padded(frame.length)) | 0;
      if (frame.kind !== SKIP) return true;
      this.release(frame);
    }
  }

  /** Gives a frame's place back to the writer. */
  release(frame: Frame): void {
    Atomics.store(this.words, this.tailWord, frame.next);
  }

  /** Finds a place for `length` bytes in one piece; the rest of the ring is skipped where they would wrap around. */
  private reserve(length: number): boolean {
    let head = Atomics.load(this.words, this.headWord);
    const used = (head - Atomics.load(this.words, this.tailWord)) | 0;
    const at = head & MASK;
    const skip = padded(length) > RING_BYTES - at ? RING_BYTES - at : 0;
    if (used + skip + padded(length) > RING_BYTES) return false;
    if (skip > 0) {
      this.header[at >> 2] = skip - HEADER_BYTES;
      this.header[(at >> 2) + 1] = SKIP;
      head = (head + skip) | 0;
    }
    this.head = head;
    this.at = head & MASK;
    return true;
  }

  private commit(length: number, kind: number, id: number, run: number): void {
    const word = this.at >> 2;
    this.header[word] = length;
    this.header[word + 1] = kind;
    this.header[word + 2] = id;
    this.header[word + 3] = run;
    Atomics.store(this.words, this.headWord, (this.head + padded(length)) | 0);
  }
}

/** Both directions of one worker. */
export interface Rings {
  words: Int32Array;
  down: Ring;
  up: Ring;
}

/** Memory for the rings of one worker. */
export const newRingMemory = (): SharedArrayBuffer => new SharedArrayBuffer(CONTROL_BYTES + 2 * RING_BYTES);

export function openRings(shared: SharedArrayBuffer): Rings {
  return {
    words: new Int32Array(shared, 0, CONTROL_BYTES / 4),
    down: new Ring(shared, WORD.DOWN_HEAD, WORD.DOWN_TAIL, CONTROL_BYTES),
    up: new Ring(shared, WORD.UP_HEAD, WORD.UP_TAIL, CONTROL_BYTES + RING_BYTES),
  };
}
