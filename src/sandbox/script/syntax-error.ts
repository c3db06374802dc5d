import type { ParseFailure } from "./parse.js";
import { type Place, placeOf } from "./places.js";
import type { Unreadable } from "./repair.js";

/** A syntax error as the model reads it. */
export interface SyntaxProblem extends Place {
  message: string;
}

/** What both readings of a text found, and the place of the one that came further. */
export function syntaxProblem(text: string, { language, failure, other }: Unreadable): SyntaxProblem {
  const place = placeOf(text, failure.offset);
  const found = describe(text, failure);
  if (other === undefined) return { message: found, ...place };
  const otherFound = describe(text, other);
  const otherLanguage = language === "JavaScript" ? "TypeScript" : "JavaScript";
  if (other.offset === failure.offset && withoutEnd(otherFound) === withoutEnd(found))
    return { message: `${found} (read as JavaScript and as TypeScript)`, ...place };
  const at = other.offset === failure.offset ? "" : ` (${placeText(placeOf(text, other.offset))})`;
  return { message: `As ${language}: ${found}. As ${otherLanguage}: ${otherFound}${at}.`, ...place };
}

const placeText = ({ line, column }: Place): string => `line ${line}, column ${column}`;
const withoutEnd = (message: string): string => message.replace(/, expected .*$/, "");

/** The parser's words, with what stands at the place. */
function describe(text: string, { message, offset }: ParseFailure): string {
  const match = /^Unexpected (?:token|character)\b(.*)$/s.exec(message);
  if (match === null) return message;
  const rest = (match[1] ?? "").startsWith(", expected") ? match[1] : "";
  return `${unexpected(text, offset)}${rest ?? ""}`;
}

const MOST_SHOWN = 30;

function unexpected(text: string, offset: number): string {
  const code = text.codePointAt(offset);
  if (code === undefined) return "Unexpected end of the script";
  const char = String.fromCodePoint(code);
  if (/[\p{C}\p{Z}\p{M}]/u.test(char))
    return `Unexpected character U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  const word = /^[\p{L}\p{N}_$]+/u.exec(text.slice(offset, offset + MOST_SHOWN));
  return `Unexpected ${word === null ? `token '${char}'` : `'${word[0]}'`}`;
}

/** What to do about a syntax error, where the text tells. */
export function syntaxHint(text: string, offset: number): string | undefined {
  const line = lineAt(text, offset);
  for (const { when, hint } of HINTS)
    if (when({ text, line, before: line.text.slice(0, line.at), char: text[offset] ?? "" })) return hint;
  return undefined;
}

interface Around {
  text: string;
  line: { text: string; at: number };
  /** The line up to the place. */
  before: string;
  char: string;
}

const HINTS: readonly { when: (around: Around) => boolean; hint: string }[] = [
  {
    when: ({ char }) => char === "\0",
    hint: "The script holds a NUL character (U+0000): take it out, or write it as \\0 inside a string.",
  },
  {
    when: ({ text }) => !text.includes("\n") && text.includes("\\n"),
    hint: "The script has the two characters \\n where a line should end. Send real newlines.",
  },
  {
    when: ({ text }) => /^[ \t]*(?:`{3}|~{3})/m.test(text) && !text.trimStart().startsWith("```"),
    hint: "Send only the script: one block of code, without text around it.",
  },
  {
    when: ({ char }) => "“”„‘’‚«»".includes(char || " "),
    hint: "The script has typographic quotes. Write strings in ' or \" or `.",
  },
  {
    when: ({ before, line }) => /\bawait\s*$/.test(before) || /^await\b/.test(line.text.slice(line.at)),
    hint: "`await` works at the top level and in async functions only: write `async` before the function around it.",
  },
  {
    when: ({ text }) => /^(?:def \w+\(|from \w+ import |import \w+$|print\(|elif |if .*:$|for \w+ in .*:$)/m.test(text),
    hint: "Scripts are JavaScript or TypeScript, not Python.",
  },
  {
    when: ({ text }) =>
      /(?:return|=>|=|\()\s*<[A-Z]?[a-z]*\b[^<>]*>/.test(text.slice(0, 10_000)) && text.includes("</"),
    hint: "JSX is not supported: return plain data.",
  },
];

function lineAt(text: string, offset: number): { text: string; at: number } {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  const end = text.indexOf("\n", offset);
  return { text: text.slice(start, end < 0 ? text.length : end).slice(0, 1000), at: Math.min(offset - start, 1000) };
}
