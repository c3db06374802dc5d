import { base64ToBytes, bytesToBase64 } from "../../values/base64.js";
import {
  charCodeAt,
  fromCharCode,
  includes,
  NewRangeError,
  NewUint8Array,
  slice,
  toLowerCase,
  toText,
} from "../../values/intrinsics.js";
import { defineClass, defineFunction } from "./define.js";
import { domException } from "./dom-exception.js";
import { bytesOf, decodeUtf8, newUtf8State, utf8Bytes } from "./utf8.js";

class Encoder {
  get encoding(): string {
    return "utf-8";
  }

  encode(text?: unknown): Uint8Array {
    return utf8Bytes(text === undefined ? "" : toText(text));
  }

  encodeInto(source: unknown, target: Uint8Array): { read: number; written: number } {
    const text = toText(source);
    const result = { read: 0, written: 0 };
    while (result.read < text.length) {
      const length = pairAt(text, result.read) ? 2 : 1;
      const bytes = utf8Bytes(slice(text, result.read, result.read + length));
      if (result.written + bytes.length > target.length) break;
      for (let index = 0; index < bytes.length; index++) target[result.written++] = bytes[index] as number;
      result.read += length;
    }
    return result;
  }
}

/** True where two units of a text make one character. */
function pairAt(text: string, at: number): boolean {
  const unit = charCodeAt(text, at);
  const next = at + 1 < text.length ? charCodeAt(text, at + 1) : 0;
  return unit >= 0xd800 && unit < 0xdc00 && next >= 0xdc00 && next < 0xe000;
}

const UTF8_LABELS = " utf-8 utf8 unicode-1-1-utf-8 ";

class Decoder {
  readonly #fatal: boolean;
  readonly #ignoreBom: boolean;
  #state = newUtf8State();
  #begun = false;

  constructor(label?: unknown, options?: { fatal?: unknown; ignoreBOM?: unknown }) {
    const name = label === undefined ? "utf-8" : toLowerCase(toText(label));
    if (!includes(UTF8_LABELS, " " + name + " ")) throw new NewRangeError("TextDecoder knows only utf-8; got " + name);
    this.#fatal = options?.fatal === true;
    this.#ignoreBom = options?.ignoreBOM === true;
  }

  get encoding(): string {
    return "utf-8";
  }

  get fatal(): boolean {
    return this.#fatal;
  }

  get ignoreBOM(): boolean {
    return this.#ignoreBom;
  }

  decode(source?: unknown, options?: { stream?: unknown }): string {
    const streams = options?.stream === true;
    const text = decodeUtf8(bytesOf(source), this.#state, this.#fatal, !streams);
    const hasMark = !this.#begun && !this.#ignoreBom && text[0] === "\ufeff";
    this.#begun = streams && (this.#begun || text !== "");
    if (!streams) this.#state = newUtf8State();
    return hasMark ? slice(text, 1) : text;
  }
}

function btoa(source: unknown): string {
  const text = toText(source);
  const bytes = new NewUint8Array(text.length);
  for (let at = 0; at < text.length; at++) {
    const code = charCodeAt(text, at);
    if (code > 0xff)
      throw domException(
        "btoa takes characters up to U+00FF only: encode text as bytes with TextEncoder first",
        "InvalidCharacterError",
      );
    bytes[at] = code;
  }
  return bytesToBase64(bytes);
}

function atob(source: unknown): string {
  const bytes = base64ToBytes(checkedBase64(toText(source)));
  let text = "";
  for (let at = 0; at < bytes.length; at++) text += fromCharCode(bytes[at] as number);
  return text;
}

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** The text without white space and padding, if it is base64. */
function checkedBase64(source: string): string {
  let text = "";
  for (let at = 0; at < source.length; at++) {
    const char = source[at] as string;
    if (!includes(" \t\n\f\r", char)) text += char;
  }
  if (text.length % 4 === 0 && text.length > 0 && text[text.length - 1] === "=")
    text = slice(text, 0, text[text.length - 2] === "=" ? text.length - 2 : text.length - 1);
  let valid = text.length % 4 !== 1;
  for (let at = 0; at < text.length; at++) if (!includes(BASE64, text[at] as string)) valid = false;
  if (!valid) throw domException("The text to be decoded is not base64", "InvalidCharacterError");
  return text;
}

/** `TextEncoder`, `TextDecoder`, `btoa` and `atob`. */
export function installEncoding(): void {
  defineClass("TextEncoder", Encoder);
  defineClass("TextDecoder", Decoder);
  defineFunction("btoa", btoa);
  defineFunction("atob", atob);
}
