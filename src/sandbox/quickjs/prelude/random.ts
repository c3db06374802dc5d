import { defineProperty, NewUint8Array, typedArrayName } from "../../values/intrinsics.js";
import { defineGlobal, nameFunction } from "./define.js";
import { domException } from "./dom-exception.js";
import { WORD, words } from "./host.js";

/**
 * The engine's own random state is part of the base image, so it would repeat in every run. This is sfc32 over 128 bits that
 * the host draws for each run: no two runs share them. It is quick and even, not a source of secrets: who sees enough of
 * its numbers can work out the rest.
 */
function nextWord(): number {
  const at = WORD.SEED;
  const a = words[at] as number;
  const b = words[at + 1] as number;
  const c = words[at + 2] as number;
  const counter = words[at + 3] as number;
  const result = (a + b + counter) >>> 0;
  words[at + 3] = (counter + 1) >>> 0;
  words[at] = (b ^ (b >>> 9)) >>> 0;
  words[at + 1] = (c + (c << 3)) >>> 0;
  words[at + 2] = (((c << 21) | (c >>> 11)) + result) >>> 0;
  return result;
}

const random = (): number => ((nextWord() >>> 5) * 67_108_864 + (nextWord() >>> 6)) / 9_007_199_254_740_992;

const MOST_RANDOM_BYTES = 65_536;

function getRandomValues<T extends ArrayBufferView>(target: T): T {
  const name = typedArrayName(target);
  if (name === undefined || name === "Float32Array" || name === "Float64Array")
    throw domException("crypto.getRandomValues needs an array of integers, as new Uint8Array(16)", "TypeMismatchError");
  const bytes = new NewUint8Array(target.buffer, target.byteOffset, target.byteLength);
  if (bytes.length > MOST_RANDOM_BYTES)
    throw domException("crypto.getRandomValues gives at most 65536 bytes at a time", "QuotaExceededError");
  for (let index = 0; index < bytes.length; index++) bytes[index] = nextWord() >>> 24;
  return target;
}

const HEX = "0123456789abcdef";

/** A random UUID, version 4. */
function randomUUID(): string {
  let text = "";
  for (let index = 0; index < 32; index++) {
    if (index === 8 || index === 12 || index === 16 || index === 20) text += "-";
    const digit = nextWord() >>> 28;
    text += HEX[index === 12 ? 4 : index === 16 ? (digit & 3) | 8 : digit] as string;
  }
  return text;
}

/** `Math.random`, `crypto.randomUUID` and `crypto.getRandomValues`. */
export function installRandom(): void {
  defineProperty(Math, "random", { value: random, writable: true, configurable: true });
  nameFunction(random, "random");
  const crypto = {};
  defineProperty(crypto, "getRandomValues", {
    value: getRandomValues,
    writable: true,
    configurable: true,
    enumerable: true,
  });
  defineProperty(crypto, "randomUUID", { value: randomUUID, writable: true, configurable: true, enumerable: true });
  defineGlobal("crypto", crypto);
}
