import { createHash } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { SandboxError } from "../../errors.js";
import { heapEnd, type BaseImage } from "./image.js";

/**
 * The memory of an engine between two turns of a script, as bytes: what differs from the base image, deflated. A small paused script
 * takes a few kilobytes. The C stack is left out: it is dead whenever the guest has returned.
 *
 * Bytes that come back are hostile: nothing in them is believed before it was checked, and whatever they put into the
 * engine's memory stays inside of it.
 *
 * ```text
 * magic 4 | format 2 | reserved 2 | engine hash 32 | base image hash 32 | end of heap 4 | ranges 4 | note bytes 4
 * then deflated: ranges x (start 4, end 4) | note (JSON) | the bytes of each range, XOR those of the base image
 * ```
 */
export interface SnapshotContent {
  /** First address after everything the run had allocated. */
  end: number;
  /** Ascending, apart from each other, in units of {@link UNIT}. */
  ranges: readonly SnapshotRange[];
  /** Facts for error messages. Not to be trusted for anything else. */
  note: unknown;
}

/** A stretch of memory. `change` is to be XORed onto the base image: unchanged bytes are then zeros, which deflate to nothing. */
export interface SnapshotRange {
  start: number;
  end: number;
  change: Uint8Array;
}

/** Identity of an engine: a snapshot of another one makes no sense in it. */
export interface EngineIdentity {
  /** Hash of the engine's code. */
  engineHash: Uint8Array;
  /** Hash of the memory after the prelude. */
  imageHash: Uint8Array;
}

const MAGIC = 0x534d434d; // "MCMS"
const FORMAT = 1;
const HEADER_BYTES = 84;
/** Bytes compared at a time: 4096 gives snapshots three times as large, 64 smaller ones but a slower search. */
const UNIT = 256;
/** A stronger compression costs too much above this: 5 times the time for 5 % less. */
const SMALL_BODY_BYTES = 1 << 18;
const MOST_RANGES = 1 << 20;
const MOST_NOTE_BYTES = 1 << 20;
const ZEROS = Buffer.alloc(UNIT);

/** Hash of what every new engine has in memory. */
export function imageHash(image: BaseImage): Uint8Array {
  return createHash("sha256").update(image.staticData.data).update(image.heap.data).digest();
}

/** The difference between memory and the base image. Only while no code of the guest is on the stack. */
export function saveSnapshot(
  memory: WebAssembly.Memory,
  image: BaseImage,
  identity: EngineIdentity,
  note: unknown,
): Uint8Array {
  const bytes = Buffer.from(memory.buffer);
  const end = (heapEnd(memory, image) + UNIT - 1) & -UNIT;
  const ranges = [
    ...differences(bytes, image.staticData.start, image.staticData.end, image.staticData.data),
    ...differences(bytes, image.heap.start, image.heap.end, image.heap.data),
    ...differences(bytes, image.heap.end, end, undefined),
  ];
  const noteBytes = Buffer.from(JSON.stringify(note ?? null));
  const table = Buffer.from(Uint32Array.from(ranges.flat()).buffer);
  const body = Buffer.concat([table, noteBytes, ...ranges.map(([from, to]) => changeOf(bytes, image, from, to))]);
  const level = body.length < SMALL_BODY_BYTES ? 6 : 1;
  return Buffer.concat([header(identity, end, ranges.length, noteBytes.length), deflateRawSync(body, { level })]);
}

function changeOf(bytes: Buffer, image: BaseImage, from: number, to: number): Uint8Array {
  const change = Uint8Array.prototype.slice.call(bytes, from, to);
  xorWithBase(change, image, from);
  return change;
}

/** Turns memory at `from` into its change against the base image, and back. */
function xorWithBase(bytes: Uint8Array, image: BaseImage, from: number): void {
  for (const { start, end, data } of [image.staticData, image.heap]) {
    const first = Math.max(start, from);
    const last = Math.min(end, from + bytes.length);
    for (let at = first; at < last; at++) bytes[at - from] = (bytes[at - from] ?? 0) ^ (data[at - start] ?? 0);
  }
}

/** Writes the ranges of a snapshot that was read, over any memory. */
export function applySnapshot(memory: Uint8Array, image: BaseImage, { ranges }: SnapshotContent): void {
  for (const { start, change } of ranges) {
    const bytes = change.slice();
    xorWithBase(bytes, image, start);
    memory.set(bytes, start);
  }
}

