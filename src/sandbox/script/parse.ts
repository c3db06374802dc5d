import type { Expression, Options, Program } from "acorn";
import { acorn } from "./parsers.js";

/** Why a reading of a script failed. `offset` is that of the code that was read. */
export interface ParseFailure {
  message: string;
  offset: number;
}

const OPTIONS: Options = {
  ecmaVersion: "latest",
  allowReturnOutsideFunction: true,
  allowAwaitOutsideFunction: true,
  allowHashBang: true,
};

/** The code as a script with `return` and `await` at its top level, or as a module. */
export function parseProgram(code: string, sourceType: "script" | "module" = "script"): Program | ParseFailure {
  return attempt(() => acorn().parse(code, { ...OPTIONS, sourceType }));
}

/** The expression that begins at `start`; what follows it is not looked at. */
export function parseExpression(code: string, start: number): Expression | ParseFailure {
  return attempt(() => acorn().parseExpressionAt(code, start, OPTIONS));
}

/** True for a reading that failed. */
export const isFailure = (reading: object): reading is ParseFailure => "offset" in reading;

/** Runs a parser. Anything but a syntax error goes on: time or stack is over. */
export function attempt<T>(parse: () => T): T | ParseFailure {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const { message, pos } = error as SyntaxError & { pos?: number };
    // Both parsers write the place behind the message, and ours is another one.
    return { message: message.replace(/ \(\d+:\d+\)$/, ""), offset: pos ?? 0 };
  }
}
