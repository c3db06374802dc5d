import type { ErrorKind } from "../../errors.js";
import type { ExecuteOutcome, ExecuteResultSerializer } from "../meta-tool.js";
import { suspendedText } from "./suspended.js";
import { failureText } from "./text.js";

/** What became of a script, in the words of a process. */
export interface ExecResult {
  /** Lines of console.log, info and debug. */
  stdout: string;
  /** Lines of console.warn and error. */
  stderr: string;
  /** The value; null without one. */
  result: unknown;
  /** How it failed; null when it did not. */
  error: string | null;
  /** 0: completed. 1: the script failed. null: the host ended it, or it is paused. */
  returncode: 0 | 1 | null;
  duration_seconds: number;
  /** In the order of the script's calls. */
  tool_calls: { server: string | null; tool: string; duration_seconds: number; ok: boolean }[];
}

const ENDED_BY_HOST: ReadonlySet<ErrorKind> = new Set(["timeout", "memory", "stack", "cancelled", "sandbox"]);

/** An outcome as an {@link ExecResult}. */
export function toExecResult(outcome: ExecuteOutcome): ExecResult {
  return {
    stdout: outcome.stdout,
    stderr: outcome.stderr,
    result: outcome.status === "completed" ? (outcome.value ?? null) : null,
    error: errorText(outcome),
    returncode: returnCode(outcome),
    duration_seconds: outcome.durationMs / 1000,
    tool_calls: outcome.calls.map(({ server, tool, ms, ok: succeeded }) => ({
      server: server ?? null,
      tool,
      duration_seconds: ms / 1000,
      ok: succeeded,
    })),
  };
}

function errorText(outcome: ExecuteOutcome): string | null {
  if (outcome.status === "completed") return null;
  return outcome.status === "failed" ? failureText(outcome) : suspendedText(outcome);
}

function returnCode(outcome: ExecuteOutcome): ExecResult["returncode"] {
  if (outcome.status === "completed") return 0;
  return outcome.status === "suspended" || ENDED_BY_HOST.has(outcome.error.kind) ? null : 1;
}

/**
 * One JSON object in the words of a process: stdout, stderr, result, error, returncode, duration_seconds, tool_calls.
 * Images and resources follow as blocks.
 *
 * @example
 * codeMode({ executeResultSerializer: processResult() });
 */
export function processResult(): ExecuteResultSerializer {
  return function serializeProcess(outcome) {
    const content = [{ type: "text" as const, text: JSON.stringify(toExecResult(outcome)) }, ...outcome.content];
    return outcome.status === "failed" ? { content, isError: true } : { content };
  };
}
