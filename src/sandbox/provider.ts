import type { ErrorKind } from "../errors.js";
import type { SandboxLimits } from "./limits.js";

/** A function of the host that scripts may call: sync or async. It is called with what the script gave, as plain data. */
export type HostFunction = (...args: never[]) => unknown;

/** One captured line of console output. */
export interface LogEntry {
  level: "log" | "info" | "debug" | "warn" | "error";
  text: string;
}

/** How a script failed. `line` and `column` count from 1 and are those of the text that was sent. */
export interface ScriptError {
  kind: ErrorKind;
  name: string;
  message: string;
  line?: number | undefined;
  column?: number | undefined;
  /** A few numbered lines around the place, with a caret. */
  frame?: string | undefined;
  /** What to do about it. */
  hint?: string | undefined;
  details?: unknown;
}

/** Everything a run gets besides its code. */
export interface SandboxRunOptions {
  /** Globals of the script: plain data. */
  inputs?: Record<string, unknown>;
  /** Async functions of the script, by global name. */
  externalFunctions?: Record<string, HostFunction>;
  /** Replaces the limits of the provider, key by key. */
  limits?: SandboxLimits;
  /** Ends the run with kind `cancelled`. */
  signal?: AbortSignal;
  /** Gets each line of console output as soon as the host reads it. */
  onLog?: (entry: LogEntry) => void;
  /** What happens to a result over `maxResultBytes`: an error of kind `limit` (default), or a smaller, still valid value. */
  resultOverflow?: "error" | "truncate";
  /** Start from the snapshot of a finished run: its globals are there. Only for providers with `resume`. */
  from?: Uint8Array;
  /** Give the memory at the end as `snapshot`, also after a failure. Only for providers with `resume`. */
  keepSnapshot?: boolean;
  /** Text of a script that is resumed, for the places in its errors. */
  code?: string;
  /** When it fires, the script is paused as soon as it only waits for calls, as if those had thrown {@link suspend}. */
  pause?: AbortSignal;
}

/** A call that waits for an answer from outside while its script is paused. */
export interface PendingCall {
  id: number;
  /** Name of the external function. */
  name: string;
  args: unknown[];
  /** What {@link suspend} was given. */
  reason: unknown;
}

/** The answer to a {@link PendingCall}. */
export type CallAnswer = { id: number; value: unknown } | { id: number; error: { message: string; kind: ErrorKind } };

const SUSPEND = Symbol.for("mcp-codemode.suspend");

/**
 * Thrown by an external function: its script is paused as soon as it only waits for such calls, and the run ends with
 * `status: "suspended"` and a snapshot. `resume` of the provider answers the calls and goes on, in any process.
 *
 * @param reason Plain data for whoever decides: comes back in {@link PendingCall}.
 * @example
 * const externalFunctions = {
 *   ask_person: (question: string) => {
 *     throw suspend({ question });
 *   },
 * };
 */
export function suspend(reason?: unknown): Error {
  return Object.assign(new Error("The script is paused."), { [SUSPEND]: { reason } });
}

/** The reason of an error that {@link suspend} made, in a box; undefined for any other. */
export function suspensionOf(error: unknown): { reason: unknown } | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  try {
    // Not read where it would run somebody's getter: what a tool throws is anything.
    return Object.getOwnPropertyDescriptor(error, SUSPEND)?.value as { reason: unknown } | undefined;
  } catch {
    return undefined; // A Proxy that is asked throws.
  }
}

/** What a run cost; times in milliseconds, sizes in bytes. Keys are a provider's own beyond these. */
export interface RunStats {
  [key: string]: number;
}

/** How a run ended. */
export type SandboxResult = (
  | { status: "completed"; value: unknown; snapshot?: Uint8Array }
  | { status: "failed"; error: ScriptError; snapshot?: Uint8Array }
  | { status: "suspended"; pending: PendingCall[]; snapshot: Uint8Array }
) & { logs?: LogEntry[]; notes?: readonly string[]; stats?: RunStats };

/** The result of a run that came to its end. */
export type FinishedResult = Exclude<SandboxResult, { status: "suspended" }>;

/**
 * Runs scripts. `run` never rejects for what a script did: that is a result with `status: "failed"`. It rejects only
 * when it was called wrongly ({@link ConfigurationError}). A bare value instead of a {@link SandboxResult} is read as completed.
 *
 * A minimal provider needs `name` and `run`; its `code` is then the body of an async function that returns the result.
 * Check one with `sandboxConformance` from `mcp-codemode/testing`.
 */
export interface SandboxProvider {
  readonly name: string;
  /**
   * "script": `run` takes scripts as models write them (top-level await, last expression, `tools`, `console`, ...).
   * "function-body" (default): it gets the body of an async function, and those are built over its external functions.
   */
  readonly accepts?: "script" | "function-body";
  run(code: string, options: SandboxRunOptions): Promise<SandboxResult>;
  /**
   * Goes on with a paused run: `answers` settle its open calls. The limits are those of what remains: `timeoutMs` and
   * `cpuMs` count from here. A snapshot of another engine or version, or a damaged one, is a failed run of kind `sandbox`.
   */
  resume?(snapshot: Uint8Array, answers: readonly CallAnswer[], options: SandboxRunOptions): Promise<SandboxResult>;
  /** Starts what a first run would wait for, without waiting for it. Called when code mode is applied to a server. */
  warmUp?(): void;
  close?(): Promise<void>;
}
