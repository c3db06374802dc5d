import { CodeModeError, type ErrorKind } from "../../errors.js";
import { MOST_MEMORY_BYTES, MOST_STACK_BYTES, type SandboxLimitValues } from "../limits.js";
import {
  suspensionOf,
  type CallAnswer,
  type HostFunction,
  type LogEntry,
  type RunStats,
  type SandboxResult,
  type SandboxRunOptions,
} from "../provider.js";
import type { PreparedScript } from "../script.js";
import { chained, originOf, type Rewrite } from "../script/rewrite.js";
import { describeCall, encodeForGuest, errorForGuest, parseCall, readResult } from "./guest-values.js";
import {
  KIND,
  REPLY_ERROR,
  REPLY_OK,
  type GuestConfig,
  type GuestError,
  type RunReport,
  type RunRequest,
} from "./protocol.js";
import { RunNotes } from "./run-notes.js";
import { newSeed } from "./run-seed.js";
import { toScriptError } from "./script-errors.js";

const LEVELS: ReadonlySet<unknown> = new Set(["log", "info", "debug", "warn", "error"]);

/** Room for the line that says that the limit of logs was reached. */
const MOST_LOG_MARKER = 100;

/** What carries a run's messages to its engine. */
export interface RunLink {
  /** The answer to a call. */
  reply(id: number, text: string): void;
  /** Asks the engine to pause the script, if exactly these calls are open there. */
  suspend(openCalls: readonly number[]): void;
}

/** What a run starts from. */
export interface RunStart {
  /** The text that was sent; empty where it is not known any more. */
  sent: string;
  script: PreparedScript;
  /** Memory of a paused script and the answers to its open calls. */
  resume?: { snapshot: Uint8Array; answers: readonly CallAnswer[] };
}

interface OpenCall {
  text: string;
  /** Set once the call waits for an answer from outside. */
  suspended?: { reason: unknown };
}

/**
 * The host's side of one run: answers its calls, keeps its logs, and makes its result. Everything that comes in is
 * hostile text. Knows nothing of threads: a link carries the answers.
 */
export class HostRun {
  /** Resolves once: when the run has reported, or was ended from outside. */
  readonly result: Promise<SandboxResult>;
  private resolve: (result: SandboxResult) => void = () => {};
  private readonly functions: ReadonlyMap<string, HostFunction>;
  private readonly logs: LogEntry[] = [];
  private logged = 0;
  private readonly notes: RunNotes;
  private readonly open = new Map<number, OpenCall>();
  private ended = false;
  private done: string | undefined;
  /** Calls without an answer when the script ended. */
  private openCalls = 0;
  private readonly gaveText = new Set<string>();
  private snapshot: Uint8Array | undefined;
  private readonly startedAt = performance.now();

  constructor(
    private readonly begin: RunStart,
    private readonly limits: SandboxLimitValues,
    private readonly options: SandboxRunOptions,
    private readonly link: RunLink,
  ) {
    this.functions = new Map(Object.entries(options.externalFunctions ?? {}));
    this.notes = new RunNotes(begin.script.notes);
    this.result = new Promise((resolve) => {
      this.resolve = resolve;
    });
    options.pause?.addEventListener("abort", this.pauseNow, { once: true });
  }

  /** Memory to send before the request. */
  get memory(): Uint8Array | undefined {
    return this.begin.resume?.snapshot ?? this.options.from;
  }

  /** Sends the answers that a resumed script waits for. */
  answerPending(): void {
    for (const answer of this.begin.resume?.answers ?? []) this.link.reply(answer.id, replyTo(answer));
  }

