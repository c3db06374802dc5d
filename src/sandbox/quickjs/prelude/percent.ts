import { charCodeAt, fromCharCode, includes, NewUint8Array, slice } from "../../values/intrinsics.js";
import { decodeUtf8, eachUtf8Byte, newUtf8State } from "./utf8.js";

const HEX = "0123456789ABCDEF";

/** What each part of a URL must escape, beyond control characters and everything above "~". */
export const FRAGMENT_SET = ' "<>`';
export const QUERY_SET = ' "#<>';
export const SPECIAL_QUERY_SET = QUERY_SET + "'";
export const PATH_SET = QUERY_SET + "?^`{}";
export const USERINFO_SET = PATH_SET + "/:;=@[\\]|";
export const CONTROLS_ONLY = "";

/** The text with the characters of a set as `%XX`, in UTF-8. */
export function percentEncode(text: string, set: string): string {
  if (isPlain(text, set)) return text;
  let encoded = "";
  eachUtf8Byte(text, (byte) => {
    const char = fromCharCode(byte);
    encoded += byte > 0x1f && byte < 0x7f && !includes(set, char) ? char : percent(byte);
  });
  return encoded;
}

function isPlain(text: string, set: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = charCodeAt(text, at);
    if (code < 0x20 || code > 0x7e || includes(set, text[at] as string)) return false;
  }
  return true;
}

/** One byte as `%XX`. */
export const percent = (byte: number): string => "%" + (HEX[byte >> 4] as string) + (HEX[byte & 15] as string);

/** The value of a hexadecimal digit; -1 for anything else. */
export function hexValue(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const letter = code | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

/** Turns `%XX` into the bytes they stand for and reads them as UTF-8. What is no escape stays. */
export function percentDecode(text: string): string {
  if (!includes(text, "%")) return text;
  let length = 0;
  eachUtf8Byte(text, () => length++);
  const bytes = new NewUint8Array(length);
  let at = 0;
  eachUtf8Byte(text, (byte) => {
    bytes[at++] = byte;
  });
  let end = 0;
  for (let from = 0; from < length; from++) {
    const high = bytes[from] === 37 && from + 2 < length ? hexValue(bytes[from + 1] as number) : -1;
    const low = high < 0 ? -1 : hexValue(bytes[from + 2] as number);
    bytes[end++] = low < 0 ? (bytes[from] as number) : high * 16 + low;
    if (low >= 0) from += 2;
  }
  return decodeUtf8(new NewUint8Array(bytes.buffer, 0, end), newUtf8State(), false, true);
}

/** The text from `from` to the first of the characters, or to its end. */
export function untilAny(text: string, from: number, characters: string): string {
  let at = from;
  while (at < text.length && !includes(characters, text[at] as string)) at++;
  return slice(text, from, at);
}
