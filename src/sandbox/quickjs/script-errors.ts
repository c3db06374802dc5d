import { isErrorKind, type ErrorKind } from "../../errors.js";
import type { SandboxLimitValues } from "../limits.js";
import type { ScriptError } from "../provider.js";
import { codeFrame, offsetOf, type Place, placeOf } from "../script/places.js";
import { originOf, type Rewrite } from "../script/rewrite.js";
import { syntaxHint } from "../script/syntax-error.js";
import type { GuestError } from "./protocol.js";
import { hintFor, messageOfCall, missingModule, missingModuleText } from "./script-hints.js";

/** What the outside knows of a failed run. */
export interface FailureFacts {
  /** The text that was sent. */
  sent: string;
  /** What was evaluated, and the way back to the text. */
  evaluated: Rewrite;
  /** Characters that stood before it on its first line. */
  columnShift: number;
  /** Where in the text it failed, when the error's stack does not say. */
  offset?: number | undefined;
  limits: SandboxLimitValues;
  memoryBytes: number;
  /** Names of the external functions. */
  functions: readonly string[];
  /** Calls that had no answer when the script failed. */
  openCalls: number;
  /** Functions that have answered with a string. */
  gaveText: ReadonlySet<string>;
}

/** The error of a script from what the guest said of it. `kind` is the worker's own finding, when it has one. */
export function toScriptError(error: GuestError, kind: ErrorKind | undefined, facts: FailureFacts): ScriptError {
  const found = kind ?? kindOf(error, facts);
  const evaluatedAt = found === "syntax" && facts.offset !== undefined ? undefined : evaluatedOffset(error, facts);
  const offset = facts.offset ?? (evaluatedAt === undefined ? undefined : originOf(facts.evaluated.steps, evaluatedAt));
  const place: Place | undefined = offset === undefined ? undefined : placeOf(facts.sent, offset);
  const hint =
    found === "syntax" ? syntaxHint(facts.sent, offset ?? 0) : found === "runtime" ? hintFor(error, facts) : undefined;
  return {
    kind: found,
    name: nameOf(error, found),
    message: messageFor(error, found, facts, evaluatedAt),
    ...(place === undefined ? {} : { ...place, frame: codeFrame(facts.sent, place) }),
    ...(hint === undefined ? {} : { hint }),
    ...(error.details === undefined ? {} : { details: boundedDetails(error.details) }),
  };
}

/** Longest details as JSON, in UTF-16 units: the script has held the object and may have put anything into it. */
const MOST_DETAILS = 16_384;

/** The details, or those of them that are short. */
function boundedDetails(details: unknown): unknown {
  if (typeof details !== "object" || details === null || Array.isArray(details))
    return lengthOf(details) > MOST_DETAILS ? undefined : details;
  if (lengthOf(details) <= MOST_DETAILS) return details;
  let left = MOST_DETAILS;
  return Object.fromEntries(
    Object.entries(details).filter(([key, value]) => {
      const length = key.length + lengthOf(value);
      const fits = length <= left;
      if (fits) left -= length;
      return fits;
    }),
  );
}

const lengthOf = (value: unknown): number => JSON.stringify(value)?.length ?? 0;

/** Kinds that came from the host stand; for the others the engine's own errors are told from the script's. */
function kindOf(error: GuestError, facts: FailureFacts): ErrorKind {
  if (isErrorKind(error.kind)) return error.kind;
  if (error.message === "stack overflow" && /^(InternalError|SyntaxError|RangeError)$/.test(error.name)) return "stack";
  if (error.name === "InternalError" && /^(out of memory|string too long)$/.test(error.message)) return "memory";
  if (WITHOUT_MEMORY.has(error.message) && facts.memoryBytes >= facts.limits.memoryBytes * 0.95) return "memory";
  return "runtime";
}

/** With no memory left to make an error object the engine throws null or a value of no type, or cannot even describe its error. */
const WITHOUT_MEMORY: ReadonlySet<string> = new Set([
  "null was thrown",
  "[unsupported type] was thrown",
  "[unreadable error]",
]);

const NAMES: Partial<Record<ErrorKind, string>> = {
  timeout: "TimeoutError",
  memory: "MemoryError",
  stack: "StackError",
  cancelled: "CancelledError",
  sandbox: "SandboxError",
};

const nameOf = (error: GuestError, kind: ErrorKind): string => NAMES[kind] ?? (error.name || "Error");

function messageFor(error: GuestError, kind: ErrorKind, facts: FailureFacts, at: number | undefined): string {
  const { limits } = facts;
  switch (kind) {
    case "timeout":
      return timeoutMessage(error.message === "cpuMs" ? "cpuMs" : "timeoutMs", limits);
    case "memory":
      return `Out of memory: the script used more than its ${bytesText(limits.memoryBytes)}. Work on less data at a time.`;
    case "stack":
      return "Stack overflow: the recursion is too deep. Use a loop.";
    case "cancelled":
      return "The run was cancelled.";
    case "runtime":
      return runtimeMessage(error, facts, at);
    case "syntax":
      // So the engine says where a script ends too early.
      return error.message.replace(/: ''$/, ": the script ends here");
    default:
      return error.message || `${error.name || "An error"} without a message was thrown`;
  }
}

function runtimeMessage(error: GuestError, facts: FailureFacts, at: number | undefined): string {
  const module = missingModule(error);
  if (module !== undefined) return missingModuleText(module, facts.functions);
  if (error.name === "TypeError" && error.message === "not a function" && at !== undefined)
    return messageOfCall(error, facts.evaluated.code, at);
  return error.message || `${error.name || "An error"} without a message was thrown`;
}

function timeoutMessage(limit: "cpuMs" | "timeoutMs", limits: SandboxLimitValues): string {
  const what = limit === "cpuMs" ? "of computing" : "";
  return `Time limit exceeded: the script ran longer than ${limits[limit]} ms${what && ` ${what}`} (${limit}). Do less in one script.`;
}

const bytesText = (bytes: number): string => `${Math.round((bytes / (1 << 20)) * 10) / 10} MiB`;

const SCRIPT_FRAME = /at (?:(\S+) \()?script\.js:(\d+)(?::(\d+))?/g;

/** The first place in the evaluated code that the stack names; for a module that was not found, its import. */
function evaluatedOffset(error: GuestError, { evaluated, columnShift }: FailureFacts): number | undefined {
  const frames = [...error.stack.matchAll(SCRIPT_FRAME)];
  // Where a class of errors is made says nothing: the frame below made one.
  const [, , lineText, columnText] = (frames[0]?.[1] === error.name ? frames[1] : undefined) ?? frames[0] ?? [];
  if (lineText === undefined) {
    const module = missingModule(error);
    return module === undefined ? undefined : importOf(module, evaluated.code);
  }
  const line = Number(lineText);
  const column = Number(columnText ?? 1) - (line === 1 ? columnShift : 0);
  return offsetOf(evaluated.code, line, Math.max(1, column));
}

/** Where `import("name")` stands: the engine gives such errors no place. */
function importOf(module: string, code: string): number | undefined {
  for (const quote of ['"', "'", "`"]) {
    const at = code.indexOf(quote + module + quote);
    const before = at < 0 ? -1 : code.lastIndexOf("import", at);
    if (before >= 0 && /^import\s*\(\s*$/.test(code.slice(before, at).slice(0, 40))) return before;
  }
  return undefined;
}
