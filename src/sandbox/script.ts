import type { Program } from "acorn";

/** Code as the engine takes it, and where it stood in the text that was sent. */
export interface PreparedScript {
  code: string;
  /** Lines of the text before the code. */
  lineOffset: number;
  /** What was repaired: sentences for the model. */
  notes: readonly string[];
}

const FENCE = /^[ \t]*(`{3,}|~{3,})[ \t]*[\w+.-]*[^\n`]*$/;

/**
 * Makes a model's text a script: takes off a code fence around the whole text. Everything else (top-level `await` and
 * `return`, a last expression, a function as the whole script) the engine takes as it is. Never changes code.
 */
export function prepareScript(text: string): PreparedScript {
  const lines = text.split("\n");
  const first = lines.findIndex((line) => line.trim() !== "");
  const open = FENCE.exec((lines[first] ?? "").trimEnd());
  if (first < 0 || open === null) return { code: text, lineOffset: 0, notes: [] };
  const fence = open[1] ?? "```";
  let end = lines.length - 1;
  while (end > first && (lines[end] ?? "").trim() === "") end--;
  const closed = end > first && (lines[end] ?? "").trim() === fence;
  return { code: lines.slice(first + 1, closed ? end : lines.length).join("\n"), lineOffset: first + 1, notes: [] };
}

/** True when there is nothing to run: only white space and comments. */
export function isBlankScript(code: string): boolean {
  let at = 0;
  for (;;) {
    while (at < code.length && /[\s;\uFEFF]/.test(code[at] ?? "")) at++;
    if (at >= code.length) return true;
    const end = code.startsWith("//", at)
      ? code.indexOf("\n", at)
      : code.startsWith("/*", at)
        ? code.indexOf("*/", at + 2) + 2
        : undefined;
    if (end === undefined) return false;
    if (end < 2) return true; // a comment to the end of the text
    at = end;
  }
}

/**
 * A script as the body of an async function that returns its result, for sandboxes that cannot evaluate a script and
 * give its last value: the last expression is returned, and called if it is a function. What does not parse comes back
 * unchanged, so that the sandbox reports the error in the model's own text.
 */
export async function toFunctionBody(text: string): Promise<string> {
  const { code } = prepareScript(text);
  const { parse } = await import("acorn");
  let program: Program;
  try {
    program = parse(code, {
      ecmaVersion: "latest",
      allowReturnOutsideFunction: true,
      allowAwaitOutsideFunction: true,
      allowHashBang: true,
    });
  } catch {
    return code;
  }
  const last = program.body.findLast((statement) => statement.type !== "EmptyStatement");
  if (last?.type !== "ExpressionStatement")
    return `${code}\n;return typeof RESULT === "undefined" ? undefined : RESULT;`;
  const { start, end, type } = last.expression;
  const isFunction = type === "ArrowFunctionExpression" || type === "FunctionExpression";
  return `${code.slice(0, last.start)}return (${code.slice(start, end)})${isFunction ? "()" : ""};${code.slice(last.end)}`;
}
