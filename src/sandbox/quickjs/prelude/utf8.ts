import {
  arrayBufferByteLength,
  charCodeAt,
  fromCharCode,
  NewTypeError,
  NewUint8Array,
} from "../../values/intrinsics.js";

/** Code points of a text as UTF-8; a lone surrogate becomes U+FFFD. Calls `put` for each byte. */
export function eachUtf8Byte(text: string, put: (byte: number) => void): void {
  for (let at = 0; at < text.length; at++) {
    const code = codePointAt(text, at);
    if (code > 0xffff) at++;
    if (code < 0x80) put(code);
    else if (code < 0x800) {
      put(0xc0 | (code >> 6));
      put(0x80 | (code & 63));
    } else if (code < 0x10000) {
      put(0xe0 | (code >> 12));
      put(0x80 | ((code >> 6) & 63));
      put(0x80 | (code & 63));
    } else {
      put(0xf0 | (code >> 18));
      put(0x80 | ((code >> 12) & 63));
      put(0x80 | ((code >> 6) & 63));
      put(0x80 | (code & 63));
    }
  }
}

function codePointAt(text: string, at: number): number {
  const unit = charCodeAt(text, at);
  if (unit < 0xd800 || unit > 0xdfff) return unit;
  const next = unit < 0xdc00 && at + 1 < text.length ? charCodeAt(text, at + 1) : 0;
  return next >= 0xdc00 && next <= 0xdfff ? 0x10000 + ((unit - 0xd800) << 10) + (next - 0xdc00) : 0xfffd;
}

/** A text in UTF-8. */
export function utf8Bytes(text: string): Uint8Array {
  let length = 0;
  eachUtf8Byte(text, () => length++);
  const bytes = new NewUint8Array(length);
  let at = 0;
  eachUtf8Byte(text, (byte) => {
    bytes[at++] = byte;
  });
  return bytes;
}

/** The state of a decoder between two parts of a stream. */
export interface Utf8State {
  code: number;
  needed: number;
  seen: number;
  lower: number;
  upper: number;
}

export const newUtf8State = (): Utf8State => ({ code: 0, needed: 0, seen: 0, lower: 0x80, upper: 0xbf });

/** Thrown where `fatal` was asked for. */
const invalid = (): Error => new NewTypeError("The encoded data was not valid for encoding utf-8");

/** Decodes by the WHATWG rules: one U+FFFD for each part that cannot be continued. `last`: nothing follows. */
export function decodeUtf8(bytes: Uint8Array, state: Utf8State, fatal: boolean, last: boolean): string {
  let text = "";
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (state.needed === 0) {
      if (byte < 0x80) text += fromCharCode(byte);
      else if (!begin(state, byte)) text += replacement(fatal);
      continue;
    }
    if (byte < state.lower || byte > state.upper) {
      reset(state);
      text += replacement(fatal);
      at--; // The byte begins something of its own.
      continue;
    }
    state.lower = 0x80;
    state.upper = 0xbf;
    state.code = (state.code << 6) | (byte & 63);
    if (++state.seen < state.needed) continue;
    text += ofCodePoint(state.code);
    reset(state);
  }
  if (last && state.needed > 0) {
    reset(state);
    text += replacement(fatal);
  }
  return text;
}

function begin(state: Utf8State, byte: number): boolean {
  if (byte >= 0xc2 && byte <= 0xdf) {
    state.needed = 1;
    state.code = byte & 31;
  } else if (byte >= 0xe0 && byte <= 0xef) {
    state.needed = 2;
    state.code = byte & 15;
    if (byte === 0xe0) state.lower = 0xa0;
    if (byte === 0xed) state.upper = 0x9f;
  } else if (byte >= 0xf0 && byte <= 0xf4) {
    state.needed = 3;
    state.code = byte & 7;
    if (byte === 0xf0) state.lower = 0x90;
    if (byte === 0xf4) state.upper = 0x8f;
  } else return false;
  return true;
}

function reset(state: Utf8State): void {
  state.code = 0;
  state.needed = 0;
  state.seen = 0;
  state.lower = 0x80;
  state.upper = 0xbf;
}

function replacement(fatal: boolean): string {
  if (fatal) throw invalid();
  return "\ufffd";
}

const ofCodePoint = (code: number): string =>
  code < 0x10000
    ? fromCharCode(code)
    : fromCharCode(0xd800 + ((code - 0x10000) >> 10), 0xdc00 + ((code - 0x10000) & 0x3ff));

/** The bytes of a buffer or a view of one. */
export function bytesOf(source: unknown): Uint8Array {
  if (source === undefined) return new NewUint8Array(0);
  if (typeof source === "object" && source !== null) {
    if (arrayBufferByteLength(source) !== undefined) return new NewUint8Array(source as ArrayBuffer);
    const { buffer, byteOffset, byteLength } = source as Partial<ArrayBufferView>;
    if (buffer !== undefined && arrayBufferByteLength(buffer) !== undefined)
      return new NewUint8Array(buffer, byteOffset, byteLength);
  }
  throw new NewTypeError("Give an ArrayBuffer or a view of one, as a Uint8Array is");
}
