import { isErrorKind, type ErrorKind } from "../../errors.js";
import type { SandboxLimitValues } from "../limits.js";
import type { ScriptError } from "../provider.js";
import type { GuestError } from "./protocol.js";

/** What the outside knows of a failed run. */
export interface FailureFacts {
  /** The text that was sent. */
  code: string;
  /** Lines that stood before the evaluated code in it (a code fence). */
  lineOffset: number;
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
    ...(place === undefined ? {} : { ...place, frame: codeFrame(facts.code, place.line, place.column) }),
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
  return { line: line + facts.lineOffset, column: Math.max(1, column - shift) };
}

const CONTEXT_LINES = 2;
/** Longest part of a line that is shown: minified code stays readable. */
const FRAME_WIDTH = 120;

/** Numbered lines around a place, with a caret under it. */
export function codeFrame(code: string, line: number, column: number): string {
  const lines = code.split(/\r\n|[\n\r\u2028\u2029]/);
  const first = Math.max(1, line - CONTEXT_LINES);
  const last = Math.min(lines.length, line + 1);
  const width = String(last).length;
  // A long line is shown from where its place comes into view.
  const start = Math.max(0, column - 1 - (FRAME_WIDTH - 20));
  const shown: string[] = [];
  for (let number = first; number <= last; number++) {
    const from = number === line ? start : 0;
    const text = (lines[number - 1] ?? "").slice(from, from + FRAME_WIDTH).replace(/[^\P{C}\t]/gu, " ");
    shown.push(`${number === line ? ">" : " "} ${String(number).padStart(width)} | ${text}`);
    if (number === line) shown.push(`  ${" ".repeat(width)} | ${" ".repeat(Math.max(0, column - 1 - start))}^`);
  }
  return shown.join("\n");
}