function header(identity: EngineIdentity, end: number, ranges: number, noteBytes: number): Buffer {
  const head = Buffer.alloc(HEADER_BYTES);
  head.writeUInt32LE(MAGIC, 0);
  head.writeUInt16LE(FORMAT, 4);
  head.set(identity.engineHash, 8);
  head.set(identity.imageHash, 40);
  head.writeUInt32LE(end, 72);
  head.writeUInt32LE(ranges, 76);
  head.writeUInt32LE(noteBytes, 80);
  return head;
}

/** Ranges of [from, to) that are not as in `base`, or not zero. */
function differences(bytes: Buffer, from: number, to: number, base: Uint8Array | undefined): [number, number][] {
  const ranges: [number, number][] = [];
  const other = base === undefined ? ZEROS : Buffer.from(base.buffer, base.byteOffset, base.byteLength);
  for (let at = from; at < to; at += UNIT) {
    const offset = base === undefined ? 0 : at - from;
    if (bytes.compare(other, offset, offset + UNIT, at, at + UNIT) === 0) continue;
    const last = ranges.at(-1);
    if (last?.[1] === at) last[1] += UNIT;
    else ranges.push([at, at + UNIT]);
  }
  return ranges;
}

/**
 * Reads a snapshot for an engine with this image and at most `memoryBytes` of memory.
 *
 * @throws {SandboxError} when it is none, is of another format, engine or prelude, does not fit into memory, or was changed.
 */
export function readSnapshot(
  snapshot: Uint8Array,
  image: BaseImage,
  identity: EngineIdentity,
  memoryBytes: number,
): SnapshotContent {
  const head = Buffer.from(snapshot.buffer, snapshot.byteOffset, snapshot.byteLength);
  if (head.length < HEADER_BYTES || head.readUInt32LE(0) !== MAGIC) throw refusal("it is no snapshot of a script");
  if (head.readUInt16LE(4) !== FORMAT)
    throw refusal(`it has format ${head.readUInt16LE(4)}, this version reads format ${FORMAT}`);
  if (!head.subarray(8, 40).equals(identity.engineHash))
    throw refusal("it was made by another version of the sandbox's engine");
  if (!head.subarray(40, 72).equals(identity.imageHash))
    throw refusal("it was made by another version of mcp-codemode");
  const [end, count, noteBytes] = [head.readUInt32LE(72), head.readUInt32LE(76), head.readUInt32LE(80)];
  if (end > memoryBytes)
    throw refusal(`the script uses ${end} bytes of memory, more than the limit of ${memoryBytes} (memoryBytes)`);
  if (end < image.heap.end || end % UNIT !== 0 || count > MOST_RANGES || noteBytes > MOST_NOTE_BYTES) throw damaged();
  const body = inflate(head.subarray(HEADER_BYTES), count * 8 + noteBytes + end);
  return { end, ...contentOf(body, count, noteBytes, end, image) };
}

/** Never inflates to more than the header's own numbers allow, and those are within the memory cap. */
function inflate(body: Uint8Array, most: number): Buffer {
  try {
    return inflateRawSync(body, { maxOutputLength: most });
  } catch (cause) {
    throw damaged(cause);
  }
}

function contentOf(
  body: Buffer,
  count: number,
  noteBytes: number,
  end: number,
  image: BaseImage,
): Omit<SnapshotContent, "end"> {
  let at = count * 8 + noteBytes;
  if (body.length < at) throw damaged();
  const ranges: SnapshotRange[] = [];
  let before = 0;
  for (let index = 0; index < count; index++) {
    const range = { start: body.readUInt32LE(index * 8), end: body.readUInt32LE(index * 8 + 4) };
    const length = range.end - range.start;
    if (range.start < before || length <= 0 || !isWritable(range, image, end) || at + length > body.length)
      throw damaged();
    ranges.push({ ...range, change: body.subarray(at, at + length) });
    at += length;
    before = range.end;
  }
  if (at !== body.length) throw damaged();
  return { ranges, note: noteOf(body.subarray(count * 8, count * 8 + noteBytes)) };
}

function isWritable(range: { start: number; end: number }, image: BaseImage, end: number): boolean {
  const inStatic = range.start >= image.staticData.start && range.end <= image.staticData.end;
  const inHeap = range.start >= image.heap.start && range.end <= end;
  return (inStatic || inHeap) && range.start % UNIT === 0 && range.end % UNIT === 0;
}

function noteOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    throw damaged();
  }
}

const refusal = (why: string): SandboxError =>
  new SandboxError(`The paused script cannot go on here: ${why}.`, { details: { reason: "snapshot" } });

const damaged = (cause?: unknown): SandboxError =>
  new SandboxError("The paused script cannot go on here: its snapshot is damaged.", {
    details: { reason: "snapshot" },
    cause,
  });
