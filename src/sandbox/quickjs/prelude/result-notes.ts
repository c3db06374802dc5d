import {
  defineProperty,
  functionToText,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  indexOf,
  isArray,
  keysOf,
  objectPrototype,
  promisePrototype,
} from "../../values/intrinsics.js";
import { keepConstructor } from "./define.js";

/** Parts of a result that are looked at for promises, and containers inside of containers. */
const MOST_PARTS = 10_000;
const MOST_DEPTH = 6;

/** Puts the values of promises in a result in their place. Gives how many there were. */
export async function awaitParts(value: unknown): Promise<number> {
  const walk = { left: MOST_PARTS, found: 0 };
  await awaitIn(value, MOST_DEPTH, walk);
  return walk.found;
}

async function awaitIn(value: unknown, depth: number, walk: { left: number; found: number }): Promise<void> {
  if (depth === 0 || !isContainer(value)) return;
  const keys = keysOf(value);
  for (let index = 0; index < keys.length && walk.left-- > 0; index++) {
    const key = keys[index] as string;
    const descriptor = getOwnPropertyDescriptor(value, key);
    const part: unknown = descriptor?.value;
    if (isPromise(part)) {
      walk.found++;
      keepConstructor(part);
      defineProperty(value, key, { value: await part, writable: true, enumerable: true, configurable: true });
    } else await awaitIn(part, depth - 1, walk);
  }
}

const isPromise = (value: unknown): value is Promise<unknown> =>
  typeof value === "object" && value !== null && getPrototypeOf(value) === promisePrototype;

function isContainer(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  return isArray(value) || getPrototypeOf(value) === objectPrototype;
}

/** What a model is told about its result. */
export const awaitedNote = (count: number): string =>
  (count === 1 ? "The result held a promise; it was" : "The result held " + count + " promises; they were") +
  " awaited. Write `await` before a call to get its value.";

export const PROMISE_TEXT_NOTE =
  "The result has the text [object Promise]: a promise was used as text. Write `await` before the call.";

export function functionNote(value: object): string {
  const what = indexOf(functionToText(value), "class") === 0 ? "a class" : "a function";
  return "The script's result is " + what + ", which is no value. Call it, and return what it gives.";
}

export const droppedNote = (count: number): string =>
  "Left out of the result: " + count + " function" + (count > 1 ? "s" : "") + " or symbols, which have no JSON form.";

export const truncatedNote = (most: number): string =>
  "The result was truncated: it is larger than the limit of " +
  most +
  " bytes. Filter and aggregate inside the script, or return a part at a time.";
