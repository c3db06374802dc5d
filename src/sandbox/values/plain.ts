import { TAG } from "./encode.js";

/** Marks a place where a value contains itself. */
const CIRCULAR = "[Circular]";

/** True when `JSON.stringify` gives the value back unchanged, and nothing in it can be read as a tag. */
export function isPlainJson(value: unknown, depth = 0): boolean {
  switch (typeof value) {
    case "string":
    case "boolean":
      return true;
    case "number":
      return Number.isFinite(value) && !Object.is(value, -0);
    case "object":
      return value === null || (depth < 200 && isPlainContainer(value, depth));
    default:
      return false;
  }
}

function isPlainContainer(value: object, depth: number): boolean {
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) if (!isPlainJson(value[index], depth + 1)) return false;
    return true;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  for (const key of Object.keys(value)) {
    if (key === TAG || key === "toJSON" || !isPlainJson((value as Record<string, unknown>)[key], depth + 1))
      return false;
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
