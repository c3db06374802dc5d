import { firstCodeAt } from "../script/blank.js";
import { offsetOf } from "../script/places.js";
import { isUnreadable, type Reading, readScript, type Unreadable } from "../script/repair.js";
import { originOf, type Rewrite } from "../script/rewrite.js";
import { withSessionGlobals } from "../script/session-globals.js";
import { syntaxProblem } from "../script/syntax-error.js";
import { entryFunction, uncalledFunctions, uncalledNote } from "../script/uncalled.js";
import type { Pointer } from "./engine.js";
import type { Instance } from "./instance.js";
import type { GuestError } from "./protocol.js";

/** A script that has begun to run. */
export interface Started {
  /** The promise of its end. */
  promise: Pointer;
  /** The promise gives `{ value: completion }`. */
  boxed: boolean;
  /** Characters of ours before it on its first line. */
  columnShift: number;
  /** What was evaluated instead of what was sent. */
  rewrite?: Rewrite;
  notes: readonly string[];
}

/** A script that does not parse; nothing of it has run. */
export interface NotStarted {
  error: GuestError;
  /** Where in the code, when it is not in the error's own stack. */
  offset?: number;
}

/** What the engine says of a `return` outside of functions, at compile time: nothing has run. */
const RETURN_AT_TOP_LEVEL = "return not in a function";
/** Put in front of such a script, on its first line, with no name in scope. */
const WRAPPER_START = "(async()=>{";

/**
 * Starts a script: as it was sent wherever the engine takes it, which costs no look at its text but at its first
 * character. What does not parse is repaired, if `msLeft` is enough for it.
 */
export function startScript(instance: Instance, code: string, msLeft: number): Started | NotStarted {
  const looked = mayBeMisread(code) ? read(code, msLeft) : undefined;
  const early = looked && startRead(instance, code, looked);
  if (early !== undefined) return early;
  const plain = evaluate(instance, code);
  if (!("error" in plain) || plain.error.name !== "SyntaxError") return plain;
  const reading = looked ?? read(code, msLeft);
  if (reading === undefined) return plain;
  if (isUnreadable(reading)) return notStarted(code, reading);
  return startRead(instance, code, reading) ?? plain;
}

/**
 * Starts a script whose top-level declarations are to stay for the next one in the same memory. This one is always read:
 * what it declares has to be known. What cannot be read runs as any other, and its declarations may be lost.
 */
export function startSessionScript(instance: Instance, code: string, msLeft: number): Started | NotStarted {
  const reading = read(code, msLeft);
  if (reading === undefined || isUnreadable(reading)) return startScript(instance, code, msLeft);
  const { rewrite, insideWith } = withSessionGlobals(reading);
  const declared = insideWith === undefined || insideWith.length === 0 ? "" : `var ${insideWith.join(",")};`;
  const started = evaluate(instance, rewrite.code, declared + WRAPPER_START);
  if (!("error" in started)) return { ...started, rewrite, notes: reading.notes };
  return { error: started.error, offset: placeOf(started.error, rewrite) };
}

/** An object literal that the engine would take for a block, or a code fence that it would take for templates. */
const mayBeMisread = (code: string): boolean => code[firstCodeAt(code)] === "{" || code.includes("```");

/** Undefined when there was no parser, or no time or stack for it: then the engine's own word stands. */
function read(code: string, msLeft: number): Reading | Unreadable | undefined {
  try {
    return readScript(code, msLeft);
  } catch {
    return undefined;
  }
}

/** Starts what was read, if it is another code than what was sent. */
function startRead(instance: Instance, code: string, reading: Reading | Unreadable): Started | NotStarted | undefined {
  // Several blocks of code would run as templates: that they are none is certain.
  if (isUnreadable(reading)) return reading.other === undefined ? notStarted(code, reading) : undefined;
  const { rewrite, notes } = reading;
  if (rewrite.code === code) return undefined;
  const started = evaluate(instance, rewrite.code);
  if (!("error" in started)) return { ...started, rewrite, notes };
  return { error: started.error, offset: placeOf(started.error, rewrite) };
}

/** Where in the code that was sent an error of the engine's parser is. */
function placeOf(error: GuestError, rewrite: Rewrite): number {
  const match = /script\.js:(\d+):(\d+)/.exec(error.stack);
  const at = match === null ? 0 : offsetOf(rewrite.code, Number(match[1]), Number(match[2]));
  return originOf(rewrite.steps, at);
}

function notStarted(code: string, unreadable: Unreadable): NotStarted {
  const { message } = syntaxProblem(code, unreadable);
  return { error: { name: "SyntaxError", message, stack: "" }, offset: unreadable.failure.offset };
}

function evaluate(instance: Instance, code: string, wrapper = WRAPPER_START): Started | NotStarted {
  const plain = instance.evaluate(code, true);
  if (plain.error === undefined) return { promise: plain.value, boxed: true, columnShift: 0, notes: [] };
  const error = JSON.parse(plain.error) as GuestError;
  if (error.message !== RETURN_AT_TOP_LEVEL) return { error };
  // A first line for a shell becomes a comment: inside of a function it is none.
  const inside = code.startsWith("#!") ? `//${code.slice(2)}` : code;
  const wrapped = instance.evaluate(`${wrapper}${inside}\n})()`, false);
  const columnShift = wrapper.length;
  if (wrapped.error === undefined) return { promise: wrapped.value, boxed: false, columnShift, notes: [] };
  return { error: unshifted(JSON.parse(wrapped.error) as GuestError, columnShift) };
}

/** The error without the wrapper in its place. */
const unshifted = (error: GuestError, columns: number): GuestError => ({
  ...error,
  stack: error.stack.replace(/script\.js:1:(\d+)/, (_all, column: string) => {
    return `script.js:1:${Math.max(1, Number(column) - columns)}`;
  }),
});

/** A line that may declare a function. */
const DECLARES_FUNCTION =
  /(?:^|;)[ \t]*(?:async[ \t]+)?function\b|(?:^|;)[ \t]*(?:const|let|var)[ \t]+[\w$]+[ \t]*=[ \t]*(?:async\b|function\b|\(|[\w$]+[ \t]*=>)/m;

/**
 * For a script that gave nothing: the function it declares and never calls, which is then to be called, or what to say.
 * `code` is what was evaluated. Undefined when it is any other script.
 */
export function uncalledIn(code: string, msLeft: number): { call: string | undefined; note: string } | undefined {
  if (!DECLARES_FUNCTION.test(code)) return undefined;
  const reading = read(code, msLeft);
  if (reading === undefined || isUnreadable(reading)) return undefined;
  const functions = uncalledFunctions(code, reading.program);
  if (functions.length === 0) return undefined;
  const entry = entryFunction(functions);
  return { call: entry?.name, note: uncalledNote(functions, entry) };
}
