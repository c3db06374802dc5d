import { TAG } from "./encode.js";

/** Marks a place where a value contains itself. */
const CIRCULAR = "[Circular]";

/** More values than this are not looked at: parts that are shared at every level would take for ever. */
const MOST_LOOKED_AT = 1_000_000;

/**
 * True when `JSON.stringify` gives the value back unchanged, and nothing in it can be read as a tag. False too for one of
 * more than a million values, shared parts counted each time: who has such a one must do without the short way.
 */
export function isPlainJson(value: unknown): boolean {
  return isPlain(value, 0, { left: MOST_LOOKED_AT });
}

function isPlain(value: unknown, depth: number, budget: { left: number }): boolean {
  if (--budget.left < 0) return false;
  switch (typeof value) {
    case "string":
    case "boolean":
      return true;
    case "number":
      return Number.isFinite(value) && !Object.is(value, -0);
    case "object":
      return value === null || (depth < 200 && isPlainContainer(value, depth, budget));
    default:
      return false;
  }
}

function isPlainContainer(value: object, depth: number, budget: { left: number }): boolean {
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) if (!isPlain(value[index], depth + 1, budget)) return false;
    return true;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  for (const key of Object.keys(value)) {
    if (key === TAG || key === "toJSON") return false;
    if (!isPlain((value as Record<string, unknown>)[key], depth + 1, budget)) return false;
  }
  return true;
}

/**
 * A value as plain JSON, as a model reads it and a tool gets it: BigInt as decimal text, NaN and infinities as text, -0
 * as 0, dates in ISO form, bytes in base64, other typed arrays and Sets as arrays, a Map as an object when its keys are strings and else as pairs,
 * an Error as name and message, cycles as "[Circular]"; undefined, functions and symbols are left out (null in arrays).
 *
 * @throws {RangeError} when it holds more than `maxNodes` (default 1,000,000) values: shared parts count each time they occur.
 */
export function toPlainJson(value: unknown, maxNodes = 1_000_000): unknown {
  return plain(value, { parents: new Set(), left: maxNodes });
}

/** Values inside of values that are written out at most; deeper ones would end the stack. */
const MOST_DEPTH = 1_000;

/**
 * True when a value takes no more than about `most` UTF-16 units as JSON, shared parts written out each time. Never walks
 * further than that: objects that all hold each other can be written out in more ways than there is time.
 */
export function fitsAsJson(value: unknown, most: number): boolean {
  return fits(value, { parents: new Set(), left: most });
}

function fits(value: unknown, walk: Walk): boolean {
  walk.left -= 1 + ownLength(value);
  if (walk.left < 0) return false;
  if (typeof value !== "object" || value === null || walk.parents.has(value)) return true;
  if (walk.parents.size >= MOST_DEPTH) return false;
  walk.parents.add(value);
  const all = partsOf(value).every((part) => fits(part, walk));
  walk.parents.delete(value);
  return all;
}

/** What a value takes besides its parts. */
function ownLength(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value === "bigint") return value.toString().length;
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) return value.byteLength;
  if (value instanceof RegExp) return value.source.length;
  return value instanceof Error ? value.name.length + value.message.length : 0;
}

function partsOf(value: object): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (value instanceof Map) return [...(value as Map<unknown, unknown>)].flat();
  if (value instanceof Set) return [...(value as Set<unknown>)];
  return ArrayBuffer.isView(value) ? [] : Object.entries(value).flat();
}

interface Walk {
  parents: Set<object>;
  left: number;
}

function plain(value: unknown, walk: Walk): unknown {
  if (--walk.left < 0) throw new RangeError("the value holds too many parts");
  switch (typeof value) {
    case "number":
      return Number.isFinite(value) ? value + 0 : String(value);
    case "bigint":
      return value.toString();
    case "undefined":
    case "function":
    case "symbol":
      return undefined;
    case "object":
      return value === null ? null : plainObject(value, walk);
    default:
      return value;
  }
}

function plainObject(value: object, walk: Walk): unknown {
  if (walk.parents.has(value)) return CIRCULAR;
  walk.parents.add(value);
  try {
    return plainByClass(value, walk);
  } finally {
    walk.parents.delete(value);
  }
}

function plainByClass(value: object, walk: Walk): unknown {
  if (Array.isArray(value)) return Array.from(value, (item) => plain(item, walk) ?? null);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof Map) return plainMap(value, walk);
  if (value instanceof Set) return Array.from(value, (item) => plain(item, walk) ?? null);
  if (value instanceof RegExp) return String(value);
  if (value instanceof Error) return { name: value.name, message: value.message };
  if (value instanceof ArrayBuffer) return Buffer.from(value).toString("base64");
  if (ArrayBuffer.isView(value)) return plainView(value, walk);
  return plainEntries(Object.entries(value), walk);
}

function plainView(value: ArrayBufferView, walk: Walk): unknown {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (value instanceof Uint8Array || value instanceof Uint8ClampedArray || value instanceof DataView)
    return bytes.toString("base64");
  return Array.from(value as unknown as ArrayLike<unknown>, (item) => plain(item, walk));
}

function plainMap(value: Map<unknown, unknown>, walk: Walk): unknown {
  const keys = [...value.keys()];
  if (keys.every((key) => typeof key === "string"))
    return plainEntries(value.entries() as Iterable<[string, unknown]>, walk);
  return Array.from(value, ([key, item]) => [plain(key, walk) ?? null, plain(item, walk) ?? null]);
}

function plainEntries(entries: Iterable<[string, unknown]>, walk: Walk): object {
  const result = {};
  for (const [key, item] of entries) {
    const made = plain(item, walk);
    // Not by assignment: the key may be `__proto__`.
    if (made !== undefined)
      Object.defineProperty(result, key, { value: made, writable: true, enumerable: true, configurable: true });
  }
  return result;
}
