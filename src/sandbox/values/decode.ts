import { base64ToBytes } from "./base64.js";
import { hasOwnTag, TAG, TAG_TEXT, ValueLimit } from "./encode.js";
import {
  create,
  defineProperty,
  includes,
  isArray,
  keysOf,
  mapSet,
  NewDate,
  NewError,
  NewMap,
  NewRegExp,
  NewSet,
  parse,
  setAdd,
  toBigInt,
  toNumber,
  viewOf,
} from "./intrinsics.js";

/**
 * The value of a text that {@link encodeValue} made. Never throws for odd tags: see {@link reviveValue}.
 *
 * @throws {SyntaxError} when the text is no JSON.
 */
export function decodeValue(text: string): unknown {
  const value: unknown = parse(text);
  return mayHoldTags(text) ? reviveValue(value) : value;
}

/** False: the parsed text is the value. True: it has to go through {@link reviveValue}. */
export const mayHoldTags = (text: string): boolean => includes(text, TAG_TEXT);

/** What the reader of a hostile text builds at most. */
export interface ReviveLimits {
  /** Digits of a BigInt: reading and printing them takes more than linear time. */
  digits: number;
  /** Keys of all Maps and Sets that are numbers: V8 hashes those without a secret, so that a text can be made whose keys all meet. */
  keys: number;
}

const NO_LIMITS: ReviveLimits = { digits: Infinity, keys: Infinity };

/**
 * Replaces tags in parsed JSON by what they stand for. Changes containers in place. Takes any JSON, also what no encoder
 * wrote: what an odd tag should stand for is null or empty.
 *
 * @throws {ValueLimit} when there is more than `limits` allow.
 */
export function reviveValue(value: unknown, limits: ReviveLimits = NO_LIMITS): unknown {
  return revive(value, {
    known: create(null) as Record<number, unknown>,
    count: 0,
    digits: limits.digits,
    keysLeft: limits.keys,
  });
}

interface Reviver {
  known: Record<number, unknown>;
  count: number;
  digits: number;
  keysLeft: number;
}

function revive(value: unknown, reviver: Reviver): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (isArray(value)) {
    reviver.known[reviver.count++] = value;
    for (let index = 0; index < value.length; index++) setOwn(value, index, revive(value[index], reviver));
    return value;
  }
  if (hasOwnTag(value)) return reviveTag(value as Record<string, unknown>, reviver);
  reviver.known[reviver.count++] = value;
  const keys = keysOf(value);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string;
    setOwn(value, key, revive((value as Record<string, unknown>)[key], reviver));
  }
  return value;
}

function setOwn(target: object, key: string | number, value: unknown): void {
  defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
}

function reviveTag(value: Record<string, unknown>, reviver: Reviver): unknown {
  const { v } = value;
  switch (value[TAG]) {
    case "undefined":
      return undefined;
    case "number":
      return v === "-0" ? -0 : typeof v === "string" ? toNumber(v) : null;
    case "bigint":
      return bigIntOf(v, reviver);
    case "ref":
      return typeof v === "number" ? reviver.known[v] : null;
    case "Date":
      return remember(reviver, new NewDate(typeof v === "number" ? v : NaN));
    case "RegExp":
      return remember(reviver, regExpOf(textAt(v, 0), textAt(v, 1)));
    case "Error":
      return remember(reviver, namedError(textAt(v, 0), textAt(v, 1)));
    case "Map":
      return reviveMap(itemsOf(v), reviver);
    case "Set":
      return reviveSet(itemsOf(v), reviver);
    case "Object":
      return reviveEscaped(itemsOf(v), reviver);
    default:
      return remember(reviver, reviveBytes(value[TAG], v));
  }
}

function remember<T>(reviver: Reviver, value: T): T {
  reviver.known[reviver.count++] = value;
  return value;
}

const itemsOf = (v: unknown): readonly unknown[] => (isArray(v) ? (v as unknown[]) : []);

function textAt(v: unknown, index: number): string {
  const text = itemsOf(v)[index];
  return typeof text === "string" ? text : "";
}

function bigIntOf(v: unknown, reviver: Reviver): bigint | null {
  if (typeof v !== "string") return null;
  if (v.length > reviver.digits) throw new ValueLimit("digits");
  try {
    return toBigInt(v);
  } catch {
    return null;
  }
}

/** Its text where this engine does not know such expressions: the other one may be newer. */
function regExpOf(source: string, flags: string): RegExp | string {
  try {
    return new NewRegExp(source, flags);
  } catch {
    return "/" + source + "/" + flags;
  }
}

function namedError(name: string, message: string): Error {
  const error = new NewError(message);
  defineProperty(error, "name", { value: name, writable: true, configurable: true });
  return error;
}

/** A key of a Map or Set, counted where it is one that a text can make slow. */
function reviveKey(key: unknown, reviver: Reviver): unknown {
  const made = revive(key, reviver);
  const kind = typeof made;
  if ((kind === "number" || kind === "bigint") && --reviver.keysLeft < 0) throw new ValueLimit("keys");
  return made;
}

function reviveMap(entries: readonly unknown[], reviver: Reviver): Map<unknown, unknown> {
  const map = remember(reviver, new NewMap<unknown, unknown>());
  for (let index = 0; index < entries.length; index++) {
    const entry = itemsOf(entries[index]);
    const key = reviveKey(entry[0], reviver);
    mapSet(map, key, revive(entry[1], reviver));
  }
  return map;
}

function reviveSet(items: readonly unknown[], reviver: Reviver): Set<unknown> {
  const set = remember(reviver, new NewSet<unknown>());
  for (let index = 0; index < items.length; index++) setAdd(set, reviveKey(items[index], reviver));
  return set;
}

function reviveEscaped(entries: readonly unknown[], reviver: Reviver): object {
  const object = remember(reviver, {});
  for (let index = 0; index < entries.length; index++) {
    const entry = itemsOf(entries[index]);
    if (typeof entry[0] === "string") setOwn(object, entry[0], revive(entry[1], reviver));
  }
  return object;
}

function reviveBytes(tag: unknown, text: unknown): unknown {
  const View = viewOf(tag);
  if (typeof text !== "string" || View === undefined) return null;
  const bytes = base64ToBytes(text);
  if (tag === "ArrayBuffer") return bytes.buffer;
  try {
    return new View(bytes.buffer as ArrayBuffer);
  } catch {
    return null; // Bytes that are no whole number of elements.
  }
}
