/**
 * Console text of values, in the manner of Node's `util.inspect`. Runs inside the guest: only captured intrinsics (see
 * encode.ts). Work is bounded by `maxLength`, depth, items and keys, because a script logs what it likes.
 */
import {
  create,
  dateGetTime,
  dateToISOString,
  errorLike,
  getPrototypeOf,
  hasOwn,
  isArray,
  keysOf,
  mapForEach,
  mapSize,
  NewMap,
  NewDate,
  mapGet,
  mapSet,
  objectPrototype,
  regExpFlags,
  regExpSource,
  repeat,
  setForEach,
  setSize,
  slice,
  stringify,
  symbolDescription,
  toText,
  typedArrayName,
  functionToText,
  includes,
  indexOf,
} from "./intrinsics.js";

const MAX_DEPTH = 4;
const MAX_ITEMS = 100;
const LINE_WIDTH = 72;

interface Format {
  left: number;
  parents: Map<object, boolean>;
}

/** One console line from the arguments of `console.log`: `%s`, `%d`, `%i`, `%f`, `%j`, `%o`, `%O`, `%%` work in a first text. */
export function formatLine(args: readonly unknown[], count: number, maxLength: number): string {
  const format: Format = { left: maxLength, parents: new NewMap() };
  const first = count > 0 ? args[0] : undefined;
  let used = 0;
  let line = "";
  if (typeof first === "string") {
    used = 1;
    line = first;
    if (count > 1 && includes(first, "%")) {
      const substituted = substitute(format, first, args, count);
      line = substituted.text;
      used = substituted.used;
    }
  }
  for (let index = used; index < count; index++) {
    line += (index > 0 ? " " : "") + formatArgument(format, args[index]);
    if (line.length > maxLength) break;
  }
  return line;
}

function formatArgument(format: Format, value: unknown): string {
  return typeof value === "string" ? value : formatSafely(format, value);
}

function formatSafely(format: Format, value: unknown): string {
  try {
    return formatValue(format, value, 0);
  } catch {
    return "[unprintable]"; // A getter or Proxy trap of the script threw: its log line must not end the script.
  }
}

interface Substituted {
  text: string;
  /** Arguments that went into the text. */
  used: number;
}

function substitute(format: Format, template: string, args: readonly unknown[], count: number): Substituted {
  let text = "";
  let used = 1;
  let from = 0;
  for (let at = indexOf(template, "%"); at >= 0 && at + 1 < template.length; at = indexOf(template, "%", from)) {
    const letter = template[at + 1] as string;
    const known = includes("sdifjoOc", letter);
    text += slice(template, from, at);
    from = at + 2;
    if (letter === "%") text += "%";
    else if (!known || used >= count) text += "%" + letter;
    else text += directive(format, letter, args[used++]);
  }
  return { text: text + slice(template, from), used };
}

function directive(format: Format, letter: string, value: unknown): string {
  if (letter === "c") return "";
  if (letter === "j") return jsonText(value);
  if (letter === "s") return typeof value === "object" && value !== null ? formatSafely(format, value) : toText(value);
  if (letter === "o" || letter === "O") return formatSafely(format, value);
  if (typeof value === "bigint") return value + "n";
  if (typeof value === "object" || typeof value === "symbol") return "NaN";
  const number = +(value as number);
  return toText(letter === "i" ? (number < 0 ? -(-number - (-number % 1)) : number - (number % 1)) : number);
}

function jsonText(value: unknown): string {
  try {
    return stringify(value) ?? "undefined";
  } catch {
    return "[Circular]";
  }
}

function formatValue(format: Format, value: unknown, depth: number): string {
  if (format.left < 0) return "…";
  const text =
    typeof value === "object" && value !== null
      ? formatObject(format, value, depth)
      : formatPrimitive(value, format.left);
  format.left -= text.length;
  return text;
}

function formatPrimitive(value: unknown, left: number): string {
  if (typeof value === "string")
    return quoted(value.length > left ? slice(value, 0, left < 0 ? 0 : left) + "…" : value);
  if (typeof value === "bigint") return value + "n";
  if (typeof value === "symbol") return "Symbol(" + (symbolDescription(value) ?? "") + ")";
  if (typeof value === "function") return formatFunction(value as unknown as { name?: unknown });
  if (value === 0 && 1 / (value as number) < 0) return "-0";
  return toText(value);
}

function formatFunction(value: { name?: unknown }): string {
  const kind = indexOf(functionToText(value), "class ") === 0 ? "class" : "Function";
  const name = typeof value.name === "string" ? value.name : "";
  return name === ""
    ? "[" + kind + " (anonymous)]"
    : kind === "class"
      ? "[class " + name + "]"
      : "[Function: " + name + "]";
}

/** In single quotes as Node prints strings inside of objects; double ones where the text has single ones. */
function quoted(text: string): string {
  const json = stringify(text);
  if (includes(text, "'") || includes(json, '\\"')) return json;
  return "'" + slice(json, 1, json.length - 1) + "'";
}

