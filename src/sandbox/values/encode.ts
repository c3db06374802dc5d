/**
 * Values as text, both ways between a script and its host. Plain JSON stays exactly as `JSON.stringify` gives it; what
 * JSON cannot hold becomes an object with the key {@link TAG}, and data that has that key itself is escaped, so no
 * tag can be forged by data.
 *
 * This file runs on the host and, bundled into the prelude, inside the guest. There a script may have replaced every
 * method of every prototype before it is called: so all intrinsics are captured when the module is loaded, nothing is
 * called through a prototype, no `for...of`, and arrays are only written where they own the index.
 */
import { bytesToBase64 } from "./base64.js";
import { type EncodedValue, type Shrink, ValueLimit } from "./encoded-value.js";
import {
  apply,
  arrayBufferByteLength,
  bytesOfView,
  charCodeAt,
  create,
  dateGetTime,
  errorLike,
  getPrototypeOf,
  hasOwn,
  isArray,
  keysOf,
  mapForEach,
  mapGet,
  mapSet,
  mapSize,
  NewMap,
  NewUint8Array,
  objectPrototype,
  regExpFlags,
  regExpSource,
  setForEach,
  setSize,
  slice,
  stringify,
  toNumber,
  typedArrayLength,
  typedArrayName,
} from "./intrinsics.js";

export { type EncodedValue, type Shrink, ValueLimit };

/** Marks an object that stands for something JSON has no form for. */
export const TAG = "@@";
/** How a tag looks in text. */
export const TAG_TEXT = '"' + TAG + '":';

/** Containers nested deeper than this are refused: both sides walk values by recursion. */
export const MAX_VALUE_DEPTH = 400;

interface Encoder {
  most: number;
  /** UTF-16 units so far, as if shared parts were written out each time. */
  spent: number;
  count: number;
  seen: Map<object, number | undefined>;
  /** What each object that was seen has cost; absent while it is being written. */
  costs: Record<number, number>;
  dropped: number;
  cut: boolean;
  shrink: Shrink | undefined;
  tree: boolean;
}

const NOTHING: Shrink = { string: Infinity, items: Infinity, keys: Infinity, depth: Infinity };

/** {@link encodeValue} for what has to be a tree: shared parts are repeated, and a cycle is a {@link ValueLimit}. */
export function encodeTreeValue(value: unknown, maxLength: number): EncodedValue {
  return encodeWith(newEncoder(maxLength, undefined, true), value);
}

/**
 * @param maxLength Longest text in UTF-16 units; a longer one stops early, so that a value that grows without end costs no more than this.
 *   Parts that occur more than once count each time: whoever reads the value may write them out, and thirty arrays can hold a billion that way.
 * @throws {ValueLimit} when the text would be longer, or the value is nested too deeply.
 */
export function encodeValue(value: unknown, maxLength: number, shrink?: Shrink): EncodedValue {
  return encodeWith(newEncoder(maxLength, shrink, false), value);
}

function newEncoder(maxLength: number, shrink: Shrink | undefined, tree: boolean): Encoder {
  const seen = new NewMap<object, number | undefined>();
  const costs = create(null) as Record<number, number>;
  return { most: maxLength, spent: 0, count: 0, seen, costs, dropped: 0, cut: false, shrink, tree };
}

function encodeWith(encoder: Encoder, value: unknown): EncodedValue {
  const text = encode(encoder, value, 0);
  return { text: value === undefined ? undefined : text, dropped: encoder.dropped, cut: encoder.cut };
}

function spend(encoder: Encoder, text: string): string {
  charge(encoder, text.length);
  return text;
}

function charge(encoder: Encoder, length: number): void {
  encoder.spent += length;
  if (encoder.spent > encoder.most) throw new ValueLimit("size");
}

const tagged = (encoder: Encoder, tag: string, text: string): string =>
  spend(encoder, "{" + TAG_TEXT + '"' + tag + '","v":') + text + spend(encoder, "}");

function encode(encoder: Encoder, value: unknown, depth: number): string | undefined {
  switch (typeof value) {
    case "string":
      return encodeString(encoder, value);
    case "number":
      return encodeNumber(encoder, value);
    case "boolean":
      return spend(encoder, value ? "true" : "false");
    case "bigint":
      return tagged(encoder, "bigint", spend(encoder, '"' + value + '"'));
    case "undefined":
      return spend(encoder, "{" + TAG_TEXT + '"undefined"}');
    case "object":
      return value === null ? spend(encoder, "null") : encodeObject(encoder, value, depth);
    default:
      encoder.dropped++;
      return undefined;
  }
}

