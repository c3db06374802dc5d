import { CodeModeError, messageOf, type ErrorKind } from "../../errors.js";
import { MOST_MEMORY_BYTES, MOST_STACK_BYTES, type SandboxLimitValues } from "../limits.js";
import type { HostFunction, LogEntry, RunStats, SandboxResult, SandboxRunOptions } from "../provider.js";
import type { PreparedScript } from "../script.js";
import { mayHoldTags, reviveValue } from "../values/decode.js";
import { encodeValue } from "../values/encode.js";
import { rememberedJson } from "../values/json-text.js";
import { isPlainJson } from "../values/plain.js";
import {
  KIND,
  REPLY_ERROR,
  REPLY_OK,
  type GuestConfig,
  type GuestError,
  type RunReport,
  type RunRequest,
} from "./protocol.js";
import { toScriptError } from "./script-errors.js";

const LEVELS: ReadonlySet<unknown> = new Set(["log", "info", "debug", "warn", "error"]);

/**
 * The host's side of one run: answers its calls, keeps its logs, and makes its result. Everything that comes in is
 * hostile text. Knows nothing of threads: `reply` carries answers.
 */
export class HostRun {
  /** Resolves once: when the run has reported, or was ended from outside. */
  readonly result: Promise<SandboxResult>;
  private resolve: (result: SandboxResult) => void = () => {};
  private readonly functions: ReadonlyMap<string, HostFunction>;
  private readonly logs: LogEntry[] = [];
  private readonly notes: string[];
  private ended = false;
  private done: string | undefined;
  private readonly startedAt = performance.now();

  constructor(
    private readonly sent: string,
    private readonly script: PreparedScript,
    private readonly limits: SandboxLimitValues,
    private readonly options: SandboxRunOptions,
    private readonly reply: (id: number, text: string) => void,
  ) {
    this.functions = new Map(Object.entries(options.externalFunctions ?? {}));
    this.notes = [...script.notes];
    this.result = new Promise((resolve) => {
      this.resolve = resolve;
    });
  }

  /** What the engine gets. */
  request(): RunRequest {
    const { limits, options } = this;
    return {
      code: this.script.code,
      config: this.config(),
      inputs: options.inputs === undefined ? null : encodeForGuest(options.inputs),
      maxBridgeMessages: finite(limits.maxBridgeMessages),
      timeoutMs: orNull(limits.timeoutMs),
      cpuMs: orNull(limits.cpuMs),
      memoryBytes: Math.min(limits.memoryBytes, MOST_MEMORY_BYTES),
      maxStackBytes: Math.min(limits.maxStackBytes, MOST_STACK_BYTES),
      seed: (Math.random() * 2 ** 32) >>> 0,
    };
  }

  private config(): string {
    const { limits, options } = this;
    const config: GuestConfig = {
      functions: [...this.functions.keys()],
      maxLogBytes: finite(limits.maxLogBytes),
      maxResultBytes: finite(limits.maxResultBytes),
      maxArgumentBytes: finite(limits.maxArgumentBytes),
      maxBridgeMessages: finite(limits.maxBridgeMessages),
      truncate: options.resultOverflow === "truncate",
    };
    return JSON.stringify(config);
  }

  /** A message of the script. After the end nothing is taken. */
  receive(kind: number, id: number, text: string): void {
    if (this.ended) return;
    if (kind === KIND.CALL) void this.answer(id, text);
    else if (kind === KIND.LOG) this.log(text);
    else if (kind === KIND.DONE) this.done ??= text;
    else if (kind === KIND.REPORT) this.report(JSON.parse(text) as RunReport);
  }

  /** Ends the run from outside. What the script had returned before still counts, unless the caller gave up. */
  end(kind: ErrorKind, message: string): void {
    if (this.ended) return;
    if (this.done !== undefined && kind !== "cancelled") {
      this.notes.push("The script went on after its end and was stopped.");
      this.finish(this.fromDone(this.done, { memoryBytes: 0, columnShift: 0 }), {});
      return;
    }
    this.finish(this.failed({ name: "", message, stack: "" }, kind, { memoryBytes: 0, columnShift: 0 }), {});
  }

