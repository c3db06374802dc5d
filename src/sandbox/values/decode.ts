import { base64ToBytes } from "./base64.js";
import { hasOwnTag, TAG, TAG_TEXT } from "./encode.js";
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
 * The value of a text that {@link encodeValue} made. Never throws for odd tags: what is no known tag stays data.
 *
 * @throws {SyntaxError} when the text is no JSON.
 */
export function decodeValue(text: string): unknown {
  const value: unknown = parse(text);
  return mayHoldTags(text) ? reviveValue(value) : value;
}

/** False: the parsed text is the value. True: it has to go through {@link reviveValue}. */
export const mayHoldTags = (text: string): boolean => includes(text, TAG_TEXT);

/** Replaces tags in parsed JSON by what they stand for. Changes containers in place. */
export function reviveValue(value: unknown): unknown {
  return revive(value, { known: create(null) as Record<number, unknown>, count: 0 });
}

interface Reviver {
  known: Record<number, unknown>;
  count: number;
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
      return v === "-0" ? -0 : toNumber(v);
    case "bigint":
      return toBigInt(v as string);
    case "ref":
      return reviver.known[v as number];
    case "Date":
      return remember(reviver, new NewDate(v === null ? NaN : (v as number)));
    case "RegExp":
      return remember(reviver, new NewRegExp((v as string[])[0] as string, (v as string[])[1]));
    case "Error":
      return remember(reviver, namedError(v as string[]));
    case "Map":
      return reviveMap(v as unknown[][], reviver);
    case "Set":
      return reviveSet(v as unknown[], reviver);
    case "Object":
      return reviveEscaped(v as unknown[][], reviver);
    default:
      return remember(reviver, reviveBytes(value[TAG], v));
  }
}

function remember<T>(reviver: Reviver, value: T): T {
  reviver.known[reviver.count++] = value;
  return value;
}

function namedError(parts: string[]): Error {
  const error = new NewError(parts[1]);
  defineProperty(error, "name", { value: parts[0], writable: true, configurable: true });
  return error;
}

function reviveMap(entries: unknown[][], reviver: Reviver): Map<unknown, unknown> {
  const map = remember(reviver, new NewMap<unknown, unknown>());
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index] as unknown[];
    const key = revive(entry[0], reviver);
    mapSet(map, key, revive(entry[1], reviver));
  }
  return map;
}

function reviveSet(items: unknown[], reviver: Reviver): Set<unknown> {
  const set = remember(reviver, new NewSet<unknown>());
  for (let index = 0; index < items.length; index++) setAdd(set, revive(items[index], reviver));
  return set;
}

function reviveEscaped(entries: unknown[][], reviver: Reviver): object {
  const object = remember(reviver, {});
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index] as unknown[];
    setOwn(object, entry[0] as string, revive(entry[1], reviver));
  }
  return object;
}

function reviveBytes(tag: unknown, text: unknown): unknown {
  const View = viewOf(tag);
  if (typeof text !== "string" || View === undefined) return null;
  const bytes = base64ToBytes(text);
  return tag === "ArrayBuffer" ? bytes.buffer : new View(bytes.buffer as ArrayBuffer);
}
