import {
  charCodeAt,
  fromCharCode,
  includes,
  indexOf,
  normalizeText,
  slice,
  toLowerCase,
} from "../../values/intrinsics.js";
import { append } from "./define.js";
import { CONTROLS_ONLY, hexValue, percentDecode, percentEncode } from "./percent.js";

const FORBIDDEN = "\0\t\n\r #/:<>?@[\\]^|";

/** A host as URLs print it; undefined when it is none. */
export function parseHost(text: string, special: boolean): string | undefined {
  if (text[0] === "[") {
    const address = text[text.length - 1] === "]" ? parseIPv6(slice(text, 1, -1)) : undefined;
    return address === undefined ? undefined : "[" + address + "]";
  }
  if (!special) return hasAny(text, FORBIDDEN) ? undefined : percentEncode(text, CONTROLS_ONLY);
  const name = asciiName(percentDecode(text));
  if (name === undefined || name === "" || hasAny(name, FORBIDDEN + "%\x7f") || hasControl(name)) return undefined;
  return endsInNumber(name) ? parseIPv4(name) : name;
}

function hasAny(text: string, characters: string): boolean {
  for (let at = 0; at < text.length; at++) if (includes(characters, text[at] as string)) return true;
  return false;
}

function hasControl(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (charCodeAt(text, at) < 0x20) return true;
  return false;
}

/** Parts of a text between separators. */
function split(text: string, separator: string): string[] {
  const parts: string[] = [];
  let from = 0;
  for (let at = indexOf(text, separator); at >= 0; at = indexOf(text, separator, from)) {
    append(parts, slice(text, from, at));
    from = at + 1;
  }
  append(parts, slice(text, from));
  return parts;
}

/** Labels in lower case; those with other letters in Punycode. The mapping tables of IDNA are too large for a script's engine: NFC only. */
function asciiName(text: string): string | undefined {
  const labels = split(toLowerCase(normalizeText(text)), ".");
  let name = "";
  for (let index = 0; index < labels.length; index++) {
    const label = labels[index] as string;
    name += (index > 0 ? "." : "") + (isAscii(label) ? label : "xn--" + punycode(label));
  }
  return name;
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (charCodeAt(text, at) > 0x7f) return false;
  return true;
}

function codePoints(text: string): number[] {
  const codes: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const unit = charCodeAt(text, at);
    const next = unit >= 0xd800 && unit < 0xdc00 && at + 1 < text.length ? charCodeAt(text, at + 1) : 0;
    const isPair = next >= 0xdc00 && next < 0xe000;
    append(codes, isPair ? 0x10000 + ((unit - 0xd800) << 10) + (next - 0xdc00) : unit);
    if (isPair) at++;
  }
  return codes;
}

/** RFC 3492. */
function punycode(label: string): string {
  const codes = codePoints(label);
  let output = "";
  for (let index = 0; index < codes.length; index++)
    if ((codes[index] as number) < 0x80) output += fromCharCode(codes[index] as number);
  const basic = output.length;
  if (basic > 0) output += "-";
  let code = 0x80;
  let delta = 0;
  let bias = 72;
  for (let done = basic; done < codes.length; code++, delta++) {
    let least = 0x110000;
    for (let index = 0; index < codes.length; index++)
      if ((codes[index] as number) >= code && (codes[index] as number) < least) least = codes[index] as number;
    delta += (least - code) * (done + 1);
    code = least;
    for (let index = 0; index < codes.length; index++) {
      if ((codes[index] as number) < code) delta++;
      if (codes[index] !== code) continue;
      output += variableLength(delta, bias);
      bias = adapted(delta, done + 1, done === basic);
      delta = 0;
      done++;
    }
  }
  return output;
}

function variableLength(delta: number, bias: number): string {
  let text = "";
  let rest = delta;
  for (let step = 36; ; step += 36) {
    const threshold = step <= bias ? 1 : step >= bias + 26 ? 26 : step - bias;
    if (rest < threshold) return text + punycodeDigit(rest);
    const over = rest - threshold;
    const base = 36 - threshold;
    text += punycodeDigit(threshold + (over % base));
    rest = (over - (over % base)) / base;
  }
}

const punycodeDigit = (digit: number): string => "abcdefghijklmnopqrstuvwxyz0123456789"[digit] as string;

function adapted(delta: number, count: number, isFirst: boolean): number {
  let rest = isFirst ? (delta / 700) | 0 : delta >> 1;
  rest += (rest / count) | 0;
  let bias = 0;
  for (; rest > 455; bias += 36) rest = (rest / 35) | 0;
  return bias + (((36 * rest) / (rest + 38)) | 0);
}