  private async answer(id: number, text: string): Promise<void> {
    let answer: string;
    try {
      answer = REPLY_OK + encodeForGuest(await this.call(text));
    } catch (error) {
      answer = REPLY_ERROR + JSON.stringify(describeForGuest(error));
    }
    if (this.ended) return; // a late result must never reach the next run
    if (this.done !== undefined && answer.startsWith(REPLY_ERROR)) this.noteFailure(text, answer);
    this.reply(id, answer);
  }

  private async call(text: string): Promise<unknown> {
    const parsed: unknown = JSON.parse(text);
    const [name, args] = Array.isArray(parsed) ? (parsed as unknown[]) : [];
    const fn = typeof name === "string" ? this.functions.get(name) : undefined;
    if (fn === undefined || !Array.isArray(args)) throw new Error("Unknown function");
    const values = mayHoldTags(text) ? (reviveValue(args) as unknown[]) : args;
    return await (fn as (...args: unknown[]) => unknown)(...values);
  }

  private noteFailure(call: string, answer: string): void {
    const [name, args] = JSON.parse(call) as [string, unknown[]];
    const { message } = JSON.parse(answer.slice(1)) as { message: string };
    const target = typeof args[0] === "string" ? `${name}(${JSON.stringify(args[0])})` : name;
    this.notes.push(`${target} was not awaited, and it failed: ${message}`);
  }

  private log(text: string): void {
    const parsed: unknown = JSON.parse(text);
    const [level, line] = Array.isArray(parsed) ? (parsed as unknown[]) : [];
    if (!LEVELS.has(level) || typeof line !== "string") return;
    const entry = { level: level as LogEntry["level"], text: line };
    this.logs.push(entry);
    this.options.onLog?.(entry);
  }

  private report(report: RunReport): void {
    this.notes.push(...report.notes);
    const facts = { memoryBytes: report.stats.memoryBytes, columnShift: report.columnShift };
    const { failure } = report;
    if (failure !== undefined) this.finish(this.failed(failure.error, failure.kind, facts), report.stats);
    else this.finish(this.fromDone(this.done ?? `${REPLY_ERROR}{}`, facts), report.stats);
  }

  private fromDone(done: string, facts: { memoryBytes: number; columnShift: number }): SandboxResult {
    if (!done.startsWith(REPLY_OK)) {
      const error = JSON.parse(done.slice(1)) as Partial<GuestError>;
      return this.failed({ name: "Error", message: "", stack: "", ...error }, undefined, facts);
    }
    const text = done.slice(1);
    const [notes, value] = JSON.parse(text) as [string[], unknown];
    this.notes.push(...notes);
    return { status: "completed", value: mayHoldTags(text) ? reviveValue(value) : value };
  }

  private failed(
    error: GuestError,
    kind: ErrorKind | undefined,
    facts: { memoryBytes: number; columnShift: number },
  ): SandboxResult {
    const { lineOffset } = this.script;
    return {
      status: "failed",
      error: toScriptError(error, kind, { code: this.sent, lineOffset, limits: this.limits, ...facts }),
    };
  }

  private finish(result: SandboxResult, stats: RunStats): void {
    this.ended = true;
    const durationMs = performance.now() - this.startedAt;
    this.resolve({ ...result, logs: this.logs, notes: this.notes, stats: { ...stats, durationMs } });
  }
}

const finite = (limit: number): number => Math.min(limit, Number.MAX_SAFE_INTEGER);
const orNull = (limit: number): number | null => (Number.isFinite(limit) ? limit : null);

/** JSON of a value of the host. Plain JSON, the usual case, is written by the engine of the host itself. */
export function encodeForGuest(value: unknown): string {
  const known = rememberedJson(value);
  if (known !== undefined && !mayHoldTags(known)) return known;
  if (isPlainJson(value)) return JSON.stringify(value);
  return encodeValue(value, Infinity).text ?? encodeValue(undefined, Infinity).text ?? '{"@@":"undefined"}';
}

/** What a script may know of an error of the host: its message and kind, never its stack or cause. */
function describeForGuest(error: unknown): { name: string; message: string; kind: ErrorKind; details?: unknown } {
  if (!CodeModeError.isInstance(error)) {
    const name = error instanceof Error ? error.name : "Error";
    return { name, message: messageOf(error), kind: "tool" };
  }
  return {
    name: error.name,
    message: error.message,
    kind: error.kind,
    ...(error.details === undefined ? {} : { details: error.details }),
  };
}
