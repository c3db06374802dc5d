import { isErrorKind, type ErrorKind } from "../../errors.js";
import type { SandboxLimitValues } from "../limits.js";
import type { ScriptError } from "../provider.js";
import type { PreparedScript } from "../script.js";
import { codeFrame, offsetOf, placeOf } from "../script/places.js";
import { originOf } from "../script/rewrite.js";
import type { GuestError } from "./protocol.js";

/** What the outside knows of a failed run. */
export interface FailureFacts {
  /** The text that was sent. */
  code: string;
  /** What was made of it. */
  script: PreparedScript;
  /** Characters that stood before the code on its first line when it was evaluated. */
  columnShift: number;
  limits: SandboxLimitValues;
  memoryBytes: number;
}

/** The error of a script from what the guest said of it. `kind` is the worker's own finding, when it has one. */
export function toScriptError(error: GuestError, kind: ErrorKind | undefined, facts: FailureFacts): ScriptError {
  const found = kind ?? kindOf(error, facts);
  const base = { kind: found, name: nameOf(error, found), message: messageFor(error, found, facts.limits) };
  const place = positionIn(error, facts);
  return {
    ...base,
    ...(place === undefined ? {} : { ...place, frame: codeFrame(facts.code, place) }),
    ...(error.details === undefined ? {} : { details: error.details }),
  };
}

/** Kinds that came from the host stand; for the others the engine's own errors are told from the script's. */
function kindOf(error: GuestError, facts: FailureFacts): ErrorKind {
  if (isErrorKind(error.kind)) return error.kind;
  if (error.message === "stack overflow" && /^(InternalError|SyntaxError|RangeError)$/.test(error.name)) return "stack";
  if (error.name === "InternalError" && /^(out of memory|string too long)$/.test(error.message)) return "memory";
  // With no memory left to make an error object the engine throws null.
  if (error.message === "null was thrown" && facts.memoryBytes >= facts.limits.memoryBytes * 0.95) return "memory";
  return "runtime";
}

const NAMES: Partial<Record<ErrorKind, string>> = {
  timeout: "TimeoutError",
  memory: "MemoryError",
  stack: "StackError",
  cancelled: "CancelledError",
  sandbox: "SandboxError",
};

const nameOf = (error: GuestError, kind: ErrorKind): string => NAMES[kind] ?? (error.name || "Error");

function messageFor(error: GuestError, kind: ErrorKind, limits: SandboxLimitValues): string {
  switch (kind) {
    case "timeout":
      return timeoutMessage(error.message === "cpuMs" ? "cpuMs" : "timeoutMs", limits);
    case "memory":
      return `Out of memory: the script used more than its ${bytesText(limits.memoryBytes)}. Work on less data at a time.`;
    case "stack":
      return "Stack overflow: the recursion is too deep. Use a loop.";
    case "cancelled":
      return "The run was cancelled.";
    default:
      return error.message || `${error.name || "An error"} without a message was thrown`;
  }
}

function timeoutMessage(limit: "cpuMs" | "timeoutMs", limits: SandboxLimitValues): string {
  const what = limit === "cpuMs" ? "of computing" : "";
  return `Time limit exceeded: the script ran longer than ${limits[limit]} ms${what && ` ${what}`} (${limit}). Do less in one script.`;
}

const bytesText = (bytes: number): string => `${Math.round((bytes / (1 << 20)) * 10) / 10} MiB`;

/** The first place in the script's own code that the stack names. */
function positionIn(error: GuestError, facts: FailureFacts): { line: number; column: number } | undefined {
  const match = /script\.js:(\d+)(?::(\d+))?/.exec(error.stack);
  if (match === null) return undefined;
  const line = Number(match[1]);
  const column = Number(match[2] ?? 1);
  const shift = line === 1 ? facts.columnShift : 0;
  const { code, steps } = facts.script;
  return placeOf(facts.code, originOf(steps, offsetOf(code, line, Math.max(1, column - shift))));
}