/** A number as hosts write them: decimal, 0x hexadecimal, 0 octal; NaN for anything else. */
function hostNumber(text: string): number {
  let base = 10;
  let digits = text;
  if (text.length > 1 && text[0] === "0") {
    const isHex = text[1] === "x";
    base = isHex ? 16 : 8;
    digits = slice(text, isHex ? 2 : 1);
  }
  if (text === "") return NaN;
  let value = 0;
  for (let at = 0; at < digits.length; at++) {
    const digit = hexValue(charCodeAt(digits, at));
    if (digit < 0 || digit >= base) return NaN;
    value = value * base + digit;
  }
  return value;
}

function endsInNumber(name: string): boolean {
  const parts = split(name, ".");
  const end = parts[parts.length - 1] === "" && parts.length > 1 ? parts.length - 2 : parts.length - 1;
  const last = parts[end] as string;
  const value = hostNumber(last);
  let isDecimal = last !== "";
  for (let at = 0; at < last.length; at++) if (!includes("0123456789", last[at] as string)) isDecimal = false;
  return isDecimal || value === value;
}

function parseIPv4(name: string): string | undefined {
  const parts = split(name, ".");
  const count = parts[parts.length - 1] === "" ? parts.length - 1 : parts.length;
  if (count > 4) return undefined;
  let address = 0;
  for (let index = 0; index < count; index++) {
    const value = hostNumber(parts[index] as string);
    const isLast = index === count - 1;
    const most = isLast ? 256 ** (5 - count) : 256;
    if (!(value < most)) return undefined;
    address += isLast ? value : value * 256 ** (3 - index);
  }
  let text = "";
  for (let index = 3; index >= 0; index--) text += ((address / 256 ** index) & 255) + (index > 0 ? "." : "");
  return text;
}

function parseIPv6(text: string): string | undefined {
  const halves = indexOf(text, "::");
  if (halves >= 0 && indexOf(text, "::", halves + 1) >= 0) return undefined;
  const head = pieces(halves < 0 ? text : slice(text, 0, halves));
  const tail = halves < 0 ? [] : pieces(slice(text, halves + 2));
  if (head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.length - tail.length;
  if (halves < 0 ? missing !== 0 : missing < 1) return undefined;
  for (let index = 0; index < missing; index++) append(head, 0);
  for (let index = 0; index < tail.length; index++) append(head, tail[index] as number);
  return printIPv6(head);
}

function pieces(text: string): number[] | undefined {
  const found: number[] = [];
  if (text === "") return found;
  const parts = split(text, ":");
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index] as string;
    if (index === parts.length - 1 && includes(part, ".")) {
      const bytes = split(part, ".");
      for (let at = 0; at < bytes.length; at += 2) append(found, byteOf(bytes[at]) * 256 + byteOf(bytes[at + 1]));
      if (bytes.length !== 4) return undefined;
    } else append(found, part.length > 0 && part.length < 5 ? hostNumber("0x" + toLowerCase(part)) : NaN);
  }
  for (let index = 0; index < found.length; index++) if (found[index] !== found[index]) return undefined;
  return found;
}

function byteOf(text: string | undefined): number {
  let value = text === undefined || text === "" || (text.length > 1 && text[0] === "0") ? NaN : 0;
  for (let at = 0; text !== undefined && at < text.length; at++) {
    const digit = charCodeAt(text, at) - 48;
    value = digit < 0 || digit > 9 ? NaN : value * 10 + digit;
  }
  return value > 255 ? NaN : value;
}

function printIPv6(words: readonly number[]): string {
  let bestStart = -1;
  let bestLength = 1;
  for (let start = 0; start < 8; start++) {
    let length = 0;
    while (start + length < 8 && words[start + length] === 0) length++;
    if (length > bestLength) {
      bestStart = start;
      bestLength = length;
    }
  }
  let text = "";
  for (let index = 0; index < 8; index++) {
    if (index === bestStart) {
      text += index === 0 ? "::" : ":";
      index += bestLength - 1;
      continue;
    }
    text += hexText(words[index] as number) + (index < 7 ? ":" : "");
  }
  return text;
}

function hexText(value: number): string {
  let text = "";
  for (let shift = 12; shift >= 0; shift -= 4) {
    const digit = (value >> shift) & 15;
    if (text !== "" || digit !== 0 || shift === 0) text += "0123456789abcdef"[digit] as string;
  }
  return text;
}
