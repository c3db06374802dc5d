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
}

/** What a run cost; times in milliseconds, sizes in bytes. Keys are a provider's own beyond these. */
export interface RunStats {
  [key: string]: number;
}

/** How a run ended. */
export type SandboxResult =
  | { status: "completed"; value: unknown; logs?: LogEntry[]; notes?: readonly string[]; stats?: RunStats }
  | { status: "failed"; error: ScriptError; logs?: LogEntry[]; notes?: readonly string[]; stats?: RunStats };

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
  /** Starts what a first run would wait for, without waiting for it. Called when code mode is applied to a server. */
  warmUp?(): void;
  close?(): Promise<void>;
}
