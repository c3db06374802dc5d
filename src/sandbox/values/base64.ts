import { charCodeAt, create, floor, NewUint8Array, typedArrayLength } from "./intrinsics.js";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const CODES: Record<number, number> = create(null) as Record<number, number>;
const DIGITS: Record<number, string> = create(null) as Record<number, string>;
for (let index = 0; index < ALPHABET.length; index++) {
  DIGITS[index] = ALPHABET[index] as string;
  CODES[charCodeAt(ALPHABET, index)] = index;
}
const EQUALS = charCodeAt("=", 0);

const digit = (bits: number): string => DIGITS[bits & 63] as string;

/** Base64 of bytes. Own code because the guest has neither Buffer nor btoa. */
export function bytesToBase64(bytes: Uint8Array): string {
  let text = "";
  const length = typedArrayLength(bytes);
  let at = 0;
  for (; at + 2 < length; at += 3) {
    const bits = ((bytes[at] as number) << 16) | ((bytes[at + 1] as number) << 8) | (bytes[at + 2] as number);
    text += digit(bits >> 18) + digit(bits >> 12) + digit(bits >> 6) + digit(bits);
  }
  if (length - at === 1) text += "" + digit((bytes[at] as number) >> 2) + digit((bytes[at] as number) << 4) + "==";
  if (length - at === 2) {
    const bits = ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
    text += "" + digit(bits >> 10) + digit(bits >> 4) + digit(bits << 2) + "=";
  }
  return text;
}

/** Bytes of base64 text; characters outside of the alphabet are skipped. */
export function base64ToBytes(text: string): Uint8Array {
  const bytes = new NewUint8Array(floor((text.length * 3) / 4));
  let length = 0;
  let bits = 0;
  let held = 0;
  for (let at = 0; at < text.length; at++) {
    const code = charCodeAt(text, at);
    if (code === EQUALS) break;
    const value = CODES[code];
    if (value === undefined) continue;
    bits = ((bits << 6) | value) & 0xffffff;
    held += 6;
    if (held >= 8) {
      held -= 8;
      bytes[length++] = (bits >> held) & 0xff;
    }
  }
  return copyOf(bytes, length);
}

function copyOf(bytes: Uint8Array, length: number): Uint8Array {
  const copy = new NewUint8Array(length);
  for (let at = 0; at < length; at++) copy[at] = bytes[at] as number;
  return copy;
}
