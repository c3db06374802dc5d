import type { Program } from "acorn";
import { firstCodeAt, isBlankScript } from "./blank.js";
import { isFailure, parseExpression, parseProgram } from "./parse.js";
import type { Edit } from "./rewrite.js";

const inParentheses = (start: number, end: number): Edit[] => [
  // A semicolon first: the line before may have none, and would then be called.
  { start, end: start, text: start === 0 ? "(" : ";(" },
  { start: end, end, text: ")" },
];

/**
 * For a script that is one expression which cannot begin a statement: an object literal, an unnamed function or class.
 * Undefined for everything else.
 */
export function wholeExpression(code: string): Edit[] | undefined {
  return expressionToTheEnd(code, firstCodeAt(code));
}

function expressionToTheEnd(code: string, start: number): Edit[] | undefined {
  if (start >= code.length) return undefined;
  const expression = parseExpression(code, start);
  if (isFailure(expression) || !isBlankScript(code.slice(expression.end))) return undefined;
  return inParentheses(expression.start, expression.end);
}

/**
 * For a script whose last statement was meant as an object but stands as a block, and does not parse as one:
 * `const n = 1;` and then `{ count: n, next: n + 1 }` on a line of its own.
 */
export function trailingObject(code: string): Edit[] | undefined {
  const at = code.lastIndexOf("\n{");
  if (at < 0) return undefined;
  return expressionToTheEnd(code, at + 1);
}

/** True when the program is one block and nothing else, as QuickJS would run `{ a: 1 }`. */
export const isOneBlock = ({ body }: Program): boolean =>
  body
    .filter(({ type }) => type !== "EmptyStatement")
    .every(({ type }, index) => index === 0 && type === "BlockStatement");

/** The object that a script means which begins with a brace and is nothing but an object literal. */
export function wholeObject(code: string): Edit[] | undefined {
  const start = firstCodeAt(code);
  if (code[start] !== "{") return undefined;
  const edits = expressionToTheEnd(code, start);
  if (edits === undefined) return undefined;
  const program = parseProgram(code);
  // `{ a }.b` and the like are no block.
  return isFailure(program) || isOneBlock(program) ? edits : undefined;
}
