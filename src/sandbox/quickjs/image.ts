import type { RawEngine } from "./engine.js";

const BLOCK = 4096;
const ZEROS = Buffer.alloc(BLOCK);

/** Part of memory: `data` stood at `start` when the image was taken. */
export interface ImageBlock {
  start: number;
  end: number;
  data: Uint8Array;
}

/**
 * What a new engine has in memory after the prelude: everything that is not zero. Copied back before each run, which
 * costs microseconds where a new context costs a quarter of a millisecond, and heals every state an engine can be left
 * in short of a trap.
 */
export interface BaseImage {
  /** Static data and the allocator's own state, from address 0. */
  staticData: ImageBlock;
  heap: ImageBlock;
  /** Lowest address of the C stack that a run can have written. */
  stackStart: number;
  /** Where static data keeps the end of the heap: 32-bit word indexes. */
  heapEndWords: readonly number[];
}

/** More than this many zero bytes end the search: only our prelude is in there, and a look at all 16 MiB costs 30 ms. */
const STATIC_GAP = 1 << 16;
const HEAP_GAP = 1 << 20;
/** The C stack ends where the heap begins. What the engine itself needs beyond the script's stack limit. */
const STACK_MARGIN = 1 << 18;

/**
 * Takes the image of an engine that has never run a script.
 *
 * @param firstAllocation What the engine's allocator gave first: the heap begins just below.
 * @param stackBytes Most stack a script may use.
 */
export function takeImage(
  memory: WebAssembly.Memory,
  raw: RawEngine,
  firstAllocation: number,
  stackBytes: number,
): BaseImage {
  const heapStart = (firstAllocation & ~(BLOCK - 1)) - (1 << 15);
  const staticData = blockFrom(memory, 0, STATIC_GAP);
  const heap = blockFrom(memory, heapStart, HEAP_GAP);
  const image = { staticData, heap, stackStart: Math.max(staticData.end, heap.start - stackBytes - STACK_MARGIN) };
  return { ...image, heapEndWords: findHeapEnd(memory, raw, staticData.end) };
}

/** One block, gaps of zeros joined: a live page that is all zero now would otherwise keep what a script writes there. */
function blockFrom(memory: WebAssembly.Memory, from: number, gap: number): ImageBlock {
  const bytes = Buffer.from(memory.buffer);
  let start = -1;
  let end = from;
  for (let at = from; at < bytes.length && at - end < gap; at += BLOCK) {
    if (bytes.compare(ZEROS, 0, BLOCK, at, at + BLOCK) === 0) continue;
    if (start < 0) start = at;
    end = at + BLOCK;
  }
  return { start, end, data: new Uint8Array(memory.buffer).slice(start, end) };
}

/** The allocator's end of heap follows every large allocation: the words that move with two of them. It never goes back within a run. */
function findHeapEnd(memory: WebAssembly.Memory, raw: RawEngine, staticEnd: number): readonly number[] {
  const words = () => new Uint32Array(memory.buffer, 0, staticEnd >> 2).slice();
  const before = words();
  const first = raw._malloc(1 << 20) + (1 << 20);
  const afterFirst = words();
  const second = raw._malloc(3 << 20) + (3 << 20);
  const afterSecond = words();
  const found: number[] = [];
  for (let index = 0; index < before.length; index++) {
    const [a, b, c] = [before[index] ?? 0, afterFirst[index] ?? 0, afterSecond[index] ?? 0];
    if (a < b && b >= first && c >= second && c <= memory.buffer.byteLength) found.push(index);
  }
  if (found.length === 0) throw new Error("The end of the engine's heap was not found: is it another engine build?");
  return found;
}

/** The image of an engine as it is now, after more of our own code ran in it and before any script. */
export function captureAgain(memory: WebAssembly.Memory, base: BaseImage): BaseImage {
  const { start } = base.heap;
  const end = (heapEnd(memory, base) + BLOCK - 1) & ~(BLOCK - 1);
  const bytes = new Uint8Array(memory.buffer);
  const staticData = { ...base.staticData, data: bytes.slice(base.staticData.start, base.staticData.end) };
  return { ...base, staticData, heap: { start, end, data: bytes.slice(start, end) } };
}

/** End of what a run has allocated. */
export function heapEnd(memory: WebAssembly.Memory, image: BaseImage): number {
  const words = new Uint32Array(memory.buffer);
  return Math.min(
    memory.buffer.byteLength,
    Math.max(image.heap.end, ...image.heapEndWords.map((index) => words[index] ?? 0)),
  );
}

/** The engine keeps no larger frame than this unwritten: below a stretch of zeros as long nothing was used. */
const STACK_CHUNK = 1 << 17;
const ZERO_CHUNK = Buffer.alloc(STACK_CHUNK);

/** The stack grows down from the heap: cleared as far as it was used, since clearing all of it takes longer than a small run. */
function clearStack(bytes: Uint8Array, image: BaseImage): void {
  const stack = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let end = image.heap.start; end > image.stackStart; end -= STACK_CHUNK) {
    const start = Math.max(image.stackStart, end - STACK_CHUNK);
    if (stack.compare(ZERO_CHUNK, 0, end - start, start, end) === 0) return;
    bytes.fill(0, start, end);
  }
}

/** The same over all of memory: for runs whose own record of the heap's end cannot be believed. 0.3 ms for 16 MiB. */
export function restoreImageFully(memory: WebAssembly.Memory, image: BaseImage): void {
  new Uint8Array(memory.buffer).fill(0);
  restoreImage(memory, image);
}

/** The base image back, and zeros over everything else that a run can have written: no byte of a run stays. 45 us when small. */
export function restoreImage(memory: WebAssembly.Memory, image: BaseImage): void {
  const bytes = new Uint8Array(memory.buffer);
  const end = heapEnd(memory, image);
  bytes.set(image.staticData.data, image.staticData.start);
  clearStack(bytes, image);
  bytes.set(image.heap.data, image.heap.start);
  bytes.fill(0, image.heap.end, end);
}
