import { escapeUnprintable } from "./untrusted-text.js";

/** Words that cannot be the name of a function or variable in a module, and names that would change what a script means. */
const RESERVED_WORDS = new Set(
  `arguments await break case catch class const continue debugger default delete do else enum eval export extends false
  finally for function if implements import in instanceof interface let new null package private protected public return
  static super switch this throw true try typeof var void while with yield`.split(/\s+/),
);

/**
 * Globals a script needs. A tool of that name would hide them where tools are bare functions or imported by name. `then`
 * would make `tools` a thenable that `await` calls; `__proto__` names a prototype in an object literal.
 */
const SCRIPT_GLOBALS = new Set(
  `AggregateError Array ArrayBuffer Atomics BigInt BigInt64Array BigUint64Array Boolean DataView Date Error
  EvalError Float32Array Float64Array Function Infinity Int16Array Int32Array Int8Array Intl Iterator JSON Map Math NaN
  Number Object Promise Proxy RESULT RangeError ReferenceError Reflect RegExp Set String Symbol SyntaxError
  TextDecoder TextEncoder TypeError URIError URL URLSearchParams Uint16Array Uint32Array Uint8Array Uint8ClampedArray
  WeakMap WeakRef WeakSet __proto__ args artifact atob btoa call_tool clearInterval clearTimeout console crypto decodeURI
  decodeURIComponent emit encodeURI encodeURIComponent env escape get_schema globalThis inputs isFinite isNaN parseFloat
  parseInt performance progress queueMicrotask search_tools setInterval setTimeout sleep spec state structuredClone then
  tools undefined unescape workspace`.split(/\s+/),
);

const ASCII_IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
const UNICODE_IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;
const IDENTIFIER_START = /^[\p{ID_Start}$_]/u;
/** Letters that do not show (Hangul fillers, variation selectors) are legal in identifiers, and a trap for readers. */
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/u;
const NOT_IN_IDENTIFIER = /(?:[^\p{ID_Continue}$]|\p{Default_Ignorable_Code_Point})+/gu;

/** A made-up identifier is at most this long, its number included. A name that is legal itself is kept at any length. */
const MAX_IDENTIFIER_CHARACTERS = 64;

/**
 * True for text that can name a variable or function: no reserved word, no unseen character.
 *
 * @example
 * isIdentifier("create_issue"); // true
 * isIdentifier("list-pages"); // false
 */
export function isIdentifier(text: string): boolean {
  return isName(text) && !RESERVED_WORDS.has(text);
}

/**
 * How scripts call each tool: name -> identifier, all different. Names that are identifiers keep themselves, whatever
 * else is there, so `a_b` is never taken by `a-b`. Others are spelt with `_` (`list-pages` -> `list_pages`, `2fa` ->
 * `_2fa`); reserved words and globals get a trailing `_` (`delete_`); what collides then is numbered in the order of the
 * names (`a_b_2`). Depends on the set of names only, not on their order.
 *
 * @example
 * identifiersFor(["a-b", "a_b"]); // Map { "a-b" => "a_b_2", "a_b" => "a_b" }
 */
export function identifiersFor(names: Iterable<string>): Map<string, string> {
  const unique = [...new Set(names)];
  const kept = new Set(unique.filter(keepsItsName));
  const given = new Map<string, string>();
  const assign = uniqueNames(kept, MAX_IDENTIFIER_CHARACTERS, "_");
  for (const name of unique.filter((candidate) => !kept.has(candidate)).sort()) {
    given.set(name, assign(spelling(name)));
  }
  return new Map(unique.map((name) => [name, given.get(name) ?? name]));
}

/**
 * Gives names that are not taken yet: itself, else `separator` and the next free number from 2 on. `taken` grows.
 * `maxCharacters` bounds numbered names.
 */
export function uniqueNames(taken: Set<string>, maxCharacters: number, separator: string): (wanted: string) => string {
  const nextNumbers = new Map<string, number>();
  return (wanted) => {
    let name = wanted;
    let number = nextNumbers.get(wanted) ?? 2;
    while (taken.has(name)) {
      const suffix = `${separator}${number++}`;
      name = `${head(wanted, maxCharacters - suffix.length)}${suffix}`;
    }
    nextNumbers.set(wanted, number);
    taken.add(name);
    return name;
  };
}

/**
 * A string literal that JavaScript, TypeScript and JSON read back as the same text. One line, every unseen character
 * escaped, and without the end of a comment (a slash after a star is escaped).
 */
export function stringLiteral(text: string): string {
  return escapeUnprintable(JSON.stringify(text)).replaceAll("*/", "*\\/");
}

/** A key of an object or object type: bare where it is a plain ASCII name, else quoted. */
export function propertyKey(key: string): string {
  return ASCII_IDENTIFIER.test(key) && key !== "__proto__" ? key : stringLiteral(key);
}

/**
 * The expression that reads a member: with a dot where the grammar allows it, else with brackets.
 *
 * @example
 * memberAccess("tools", "list_pages"); // tools.list_pages
 * memberAccess("row", "due date"); // row["due date"]
 */
export function memberAccess(object: string, key: string): string {
  return isName(key) ? `${object}.${key}` : `${object}[${stringLiteral(key)}]`;
}

/** Legal after a dot: reserved words too. */
function isName(text: string): boolean {
  return ASCII_IDENTIFIER.test(text) || (UNICODE_IDENTIFIER.test(text) && !IGNORABLE.test(text));
}

function keepsItsName(name: string): boolean {
  return isIdentifier(name) && !SCRIPT_GLOBALS.has(name);
}

/** An identifier that reads like the name. Different names may be spelt alike. */
function spelling(name: string): string {
  const replaced = name
    .slice(0, 4 * MAX_IDENTIFIER_CHARACTERS)
    .normalize("NFKC")
    .replace(NOT_IN_IDENTIFIER, "_");
  const readable = /[^_]/.test(replaced) ? replaced : "tool";
  const started = IDENTIFIER_START.test(readable) ? readable : `_${readable}`;
  const text = head(started, MAX_IDENTIFIER_CHARACTERS - 1);
  return keepsItsName(text) ? text : `${text}_`;
}

/** At most `units` UTF-16 units, never half a character. */
function head(text: string, units: number): string {
  return text.slice(0, units).replace(/[\uD800-\uDBFF]$/, "");
}
