import type { Program } from "acorn";
import { firstCodeAt } from "./blank.js";
import { trailingObject, wholeExpression, wholeObject } from "./expression.js";
import { blockEdits, FENCE_NOTE, fencedBlocks, scriptBlock } from "./fence.js";
import { doubleEscaped, literalNewlines } from "./literal-newlines.js";
import { scriptOfModule } from "./modules.js";
import { isFailure, type ParseFailure, parseProgram } from "./parse.js";
import { acorn, isLoaded, sucrase, within } from "./parsers.js";
import { chained, type Edit, originOf, type Rewrite, thenEdit, unchanged } from "./rewrite.js";
import { nodesOf } from "./syntax-tree.js";
import { withoutTypes } from "./typescript.js";

/** A script that parses, made of one that may not. */
export interface Reading {
  rewrite: Rewrite;
  program: Program;
  /** What was repaired: sentences for the model. */
  notes: readonly string[];
}

/** What kept a text from being a script; `offset` is that of the text. */
export interface Unreadable {
  language: "JavaScript" | "TypeScript";
  failure: ParseFailure;
  /** What the other reading found. */
  other?: ParseFailure | undefined;
}

/** True for a text that no reading made sense of. */
export const isUnreadable = (reading: Reading | Unreadable): reading is Unreadable => "failure" in reading;

const NEWLINES_NOTE =
  "The script had the two characters \\n instead of line breaks; they were turned into newlines. Send real newlines.";

/** Thrown where types would have to be stripped and nothing to strip them is loaded. */
class NeedsTypeStripper extends Error {}

/**
 * Makes sense of a text: as it is where it parses; else without prose around a code fence, as a module, as an
 * expression, with line breaks for literal `\n`, as TypeScript. What parses is never changed, except for an object
 * literal that would be read as a block and for a fence that would be read as templates.
 *
 * @param msLeft Longest time for it.
 * @throws {Error} when the time is over (code `ERR_SCRIPT_EXECUTION_TIMEOUT`), a RangeError when the stack is.
 */
export function readScript(text: string, msLeft: number): Reading | Unreadable {
  const end = performance.now() + msLeft;
  acorn();
  try {
    return within(msLeft, () => read(text));
  } catch (error) {
    if (!(error instanceof NeedsTypeStripper)) throw error;
  }
  sucrase();
  return within(end - performance.now(), () => read(text));
}

function read(text: string): Reading | Unreadable {
  const plain = parseProgram(text);
  if (!isFailure(plain) && !callsATemplate(text, plain)) return objectOr(text, plain);
  const fenced = fencedScript(text);
  if (fenced !== undefined) return fenced;
  const javaScript = asJavaScript(text);
  if (!isFailure(javaScript)) return javaScript;
  return withLineBreaks(text) ?? asTypeScript(text, javaScript);
}

function objectOr(text: string, program: Program): Reading {
  const object = text[firstCodeAt(text)] === "{" ? editedReading(unchanged(text), wholeObject(text)) : undefined;
  return object ?? { rewrite: unchanged(text), program, notes: [] };
}

/** Three backticks in a row, outside of strings and comments: an empty template that is called, which always throws. */
function callsATemplate(text: string, program: Program): boolean {
  if (!text.includes("```")) return false;
  for (const node of nodesOf([program])) {
    const { type, quasi } = node as { type: string; quasi?: { start: number } };
    if (type === "TaggedTemplateExpression" && quasi && text.startsWith("```", quasi.start - 2)) return true;
  }
  return false;
}

function fencedScript(text: string): Reading | Unreadable | undefined {
  if (fencedBlocks(text).length === 0) return undefined;
  const { block, scripts } = scriptBlock(text);
  if (block === undefined) return scripts > 1 ? severalBlocks(text, scripts) : undefined;
  const inner = thenEdit(unchanged(text), blockEdits(text, block));
  const reading = read(inner.code);
  if (!isUnreadable(reading))
    return { ...reading, rewrite: chained(inner, reading.rewrite), notes: [FENCE_NOTE, ...reading.notes] };
  return movedBack(reading, inner.steps);
}

function severalBlocks(text: string, scripts: number): Unreadable {
  const [, second] = fencedBlocks(text);
  const message = `The text holds ${scripts} blocks of code: send one script, without text around it`;
  return { language: "JavaScript", failure: { message, offset: second?.start ?? 0 } };
}

/** The code as JavaScript: a script, an expression, a module, or a script that ends in an object. */
function asJavaScript(code: string): Reading | ParseFailure {
  const base = unchanged(code);
  const object = editedReading(base, wholeObject(code));
  if (object !== undefined) return object;
  const plain = parseProgram(code);
  if (!isFailure(plain)) return { rewrite: base, program: plain, notes: [] };
  return (
    editedReading(base, wholeExpression(code)) ?? asModule(code) ?? editedReading(base, trailingObject(code)) ?? plain
  );
}

function asModule(code: string): Reading | undefined {
  if (!/\b(?:im|ex)port\b/.test(code)) return undefined;
  const module = parseProgram(code, "module");
  if (isFailure(module)) return undefined;
  const { edits, notes } = scriptOfModule(code, module);
  return editedReading(unchanged(code), edits, notes);
}

/** The edited code, if it parses. */
function editedReading(base: Rewrite, edits: readonly Edit[] | undefined, notes: string[] = []): Reading | undefined {
  if (edits === undefined) return undefined;
  const rewrite = thenEdit(base, edits);
  const program = parseProgram(rewrite.code);
  return isFailure(program) ? undefined : { rewrite, program, notes };
}

function withLineBreaks(text: string): Reading | undefined {
  for (const edits of [literalNewlines(text), doubleEscaped(text)]) {
    if (edits === undefined) continue;
    const candidate = thenEdit(unchanged(text), edits);
    const reading = read(candidate.code);
    if (isUnreadable(reading)) continue;
    return { ...reading, rewrite: chained(candidate, reading.rewrite), notes: [NEWLINES_NOTE, ...reading.notes] };
  }
  return undefined;
}

function asTypeScript(code: string, javaScript: ParseFailure): Reading | Unreadable {
  if (!isLoaded()) throw new NeedsTypeStripper();
  const stripped = withoutTypes(code);
  if (isFailure(stripped)) return furthest(javaScript, stripped);
  const reading = asJavaScript(stripped.code);
  if (!isFailure(reading)) return { ...reading, rewrite: chained(stripped, reading.rewrite) };
  return furthest(javaScript, { ...reading, offset: originOf(stripped.steps, reading.offset) });
}

/** The reading that came further is more likely the one that was meant. */
function furthest(javaScript: ParseFailure, typeScript: ParseFailure): Unreadable {
  return typeScript.offset > javaScript.offset
    ? { language: "TypeScript", failure: typeScript, other: javaScript }
    : { language: "JavaScript", failure: javaScript, other: typeScript };
}

/** The same findings in the text that the read one was made of. */
export function movedBack(unreadable: Unreadable, steps: Rewrite["steps"]): Unreadable {
  const moved = (failure: ParseFailure) => ({ ...failure, offset: originOf(steps, failure.offset) });
  const { language, failure, other } = unreadable;
  return { language, failure: moved(failure), other: other && moved(other) };
}
