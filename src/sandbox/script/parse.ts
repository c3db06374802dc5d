import type { Expression, Options, Parser, Program } from "acorn";
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
  return attempt(() => boundedParser().parse(code, { ...OPTIONS, sourceType }));
}

/** The expression that begins at `start`; what follows it is not looked at. */
export function parseExpression(code: string, start: number): Expression | ParseFailure {
  return attempt(() => boundedParser().parseExpressionAt(code, start, OPTIONS));
}

/** True for a reading that failed. */
export const isFailure = (reading: object): reading is ParseFailure => "offset" in reading;

/** Runs a parser. Errors of its own are failures too; only that time or stack is over goes on. */
export function attempt<T>(parse: () => T): T | ParseFailure {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof Error) || error instanceof RangeError) throw error;
    const { message, pos } = error as Error & { pos?: number };
    // Both parsers write the place behind the message, and ours is another one.
    return { message: message.replace(/ \(\d+:\d+\)$/, ""), offset: pos ?? 0 };
  }
}

/**
 * Methods of the parser within one another. Honest code takes about nine a level of nesting; a main thread has stack for
 * five times as many.
 */
const MOST_DEPTH = 1_200;
/** Every method of the parser through which it can come back to itself. */
const RECURSIVE = /^(?:parse|regexp_|toAssignable|checkLVal)/;

let bounded: typeof Parser | undefined;

/**
 * A parser that gives up before the stack runs out. To let it run out is not safe: V8 ends the whole process when it has
 * to compile a regular expression with the last of the stack, and the parser is full of them.
 */
function boundedParser(): typeof Parser {
  return (bounded ??= acorn().Parser.extend((Base) => {
    class BoundedParser extends Base {
      depth = 0;
    }
    const methods = Base.prototype as unknown as Record<string, Method>;
    const wrapped = BoundedParser.prototype as unknown as Record<string, Method>;
    for (const name of Object.getOwnPropertyNames(methods)) {
      if (RECURSIVE.test(name)) wrapped[name] = withDepth(methods[name] as Method);
    }
    return BoundedParser;
  }));
}

type Method = (...args: unknown[]) => unknown;

/** A method that counts how deep it is in others. */
const withDepth = (method: Method): Method =>
  function (this: { depth: number }, ...args) {
    if (++this.depth > MOST_DEPTH) throw new RangeError("The script is nested too deeply");
    const result = method.apply(this, args);
    // Not in a finally block: after an error nobody goes on with this parser.
    this.depth--;
    return result;
  } as Method;