  /** What the engine gets. */
  request(): RunRequest {
    const { limits, options } = this;
    return {
      code: this.begin.script.code,
      config: this.config(),
      inputs: options.inputs === undefined ? null : encodeForGuest(options.inputs),
      from: this.begin.resume !== undefined ? "resume" : options.from === undefined ? null : "session",
      openCalls: (this.begin.resume?.answers ?? []).map(({ id }) => id),
      keepSnapshot: options.keepSnapshot === true,
      maxBridgeMessages: finite(limits.maxBridgeMessages),
      timeoutMs: orNull(limits.timeoutMs),
      cpuMs: orNull(limits.cpuMs),
      memoryBytes: Math.min(limits.memoryBytes, MOST_MEMORY_BYTES),
      maxStackBytes: Math.min(limits.maxStackBytes, MOST_STACK_BYTES),
      seed: newSeed(),
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
    else if (kind === KIND.DONE) this.endScript(id, text);
    else if (kind === KIND.REPORT) this.report(JSON.parse(text) as RunReport);
  }

  /** A run that has ended must have a result, whatever its guest said. */
  private resultOf(read: () => SandboxResult): SandboxResult {
    try {
      return read();
    } catch (error) {
      if (!CodeModeError.isInstance(error)) return this.failed(guestError(NO_ANSWER), "sandbox", NO_FACTS);
      const { name, message, details } = error;
      return this.failed({ ...guestError(message), name, details }, error.kind, NO_FACTS);
    }
  }

  /** Ends the run from outside. What the script had returned before still counts, unless the caller gave up. */
  end(kind: ErrorKind, message: string): void {
    if (this.ended) return;
    if (this.done !== undefined && kind !== "cancelled") {
      this.notes.add("The script went on after its end and was stopped.");
      const { done } = this;
      this.finish(
        this.resultOf(() => this.fromDone(done, NO_FACTS)),
        {},
      );
      return;
    }
    this.finish(this.failed(guestError(message), kind, NO_FACTS), {});
  }

  private endScript(openCalls: number, text: string): void {
    if (this.done !== undefined) return;
    this.done = text;
    this.openCalls = openCalls;
  }

  /** The engine's memory: of a paused script, or at the end of a run. */
  receiveSnapshot(bytes: Uint8Array): void {
    if (!this.ended) this.snapshot = bytes;
  }

  private async answer(id: number, text: string): Promise<void> {
    const call: OpenCall = { text };
    this.open.set(id, call);
    let answer: string;
    try {
      answer = REPLY_OK + encodeForGuest(await this.call(text));
    } catch (error) {
      const suspension = this.done === undefined ? suspensionOf(error) : undefined;
      if (suspension !== undefined) return this.hold(call, suspension);
      answer = REPLY_ERROR + errorForGuest(error);
    }
    if (this.ended) return; // a late result must never reach the next run
    if (this.done !== undefined && answer.startsWith(REPLY_ERROR)) this.noteFailure(text, answer);
    // Its result comes too late when the call was suspended meanwhile: whoever paused the run asks again or knows it.
    if (call.suspended !== undefined) return;
    this.open.delete(id);
    this.link.reply(id, answer);
    this.suspendIfWaiting();
  }

  private hold(call: OpenCall, suspension: { reason: unknown }): void {
    call.suspended ??= suspension;
    this.suspendIfWaiting();
  }

  private readonly pauseNow = (): void => {
    for (const call of this.open.values()) call.suspended ??= { reason: "pause" };
    this.suspendIfWaiting();
  };

  /** Pauses the script once all of its open calls wait for answers from outside. */
  private suspendIfWaiting(): void {
    if (this.ended || this.done !== undefined || this.open.size === 0) return;
    for (const { suspended } of this.open.values()) if (suspended === undefined) return;
    this.link.suspend([...this.open.keys()]);
  }

  private async call(text: string): Promise<unknown> {
    const { name, args } = parseCall(text);
    const fn = this.functions.get(name);
    if (fn === undefined) throw new Error("Unknown function");
    const answer: unknown = await (fn as (...args: unknown[]) => unknown)(...args);
    if (typeof answer === "string") this.gaveText.add(name);
    return answer;
  }

  private noteFailure(call: string, answer: string): void {
    const { message } = JSON.parse(answer.slice(1)) as { message: string };
    this.notes.add(`${describeCall(call)} was not awaited, and it failed: ${message}`);
  }

  private log(text: string): void {
    const parsed: unknown = JSON.parse(text);
    const [level, line] = Array.isArray(parsed) ? (parsed as unknown[]) : [];
    // The guest keeps this bound itself, and its last line says so.
    const room = this.limits.maxLogBytes + MOST_LOG_MARKER - this.logged;
    if (!LEVELS.has(level) || typeof line !== "string" || room <= 0) return;
    this.logged += line.length + 1;
    const entry = { level: level as LogEntry["level"], text: line.length > room ? line.slice(0, room) : line };
    this.logs.push(entry);
    this.options.onLog?.(entry);
  }

  private report(report: RunReport): void {
    this.notes.addAll(report.notes);
    const facts = factsOf(report);
    const { failure, suspended } = report;
    const result = this.resultOf(() => {
      if (suspended === true) return this.paused();
      if (failure !== undefined) return this.failed(failure.error, failure.kind, facts);
      return this.fromDone(this.done ?? `${REPLY_ERROR}{}`, facts);
    });
    this.finish(result, report.stats);
  }

  private paused(): SandboxResult {
    const { snapshot } = this;
    if (snapshot === undefined)
      return this.failed(guestError("The paused script did not hand over its memory."), "sandbox", NO_FACTS);
    const pending = Array.from(this.open, ([id, { text, suspended }]) => {
      return { id, ...parseCall(text), reason: suspended?.reason };
    });
    return { status: "suspended", pending, snapshot };
  }

  private fromDone(done: string, facts: RunFacts): SandboxResult {
    if (!done.startsWith(REPLY_OK)) {
      const error = JSON.parse(done.slice(1)) as Partial<GuestError>;
      return this.failed({ name: "Error", message: "", stack: "", ...error }, undefined, facts);
    }
    const { notes, value } = readResult(done.slice(1), this.limits.maxResultBytes);
    this.notes.addAll(notes);
    return { status: "completed", value };
  }

  private failed(error: GuestError, kind: ErrorKind | undefined, facts: RunFacts): SandboxResult {
    const { sent, script } = this.begin;
    const { limits, openCalls, gaveText } = this;
    const { rewrite, offset, memoryBytes, columnShift } = facts;
    const evaluated = rewrite === undefined ? script : chained(script, rewrite);
    const functions = [...this.functions.keys()];
    const at = offset === undefined ? undefined : originOf(script.steps, offset);
    const known = { sent, evaluated, columnShift, offset: at, limits, memoryBytes, functions, openCalls, gaveText };
    return { status: "failed", error: toScriptError(error, kind, known) };
  }

  private finish(result: SandboxResult, stats: RunStats): void {
    this.ended = true;
    this.options.pause?.removeEventListener("abort", this.pauseNow);
    const durationMs = performance.now() - this.startedAt;
    const kept = result.status !== "suspended" && this.snapshot !== undefined ? { snapshot: this.snapshot } : {};
    this.resolve({ ...result, ...kept, logs: this.logs, notes: this.notes.list(), stats: { ...stats, durationMs } });
  }
}

/** Answers come from outside as the results of functions do: one that cannot be sent is an error in the script. */
function replyTo(answer: CallAnswer): string {
  if ("error" in answer) return REPLY_ERROR + JSON.stringify({ name: "Error", ...answer.error });
  try {
    return REPLY_OK + encodeForGuest(answer.value);
  } catch (error) {
    return REPLY_ERROR + errorForGuest(error);
  }
}

const NO_ANSWER = "The sandbox sent a result that is none.";
const guestError = (message: string): GuestError => ({ name: "", message, stack: "" });

/** What the worker knows of a run that failed. */
interface RunFacts {
  memoryBytes: number;
  columnShift: number;
  rewrite?: Rewrite | undefined;
  offset?: number | undefined;
}

const NO_FACTS: RunFacts = { memoryBytes: 0, columnShift: 0 };

const factsOf = ({ stats, columnShift, rewrite, failure }: RunReport): RunFacts => ({
  memoryBytes: stats.memoryBytes,
  columnShift,
  rewrite,
  offset: failure?.offset,
});

const finite = (limit: number): number => Math.min(limit, Number.MAX_SAFE_INTEGER);
const orNull = (limit: number): number | null => (Number.isFinite(limit) ? limit : null);
