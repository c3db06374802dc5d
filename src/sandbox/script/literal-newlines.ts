import type { Edit } from "./rewrite.js";

const BREAKS: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r" };

/**
 * For a script on one line with the two characters `\n` where a line should end, as an extra round of escaping leaves
 * them: the edits that put line breaks and tabs there. Only outside of strings, templates, regular expressions and
 * block comments; undefined when there is nothing to replace.
 */
export function literalNewlines(code: string): Edit[] | undefined {
  if (code.includes("\n") || !code.includes("\\n")) return undefined;
  const edits: Edit[] = [];
  let before = "";
  let wordEnd = -1;
  for (let at = 0; at < code.length;) {
    const char = code[at] ?? "";
    const broken = char === "\\" ? BREAKS[code[at + 1] ?? ""] : undefined;
    if (broken !== undefined) {
      edits.push({ start: at, end: at + 2, text: broken });
      at += 2;
      continue;
    }
    const end = literalEnd(code, at, before);
    if (end > at + 1) before = "literal";
    else if (WORD.test(char)) {
      before = wordEnd === at ? before + char : char;
      wordEnd = end;
    } else if (char.trim() !== "") before = char;
    at = end;
  }
  return edits.length === 0 ? undefined : edits;
}

const WORD = /[\w$]/;
/** After these a slash begins a regular expression; after any other word, and after a closing bracket, it divides. */
const BEFORE_VALUE: ReadonlySet<string> = new Set([
  "",
  ..."( , = : [ ! & | ? { } ; + - * % < > ~ ^".split(" "),
  ..."return typeof case in of void delete await yield else do".split(" "),
]);

/** Where the string, template, regular expression or comment that begins at `at` ends; `at + 1` when none begins there. */
function literalEnd(code: string, at: number, before: string): number {
  const char = code[at] ?? "";
  if (char === '"' || char === "'" || char === "`") return closed(code, at + 1, char);
  if (char !== "/") return at + 1;
  // What was meant as a line break ends a line comment.
  if (code[at + 1] === "/") return orEnd(code, code.indexOf("\\n", at));
  if (code[at + 1] === "*") return orEnd(code, code.indexOf("*/", at + 2) + 2, 2);
  return BEFORE_VALUE.has(before) ? closed(code, at + 1, "/") : at + 1;
}

/** The index, or the code's end where nothing was found. */
const orEnd = (code: string, found: number, least = 0): number => (found < least ? code.length : found);

function closed(code: string, from: number, quote: string): number {
  for (let at = from; at < code.length; at++) {
    if (code[at] === "\\") at++;
    else if (code[at] === quote) return at + 1;
  }
  return code.length;
}

/** The edits that decode the same script when every quote was escaped too: JSON text without its outer quotes. */
export function doubleEscaped(code: string): Edit[] | undefined {
  if (code.includes("\n") || !code.includes("\\n") || !code.includes('\\"')) return undefined;
  const edits: Edit[] = [];
  for (let at = 0; at < code.length; at++) {
    if (code[at] === '"') return undefined;
    if (code[at] !== "\\") continue;
    const end = at + (code[at + 1] === "u" ? 6 : 2);
    const text = decoded(code.slice(at, end));
    if (text === undefined) return undefined;
    edits.push({ start: at, end, text });
    at = end - 1;
  }
  return edits;
}

function decoded(escape: string): string | undefined {
  try {
    return JSON.parse(`"${escape}"`) as string;
  } catch {
    return undefined;
  }
}
