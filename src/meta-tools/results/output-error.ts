import type { ErrorKind } from "../../errors.js";
import type { ExecuteResultSerializer } from "../meta-tool.js";
import { failureText, textResult } from "./text.js";

/** The script's own fault: the model reads it and writes a better one. Everything else failed outside of it. */
const SCRIPT_FAULTS: ReadonlySet<ErrorKind> = new Set(["syntax", "runtime"]);

/**
 * A success is the value, as {@link textResult} prints it. A script that fails by itself is a reply with two fields, what
 * it had printed and how it failed: `{ "output": "loaded 3 rows", "error": "TypeError: ..." }`. A tool that fails, a
 * refused call and a limit are failed replies (`isError`).
 *
 * @example
 * codeMode({ executeResultSerializer: outputErrorResult() });
 */
export function outputErrorResult(): ExecuteResultSerializer {
  const asText = textResult();
  return function serializeOutputError(outcome) {
    if (outcome.status !== "failed" || !SCRIPT_FAULTS.has(outcome.error.kind)) return asText(outcome);
    return JSON.stringify({ output: outcome.stdout, error: failureText(outcome) });
  };
}