function formatObject(format: Format, value: object, depth: number): string {
  if (mapGet(format.parents, value) === true) return "[Circular]";
  const simple = formatSimple(value);
  if (simple !== undefined) return simple;
  if (depth > MAX_DEPTH) return isArray(value) ? "[Array]" : "[" + (classOf(value) || "Object") + "]";
  mapSet(format.parents, value, true);
  const text = formatContainer(format, value, depth);
  mapSet(format.parents, value, false);
  return text;
}

function formatSimple(value: object): string | undefined {
  const time = dateGetTime(value);
  if (time !== undefined) return time === time ? dateToISOString(new NewDate(time)) : "Invalid Date";
  const source = regExpSource(value);
  if (source !== undefined) return "/" + source + "/" + regExpFlags(value);
  const error = errorLike(value);
  if (error !== undefined)
    return error.message === "" ? "[" + error.name + "]" : "[" + error.name + ": " + error.message + "]";
  return undefined;
}

function classOf(value: object): string {
  const prototype = getPrototypeOf(value) as { constructor?: { name?: unknown } } | null;
  if (prototype === null) return "[Object: null prototype]";
  if (prototype === objectPrototype) return "";
  const name = hasOwn(prototype, "constructor") ? prototype.constructor?.name : undefined;
  return typeof name === "string" ? name : "";
}

/** Lines of a container, held without a prototype so that a script's setters are never met. */
interface Parts {
  [index: number]: string;
  length: number;
  width: number;
}

function add(parts: Parts, text: string): void {
  parts[parts.length++] = text;
  parts.width += text.length + 2;
}

function newParts(): Parts {
  const parts = create(null) as Parts;
  parts.length = 0;
  parts.width = 0;
  return parts;
}

function formatContainer(format: Format, value: object, depth: number): string {
  const parts = newParts();
  const typed = typedArrayName(value);
  if (isArray(value) || typed !== undefined) {
    formatItems(format, value as unknown[], parts, depth);
    return layout(parts, typed === undefined ? "" : typed + "(" + (value as unknown[]).length + ") ", "[", "]", depth);
  }
  const size = mapSize(value);
  if (size !== undefined) {
    mapForEach(value, (item, key) => {
      if (parts.length < MAX_ITEMS)
        add(parts, formatValue(format, key, depth + 1) + " => " + formatValue(format, item, depth + 1));
    });
    return layout(withRest(parts, size), "Map(" + size + ") ", "{", "}", depth);
  }
  const items = setSize(value);
  if (items !== undefined) {
    setForEach(value, (item) => {
      if (parts.length < MAX_ITEMS) add(parts, formatValue(format, item, depth + 1));
    });
    return layout(withRest(parts, items), "Set(" + items + ") ", "{", "}", depth);
  }
  formatKeys(format, value as Record<string, unknown>, parts, depth);
  const name = classOf(value);
  return layout(parts, name === "" ? "" : name + " ", "{", "}", depth);
}

function formatItems(format: Format, items: readonly unknown[], parts: Parts, depth: number): void {
  const { length } = items;
  let holes = 0;
  for (let index = 0; index < length && parts.length < MAX_ITEMS && format.left > 0; index++) {
    if (!hasOwn(items, index)) {
      holes++;
      continue;
    }
    if (holes > 0) add(parts, "<" + holes + " empty item" + (holes > 1 ? "s" : "") + ">");
    holes = 0;
    add(parts, formatValue(format, items[index], depth + 1));
  }
  if (holes > 0) add(parts, "<" + holes + " empty item" + (holes > 1 ? "s" : "") + ">");
  withRest(parts, length);
}

function withRest(parts: Parts, total: number): Parts {
  if (total > parts.length && parts.length >= MAX_ITEMS) add(parts, "... " + (total - MAX_ITEMS) + " more items");
  return parts;
}

function formatKeys(format: Format, value: Record<string, unknown>, parts: Parts, depth: number): void {
  const keys = keysOf(value);
  for (let index = 0; index < keys.length && format.left > 0; index++) {
    const key = keys[index] as string;
    if (index === MAX_ITEMS) {
      add(parts, "... " + (keys.length - MAX_ITEMS) + " more keys");
      return;
    }
    add(parts, (isWord(key) ? key : quoted(key)) + ": " + formatValue(format, value[key], depth + 1));
  }
}

function isWord(key: string): boolean {
  for (let index = 0; index < key.length; index++) {
    const char = key[index] as string;
    const letter = (char >= "a" && char <= "z") || (char >= "A" && char <= "Z") || char === "_" || char === "$";
    if (!letter && !(index > 0 && char >= "0" && char <= "9")) return false;
  }
  return key.length > 0;
}

function layout(parts: Parts, prefix: string, open: string, close: string, depth: number): string {
  if (parts.length === 0) return "" + prefix + open + close;
  const indent = repeat("  ", depth + 1);
  const wide = parts.width + prefix.length > LINE_WIDTH;
  let text = "" + prefix + open + (wide ? "\n" + indent : " ");
  for (let index = 0; index < parts.length; index++) {
    if (index > 0) text += wide ? ",\n" + indent : ", ";
    text += parts[index] as string;
  }
  return text + (wide ? "\n" + repeat("  ", depth) + close : " " + close);
}
