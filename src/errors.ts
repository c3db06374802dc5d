/**
 * What went wrong, in one stable word.
 *
 * | kind | meaning |
 * |---|---|
 * | `syntax` | the script does not parse |
 * | `runtime` | the script threw |
 * | `timeout` | `timeoutMs` or `cpuMs` passed |
 * | `memory`, `stack` | the sandbox ran out of memory or stack |
 * | `tool` | a tool answered with an error, or does not exist |
 * | `validation` | arguments do not fit the tool or meta-tool |
 * | `limit` | a count or size limit was reached |
 * | `approval` | a policy or a person refused the call |
 * | `cancelled` | the caller gave up |
 * | `sandbox` | the sandbox itself failed, or was configured wrongly |
 */
export type ErrorKind =
  | "syntax"
  | "runtime"
  | "timeout"
  | "memory"
  | "stack"
  | "tool"
  | "validation"
  | "limit"
  | "approval"
  | "cancelled"
  | "sandbox";

/** Every kind, in the order of the table above. */
export const ERROR_KINDS: readonly ErrorKind[] = [
  "syntax",
  "runtime",
  "timeout",
  "memory",
  "stack",
  "tool",
  "validation",
  "limit",
  "approval",
  "cancelled",
  "sandbox",
];

/** Shared by every copy of this package in a process: ESM and CJS builds have classes of their own. */
const BRAND = Symbol.for("mcp-codemode.error");

/** What a {@link CodeModeError} may carry besides its message. */
export interface ErrorOptions {
  /** Machine-readable facts: plain JSON. They may reach the script that made the call. */
  details?: unknown;
  /** The error that led here. Stays on the host. */
  cause?: unknown;
}

/**
 * Base of every error this package throws. `kind` says what failed, `details` holds facts as plain JSON.
 *
 * @example
 * try {
 *   await engine.execute({ code: "1 +" });
 * } catch (error) {
 *   if (CodeModeError.isInstance(error)) console.error(error.kind, error.message);
 * }
 */
export class CodeModeError extends Error {
  override readonly name: string = "CodeModeError";
  readonly kind: ErrorKind;
  readonly details: unknown;
  readonly [BRAND] = true;

  constructor(kind: ErrorKind, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.details = options.details;
  }

  /** True for a `CodeModeError` of any copy of this package (ESM, CJS, another version). */
  static isInstance(value: unknown): value is CodeModeError {
    return typeof value === "object" && value !== null && BRAND in value;
  }
}

/** The script does not parse, neither as JavaScript nor as TypeScript. */
export class ScriptSyntaxError extends CodeModeError {
  override readonly name = "ScriptSyntaxError";
  constructor(message: string, options?: ErrorOptions) {
    super("syntax", message, options);
  }
}

/** The script threw. */
export class ScriptRuntimeError extends CodeModeError {
  override readonly name = "ScriptRuntimeError";
  constructor(message: string, options?: ErrorOptions) {
    super("runtime", message, options);
  }
}

/** `timeoutMs`, `cpuMs` or `toolTimeoutMs` passed. */
export class TimeoutError extends CodeModeError {
  override readonly name = "TimeoutError";
  constructor(message: string, options?: ErrorOptions) {
    super("timeout", message, options);
  }
}

/** The sandbox ran out of memory. */
export class MemoryError extends CodeModeError {
  override readonly name = "MemoryError";
  constructor(message: string, options?: ErrorOptions) {
    super("memory", message, options);
  }
}

/** The sandbox ran out of stack. */
export class StackError extends CodeModeError {
  override readonly name = "StackError";
  constructor(message: string, options?: ErrorOptions) {
    super("stack", message, options);
  }
}

/** A tool answered with an error, or does not exist for this caller. */
export class ToolCallError extends CodeModeError {
  override readonly name = "ToolCallError";
  constructor(message: string, options?: ErrorOptions) {
    super("tool", message, options);
  }
}

/** Arguments do not fit the tool or meta-tool they were sent to. Does not cover options of this library: those are {@link ConfigurationError}. */
export class ValidationError extends CodeModeError {
  override readonly name = "ValidationError";
  constructor(message: string, options?: ErrorOptions) {
    super("validation", message, options);
  }
}

/** A count or size limit was reached. Does not cover time: that is {@link TimeoutError}. */
export class LimitError extends CodeModeError {
  override readonly name = "LimitError";
  constructor(message: string, options?: ErrorOptions) {
    super("limit", message, options);
  }
}

/** A policy or a person refused the call. */
export class ApprovalError extends CodeModeError {
  override readonly name = "ApprovalError";
  constructor(message: string, options?: ErrorOptions) {
    super("approval", message, options);
  }
}

/** The caller gave up, or the engine was closed. */
export class CancelledError extends CodeModeError {
  override readonly name = "CancelledError";
  constructor(message: string, options?: ErrorOptions) {
    super("cancelled", message, options);
  }
}

/** The sandbox itself failed: a worker could not start, died, or spoke nonsense. */
export class SandboxError extends CodeModeError {
  override readonly name: string = "SandboxError";
  constructor(message: string, options?: ErrorOptions) {
    super("sandbox", message, options);
  }
}

/** An option is unknown, of the wrong type or out of bounds. Thrown when the option is given, never later. */
export class ConfigurationError extends SandboxError {
  override readonly name = "ConfigurationError";
}

const CLASSES: Readonly<Record<ErrorKind, new (message: string, options?: ErrorOptions) => CodeModeError>> = {
  syntax: ScriptSyntaxError,
  runtime: ScriptRuntimeError,
  timeout: TimeoutError,
  memory: MemoryError,
  stack: StackError,
  tool: ToolCallError,
  validation: ValidationError,
  limit: LimitError,
  approval: ApprovalError,
  cancelled: CancelledError,
  sandbox: SandboxError,
};

/** The error of a kind. */
export function errorOfKind(kind: ErrorKind, message: string, options?: ErrorOptions): CodeModeError {
  return new CLASSES[kind](message, options);
}

/** True when `value` is one of the stable kinds. */
export function isErrorKind(value: unknown): value is ErrorKind {
  return (ERROR_KINDS as readonly unknown[]).includes(value);
}

/** The message of anything that was thrown: never empty, never throws itself. */
export function messageOf(thrown: unknown): string {
  try {
    if (thrown instanceof Error || (typeof thrown === "object" && thrown !== null && "message" in thrown)) {
      const { name, message } = thrown as Error;
      return String(message) || String(name) || "unknown error";
    }
    return String(thrown) || "unknown error";
  } catch {
    return "unknown error";
  }
}
