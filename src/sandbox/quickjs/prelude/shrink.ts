import { charCodeAt, floor } from "../../values/intrinsics.js";
import { encodeValue, ValueLimit, type EncodedValue, type Shrink } from "../../values/encode.js";

/** From generous to tight: the first form that fits is taken. `string` is a part of the whole, the others are counts. */
const LEVELS: readonly { part: number; items: number; keys: number; depth: number }[] = [
  { part: 2, items: 500, keys: 200, depth: 12 },
  { part: 4, items: 200, keys: 100, depth: 10 },
  { part: 8, items: 100, keys: 60, depth: 8 },
  { part: 16, items: 50, keys: 40, depth: 7 },
  { part: 32, items: 20, keys: 30, depth: 6 },
  { part: 64, items: 10, keys: 20, depth: 5 },
  { part: 128, items: 5, keys: 12, depth: 4 },
  { part: 256, items: 3, keys: 8, depth: 3 },
  { part: 512, items: 1, keys: 4, depth: 2 },
];

/** A smaller value of the same shape: strings, arrays and objects are cut and say by how much. Always valid. */
export function shrinkToFit(value: unknown, maxBytes: number): EncodedValue {
  for (let index = 0; index < LEVELS.length; index++) {
    const { part, items, keys, depth } = LEVELS[index] as (typeof LEVELS)[number];
    const longest = floor(maxBytes / part);
    const limits: Shrink = { string: longest < 16 ? 16 : longest, items, keys, depth };
    try {
      const encoded = encodeValue(value, maxBytes, limits);
      if (utf8Length(encoded.text, maxBytes) <= maxBytes) return encoded;
    } catch (error) {
      if (!(error instanceof ValueLimit)) throw error;
    }
  }
  return { text: '"[result too large to show]"', dropped: 0, cut: true };
}

/** Bytes of the text in UTF-8. Counted only where it can matter: three bytes a unit is the most there can be. */
export function utf8Length(text: string | undefined, most: number): number {
  if (text === undefined) return 0;
  if (text.length * 3 <= most) return text.length;
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const code = charCodeAt(text, index);
    if (code < 0x80) continue;
    // Each half of a surrogate pair counts two of the pair's four bytes.
    bytes += code < 0x800 || (code >= 0xd800 && code < 0xe000) ? 1 : 2;
  }
  return bytes;
}