function encodeString(encoder: Encoder, value: string): string {
  const most = (encoder.shrink ?? NOTHING).string;
  // The length is looked at before the text is quoted: quoting doubles it.
  if (value.length <= most) {
    if (value.length > encoder.most - encoder.spent) throw new ValueLimit("size");
    return spend(encoder, stringify(value));
  }
  encoder.cut = true;
  return spend(
    encoder,
    stringify(slice(value, 0, wholeEnd(value, most)) + "… [" + (value.length - most) + " more characters]"),
  );
}

/** `end`, or one less where it would cut a surrogate pair in two. */
function wholeEnd(text: string, end: number): number {
  const code = end > 0 ? charCodeAt(text, end - 1) : 0;
  return code >= 0xd800 && code < 0xdc00 ? end - 1 : end;
}

function encodeNumber(encoder: Encoder, value: number): string {
  if (value - value !== 0 || (value === 0 && 1 / value < 0)) {
    return tagged(encoder, "number", spend(encoder, value === 0 ? '"-0"' : '"' + value + '"'));
  }
  return spend(encoder, "" + value);
}

function encodeObject(encoder: Encoder, value: object, depth: number): string | undefined {
  if (depth >= MAX_VALUE_DEPTH) throw new ValueLimit("depth");
  const known = mapGet(encoder.seen, value);
  if (encoder.tree) return encodeTree(encoder, value, known, depth);
  if (known !== undefined) return encodeReference(encoder, known);
  if (depth > (encoder.shrink ?? NOTHING).depth) return encodeTooDeep(encoder, value);
  const index = encoder.count++;
  mapSet(encoder.seen, value, index);
  const before = encoder.spent;
  const text = encodeContainer(encoder, value, depth);
  encoder.costs[index] = encoder.spent - before;
  return text;
}

/**
 * Takes back the number of an object that is written as something else. The reader counts what it reads: what stands in
 * its place gets the number, or, if that is no object, the next one.
 */
function forget(encoder: Encoder, value: object): void {
  if (encoder.tree) return;
  encoder.count--;
  mapSet(encoder.seen, value, undefined);
}

function encodeReference(encoder: Encoder, known: number): string {
  charge(encoder, encoder.costs[known] ?? 0);
  return tagged(encoder, "ref", spend(encoder, "" + known));
}

/** Shared parts are written each time they occur; `known` is 1 while the object is on the way down to here. */
function encodeTree(encoder: Encoder, value: object, known: number | undefined, depth: number): string | undefined {
  if (known === 1) throw new ValueLimit("cycle");
  mapSet(encoder.seen, value, 1);
  const text = encodeContainer(encoder, value, depth);
  mapSet(encoder.seen, value, 0);
  return text;
}

function encodeContainer(encoder: Encoder, value: object, depth: number): string | undefined {
  if (isArray(value)) return encodeItems(encoder, value, lengthOf(value), depth);
  const prototype = getPrototypeOf(value);
  if (prototype === objectPrototype || prototype === null) return encodePlain(encoder, value, depth);
  return encodeExotic(encoder, value, depth);
}

function encodeTooDeep(encoder: Encoder, value: object): string {
  encoder.cut = true;
  return spend(encoder, isArray(value) ? '"[Array of ' + lengthOf(value) + ']"' : '"[Object]"');
}

/** A number in any case: the length of a Proxy is whatever it says, and could write JSON of its own into ours. */
const lengthOf = (items: readonly unknown[]): number => toNumber(items.length);

function encodeItems(encoder: Encoder, items: readonly unknown[], length: number, depth: number): string {
  const shown = length > (encoder.shrink ?? NOTHING).items ? (encoder.shrink ?? NOTHING).items : length;
  let text = spend(encoder, "[");
  for (let index = 0; index < shown; index++) {
    if (index > 0) text += spend(encoder, ",");
    text += encode(encoder, items[index], depth + 1) ?? spend(encoder, "null");
  }
  if (shown < length) {
    encoder.cut = true;
    text += spend(encoder, (shown > 0 ? "," : "") + '"… ' + (length - shown) + ' more items"');
  }
  return text + spend(encoder, "]");
}

