import type { Node } from "acorn";
import { firstCodeAt } from "./blank.js";
import { attempt, isFailure, type ParseFailure, parseProgram } from "./parse.js";
import { sucrase } from "./parsers.js";
import { type Edit, originOf, type Rewrite, thenEdit, thenStep, unchanged } from "./rewrite.js";
import { nodesOf } from "./syntax-tree.js";

/** A value of a namespace exists only at run time, and the type stripper drops it without a word. */
const NAMESPACE = /^[ \t]*(?:export[ \t]+)?(?:namespace|module)[ \t]+[\w$.]+[ \t]*\{/m;

/** What the type stripper writes before each of its messages. */
const PREFIX = /^Error transforming script: /;

/**
 * The code without its types; enums and parameter properties become JavaScript. Lines stay as they are. Accepts much
 * that is neither TypeScript nor JavaScript: what comes out has to be parsed.
 */
export function withoutTypes(code: string): Rewrite | ParseFailure {
  const stripped = attempt(() => strip(code));
  if (isFailure(stripped)) return { ...stripped, message: stripped.message.replace(PREFIX, "") };
  const namespace = NAMESPACE.exec(code);
  if (namespace !== null)
    return { message: "Namespaces are not supported: use an object", offset: namespace.index + namespace[0].length };
  return withSemicolons(code, stripped);
}

function strip(code: string): Rewrite {
  const { transform } = sucrase();
  const result = transform(code, {
    transforms: ["typescript"],
    disableESTransforms: true,
    preserveDynamicImport: true,
    filePath: "script",
    sourceMapOptions: { compiledFilename: "script" },
  });
  const pieces = piecesOf(result.sourceMap?.mappings ?? "", result.code, code);
  return thenStep(unchanged(code), result.code, pieces);
}

/** Pairs of offsets from a source map in which each line maps to the line of the same number. */
function piecesOf(mappings: string, made: string, source: string): number[] {
  const pieces: number[] = [];
  let [madeLine, sourceLine, sourceColumn] = [0, 0, 0];
  for (const line of mappings.split(";")) {
    let column = 0;
    for (const segment of line === "" ? [] : line.split(",")) {
      const [columns = 0, , , sourceColumns = 0] = numbersOf(segment);
      column += columns;
      sourceColumn += sourceColumns;
      pieces.push(madeLine + column, keptPlace(made, madeLine + column, source, sourceLine + sourceColumn));
    }
    madeLine = nextLine(made, madeLine);
    sourceLine = nextLine(source, sourceLine);
  }
  return pieces;
}

/** The map gives the place of the first token there, which may be one that was left out before the one that was kept. */
function keptPlace(made: string, at: number, source: string, from: number): number {
  for (let place = from; place < source.length && source[place] !== "\n"; place++) {
    if (source[place] === made[at]) return place;
  }
  return from;
}

function nextLine(text: string, from: number): number {
  const at = text.indexOf("\n", from);
  return at < 0 ? text.length : at + 1;
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** The numbers of one segment of a source map: base 64, five bits a digit, the sign in the lowest one. */
function numbersOf(segment: string): number[] {
  const numbers: number[] = [];
  let [value, shift] = [0, 0];
  for (const digit of segment) {
    const bits = DIGITS.indexOf(digit);
    value |= (bits & 31) << shift;
    shift += 5;
    if (bits & 32) continue;
    numbers.push(value & 1 ? -(value >> 1) : value >> 1);
    [value, shift] = [0, 0];
  }
  return numbers;
}

/** Types that end a statement without a semicolon, and statements that are nothing but types. */
const OF_EXPRESSION = /^(?:as|satisfies)\b/;
const OF_STATEMENT = /^(?:type|interface|declare|import|export|abstract)\b/;

/**
 * A type between two statements can be all that kept them apart: without it `const a = 1 as A` and a next line that
 * begins with a parenthesis become one call. Puts a semicolon there.
 */
function withSemicolons(source: string, stripped: Rewrite): Rewrite {
  const { code, steps } = stripped;
  const program = parseProgram(code, "module");
  if (isFailure(program)) return stripped;
  const edits: Edit[] = [];
  for (const node of nodesOf([program])) {
    const { left, isOperator } = leftPartOf(node);
    if (left === undefined) continue;
    const start = originOf(steps, left.end - 1) + 1;
    const removed = source.slice(start, originOf(steps, firstCodeAt(code, left.end)));
    if (!removed.includes("\n")) continue;
    const first = removed.slice(firstCodeAt(removed));
    if (OF_STATEMENT.test(first) || (!isOperator && OF_EXPRESSION.test(first)))
      edits.push({ start: left.end, end: left.end, text: ";" });
  }
  return edits.length === 0 ? stripped : thenEdit(stripped, edits);
}

/** What stands before a token that can go on with an expression as well as begin a statement. */
function leftPartOf(node: Node): { left?: Node; isOperator?: boolean } {
  const { type, callee, object, computed, tag, left, operator } = node as Node & Record<string, Node | undefined>;
  if (type === "CallExpression" && callee) return { left: callee };
  if (type === "MemberExpression" && computed && object) return { left: object };
  if (type === "TaggedTemplateExpression" && tag) return { left: tag };
  const isSign = type === "BinaryExpression" && ["+", "-", "/"].includes(operator as unknown as string);
  return isSign && left ? { left, isOperator: true } : {};
}
