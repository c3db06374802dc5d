import type { ModuleDeclaration, Statement } from "acorn";
import type { ScriptError } from "../provider.js";
import { prepareScript } from "./prepare.js";
import { codeFrame } from "./places.js";
import { isUnreadable, movedBack, type Reading, readScript, type Unreadable } from "./repair.js";
import { type Edit, thenEdit } from "./rewrite.js";
import { syntaxHint, syntaxProblem } from "./syntax-error.js";
import { entryFunction, uncalledFunctions, uncalledNote } from "./uncalled.js";

/** A script for a sandbox that runs function bodies. */
export interface FunctionBody {
  body: string;
  /** What was repaired: sentences for the model. */
  notes: readonly string[];
  /** Why the script cannot run. The body is then its text, which the sandbox would refuse in its own words. */
  error?: ScriptError;
}

/** Longest time to read a script on the host's own thread, in milliseconds. */
const MOST_READ_MS = 500;

/**
 * A script as the body of an async function that returns its result, for sandboxes that cannot evaluate a script and
 * give its last value. The last expression is returned, also inside of `if` and `try`; a function is called. Lines stay
 * where they are. Never rejects.
 */
export async function toFunctionBody(text: string): Promise<FunctionBody> {
  const prepared = prepareScript(text);
  try {
    const reading = readScript(prepared.code, MOST_READ_MS);
    if (isUnreadable(reading))
      return { body: prepared.code, notes: [], error: syntaxError(text, movedBack(reading, prepared.steps)) };
    const { body, notes } = bodyOf(reading);
    return { body, notes: [...prepared.notes, ...notes] };
  } catch (error) {
    return { body: prepared.code, notes: [], error: unread(error) };
  }
}

function bodyOf({ rewrite, program, notes }: Reading): FunctionBody {
  const { code } = rewrite;
  const functions = uncalledFunctions(code, program);
  const entry = entryFunction(functions);
  const edits = code.startsWith("#!") ? [{ start: 0, end: 2, text: "//" }] : [];
  const last = program.body.findLast(({ type }) => !PASSED_OVER.has(type));
  if (last !== undefined) addReturns(code, last, edits);
  const made = thenEdit(rewrite, edits).code;
  const missing = `return typeof RESULT === "undefined" ? ${entry?.name ?? "undefined"} : RESULT;`;
  return {
    // The script has a scope of its own, with no name of ours in it. A result that is a function, as models like to write, is called.
    body: `${CALL_FUNCTION}((async () => {${made}\n;${missing}})());`,
    notes: functions.length === 0 ? notes : [...notes, uncalledNote(functions, entry)],
  };
}

const CALL_FUNCTION =
  'return (async (value) => { value = await value; return typeof value === "function" && !/^class\\b/.test(Function.prototype.toString.call(value)) ? value() : value; })';

/** After the last expression these change nothing: functions are declared before the script starts. */
const PASSED_OVER: ReadonlySet<string> = new Set(["EmptyStatement", "FunctionDeclaration"]);

/** Puts `return` before the expressions that the statement can end with. */
function addReturns(code: string, statement: Statement | ModuleDeclaration, edits: Edit[]): void {
  switch (statement.type) {
    case "ExpressionStatement": {
      const { start, end } = statement;
      const close = code[end - 1] === ";" ? end - 1 : end;
      const open = code.includes("RESULT")
        ? 'return ((value) => typeof RESULT === "undefined" ? value : RESULT)('
        : "return (";
      edits.push({ start, end: start, text: open }, { start: close, end: close, text: ")" });
      return;
    }
    case "BlockStatement": {
      const last = statement.body.findLast(({ type }) => !PASSED_OVER.has(type));
      if (last !== undefined) addReturns(code, last, edits);
      return;
    }
    case "IfStatement":
      addReturns(code, statement.consequent, edits);
      if (statement.alternate) addReturns(code, statement.alternate, edits);
      return;
    case "TryStatement":
      addReturns(code, statement.block, edits);
      if (statement.handler) addReturns(code, statement.handler.body, edits);
      return;
    default:
  }
}

function syntaxError(text: string, unreadable: Unreadable): ScriptError {
  const { message, line, column } = syntaxProblem(text, unreadable);
  const hint = syntaxHint(text, unreadable.failure.offset);
  const frame = codeFrame(text, { line, column });
  return { kind: "syntax", name: "SyntaxError", message, line, column, frame, ...(hint === undefined ? {} : { hint }) };
}

/** The parsers stopped for want of time or stack, on text that no model writes. */
function unread(error: unknown): ScriptError {
  if (error instanceof RangeError)
    return { kind: "stack", name: "StackError", message: "Stack overflow: the script is nested too deeply." };
  const isLate = (error as { code?: unknown }).code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
  if (!isLate) throw error;
  return { kind: "timeout", name: "TimeoutError", message: `The script took longer than ${MOST_READ_MS} ms to read.` };
}