function encodePlain(encoder: Encoder, value: object, depth: number): string | undefined {
  const custom = toJsonOf(value);
  if (custom !== undefined) {
    forget(encoder, value);
    return encode(encoder, apply(custom, value, []), depth + 1);
  }
  const keys = keysOf(value);
  if (listsTag(keys)) return encodeEscaped(encoder, value, keys, depth);
  const shown = keys.length > (encoder.shrink ?? NOTHING).keys ? (encoder.shrink ?? NOTHING).keys : keys.length;
  let text = spend(encoder, "{");
  let first = true;
  for (let index = 0; index < shown; index++) {
    const key = keys[index] as string;
    const item = encode(encoder, (value as Record<string, unknown>)[key], depth + 1);
    if (item === undefined) continue;
    text += spend(encoder, first ? stringify(key) + ":" : "," + stringify(key) + ":") + item;
    first = false;
  }
  if (shown < keys.length) {
    encoder.cut = true;
    text += spend(encoder, (first ? "" : ",") + '"…":"' + (keys.length - shown) + ' more keys"');
  }
  return text + spend(encoder, "}");
}

/** Looks at the very keys that will be written: asked a second time, a Proxy may deny one. */
function listsTag(keys: readonly string[]): boolean {
  for (let index = 0; index < keys.length; index++) if (keys[index] === TAG) return true;
  return false;
}

/** True for what the encoder wrote as a tag. Only for parsed JSON. */
export const hasOwnTag = (value: object): boolean => hasOwn(value, TAG);

function encodeEscaped(encoder: Encoder, value: object, keys: readonly string[], depth: number): string {
  let text = spend(encoder, "{" + TAG_TEXT + '"Object","v":[');
  let first = true;
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string;
    const item = encode(encoder, (value as Record<string, unknown>)[key], depth + 1);
    if (item === undefined) continue;
    text += spend(encoder, (first ? "" : ",") + "[" + stringify(key) + ",") + item + spend(encoder, "]");
    first = false;
  }
  return text + spend(encoder, "]}");
}

function toJsonOf(value: object): (() => unknown) | undefined {
  const custom = (value as { toJSON?: unknown }).toJSON;
  return typeof custom === "function" ? (custom as () => unknown) : undefined;
}

function encodeExotic(encoder: Encoder, value: object, depth: number): string | undefined {
  const time = dateGetTime(value);
  if (time !== undefined) return tagged(encoder, "Date", spend(encoder, time === time ? "" + time : "null"));
  const size = mapSize(value);
  if (size !== undefined) return tagged(encoder, "Map", encodeEntries(encoder, value, size, depth));
  const setLength = setSize(value);
  if (setLength !== undefined) return tagged(encoder, "Set", encodeItems(encoder, setItems(value), setLength, depth));
  const typed = typedArrayName(value);
  if (typed !== undefined) return encodeBytes(encoder, typed, value as Uint8Array);
  if (arrayBufferByteLength(value) !== undefined) {
    return encodeBytes(encoder, "ArrayBuffer", new NewUint8Array(value as ArrayBuffer));
  }
  const source = regExpSource(value);
  if (source !== undefined) {
    return tagged(
      encoder,
      "RegExp",
      spend(encoder, "[" + stringify(source) + "," + stringify(regExpFlags(value)) + "]"),
    );
  }
  const error = errorLike(value);
  if (error !== undefined)
    return tagged(encoder, "Error", spend(encoder, "[" + stringify(error.name) + "," + stringify(error.message) + "]"));
  return encodePlain(encoder, value, depth);
}

function setItems(value: object): unknown[] {
  const items = create(null) as unknown[];
  let length = 0;
  setForEach(value, (item) => {
    items[length++] = item;
  });
  return items;
}

function encodeEntries(encoder: Encoder, value: object, size: number, depth: number): string {
  const most = (encoder.shrink ?? NOTHING).items;
  let text = spend(encoder, "[");
  let shown = 0;
  mapForEach(value, (item, key) => {
    if (shown >= most) return;
    const keyText = encode(encoder, key, depth + 1) ?? spend(encoder, "null");
    const itemText = encode(encoder, item, depth + 1) ?? spend(encoder, "null");
    text += spend(encoder, shown++ > 0 ? ",[" : "[") + keyText + spend(encoder, ",") + itemText + spend(encoder, "]");
  });
  if (shown < size) {
    encoder.cut = true;
    text += spend(encoder, (shown > 0 ? "," : "") + '["…","' + (size - shown) + ' more items"]');
  }
  return text + spend(encoder, "]");
}

function encodeBytes(encoder: Encoder, name: string, view: Uint8Array): string {
  const bytes = name === "ArrayBuffer" ? view : bytesOfView(view);
  const length = typedArrayLength(bytes);
  const most = (encoder.shrink ?? NOTHING).string;
  if (length > most) {
    forget(encoder, view);
    encoder.cut = true;
    return spend(encoder, '"[' + name + " of " + length + ' bytes]"');
  }
  if (length > encoder.most - encoder.spent) throw new ValueLimit("size");
  return tagged(encoder, name, spend(encoder, '"' + bytesToBase64(bytes) + '"'));
}
