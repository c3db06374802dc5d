import type { ErrorKind } from "../../errors.js";
import { ConfigurationError } from "../../errors.js";
import type { SandboxLimitValues } from "../limits.js";
import type { CallAnswer, SandboxResult, SandboxRunOptions } from "../provider.js";
import { isBlankScript, prepareScript } from "../script.js";
import type { RunStart } from "./host-run.js";

/** The result of a run that is not even started; undefined: it may start. */
export function refuseBadRun(
  code: string,
  options: SandboxRunOptions,
  limits: SandboxLimitValues,
): SandboxResult | undefined {
  if (typeof code !== "string") throw new ConfigurationError(`The code of a run must be a string; got ${typeof code}`);
  const bytes = Buffer.byteLength(code);
  if (bytes > limits.maxCodeBytes) {
    return failure(
      "limit",
      "LimitError",
      `The script has ${bytes} bytes; the limit is ${limits.maxCodeBytes} (maxCodeBytes). Send a shorter one.`,
    );
  }
  if (options.signal?.aborted === true) return failure("cancelled", "CancelledError", "The run was cancelled.");
  if (isBlankScript(prepareScript(code).code)) {
    return failure("validation", "ValidationError", "The script is empty. Write JavaScript that returns a value.");
  }
  return undefined;
}

/** A result for a run that did not happen. */
export function failure(kind: ErrorKind, name: string, message: string): SandboxResult {
  return { status: "failed", error: { kind, name, message }, logs: [], notes: [], stats: {} };
}

/** What a run of new code starts from. */
export const startOf = (code: string): RunStart => ({ sent: code, script: prepareScript(code) });

/** What a paused script goes on from. */
export const resumeOf = (snapshot: Uint8Array, answers: readonly CallAnswer[], code = ""): RunStart => ({
  sent: code,
  // What was repaired was said when the script began.
  script: { ...prepareScript(code), notes: [] },
  resume: { snapshot, answers },
});
