import type { CatalogView } from "../catalog/catalog.js";
import type { CallContext, Tool } from "../catalog/tool.js";
import { RunCalls } from "../calls/call-tool.js";
import { decisionsOf, questionForm, type CallQuestion, type PersonDecision } from "../calls/questions.js";
import type { CallsState } from "../calls/run-calls-options.js";
import { endOf, type CallEnd, type WaitingCall } from "../calls/waiting-calls.js";
import { CodeModeError, messageOf, type ErrorKind } from "../errors.js";
import type { CallAnswer, FinishedResult, LogEntry, SandboxResult } from "../sandbox/provider.js";
import { continueScript, startScript, type PartOptions, type ScriptHost } from "./script-in-sandbox.js";
import type { RunParts, RunWatch } from "./run-script.js";

/** A script of which a part may have run already, in another request or process. */
export interface RunBefore {
  calls: CallsState;
  logs: readonly LogEntry[];
  notes: readonly string[];
  /** Milliseconds that the script has used, people's time left out. */
  used: UsedTime;
}

/** Milliseconds of a script's own time, and of its computing. */
export interface UsedTime {
  wallMs: number;
  cpuMs: number;
}

/** A call that a paused script waits for, as the sandbox names it. */
export interface OpenCall {
  callId: number;
  call: WaitingCall;
}

/** A script that was paused, and that nobody here can answer now. */
export interface Paused {
  status: "suspended";
  open: readonly OpenCall[];
  snapshot: Uint8Array;
}

/** One run of a script in one request: from its start, or from where it was paused, to its end or the next pause. */
export class RunUnderWay {
  /** On the clock of `performance.now()`. */
  readonly start = performance.now();
  readonly logs: LogEntry[];
  readonly notes: string[];
  readonly view: CatalogView;
  readonly calls: RunCalls;
  readonly used: UsedTime;
  private readonly host: ScriptHost;
  /** When the client that asked is about to give up. */
  private readonly clientUntil: number;
  private readonly pause = new AbortController();
  private readonly pauseTimer: NodeJS.Timeout | undefined;

  constructor(
    private readonly parts: RunParts,
    private readonly context: CallContext,
    watch: RunWatch,
    { code, before }: { code: string; before?: RunBefore | undefined },
  ) {
    this.view = parts.catalog.view(context);
    this.logs = [...(before?.logs ?? [])];
    this.notes = [...(before?.notes ?? [])];
    this.used = { wallMs: 0, cpuMs: 0, ...before?.used };
    const clientMs =
      parts.pausedRuns === undefined || parts.resumeTool() === undefined ? Infinity : parts.limits.clientTimeoutMs;
    this.clientUntil = this.start + clientMs;
    if (Number.isFinite(clientMs)) this.pauseTimer = setTimeout(() => this.pause.abort(), clientMs).unref();
    this.calls = this.newCalls(watch, before);
    this.host = { parts, calls: this.calls, view: this.view, context, progress: watch.progress, code };
  }

  private newCalls({ observation, progress }: RunWatch, before: RunBefore | undefined): RunCalls {
    const { parts, context, view } = this;
    const { limits, plans, policy, metaToolNames, onResult } = parts;
    return new RunCalls({
      catalog: view,
      limits,
      plans,
      policy,
      context,
      metaToolNames,
      observation,
      onResult: onResult && ((tool: Tool, value: unknown) => onResult(tool, value, context)),
      onAnswered: progress && (() => progress.called()),
      asks: parts.pausedRuns !== undefined ? "pause" : context.elicit && ((question) => this.askAtOnce(question)),
      pause: this.pauseTimer === undefined ? undefined : this.pause.signal,
      mayCall: parts.requiredSchema?.checkFor(context),
      before: before?.calls,
    });
  }

  /** From the beginning to the end, or to a pause that needs somebody who is not here. */
  async run(part: PartOptions): Promise<FinishedResult | Paused> {
    return this.untilPaused(await this.timed(() => startScript(this.host, part, this.logs)), part);
  }

  /** From a pause: every open call has an end. */
  async goOn(paused: Omit<Paused, "status">, part: PartOptions = {}): Promise<FinishedResult | Paused> {
    return this.untilPaused(await this.afterPause(paused, part), part);
  }

  /** Stops waiting for the client; calls under way go on. */
  stopClock(): void {
    clearTimeout(this.pauseTimer);
  }

  /** Asks the person behind the client. Undefined: there is none, no time is left, or nobody answered. */
  async ask(questions: readonly CallQuestion[]): Promise<PersonDecision[] | undefined> {
    const { elicit, signal } = this.context;
    const timeoutMs = Math.min(this.parts.limits.humanWaitMs, this.clientUntil - performance.now());
    if (elicit === undefined || timeoutMs <= 0) return undefined;
    try {
      return decisionsOf(await elicit(questionForm(questions), { signal, timeoutMs }), questions.length);
    } catch {
      // The client could not ask, or the person took too long: the run waits for a better moment.
      return undefined;
    }
  }

  /** For sandboxes that cannot be paused: the script waits, and its clock with it. */
  private async askAtOnce(question: CallQuestion): Promise<PersonDecision> {
    return (await this.ask([question]))?.[0] ?? { action: "deny", reason: "nobody answered" };
  }

  private async untilPaused(first: SandboxResult, part: PartOptions): Promise<FinishedResult | Paused> {
    let result = first;
    while (result.status === "suspended") {
      const { snapshot, notes = [] } = result;
      this.notes.push(...notes);
      const open = this.openCalls(result);
      if (open === undefined) return UNKNOWN_PAUSE;
      if (!(await this.answerHere(open))) return { status: "suspended", open, snapshot };
      result = await this.afterPause({ snapshot, open }, part);
    }
    return result;
  }

  private openCalls({ pending }: SandboxResult & { status: "suspended" }): OpenCall[] | undefined {
    const open: OpenCall[] = [];
    for (const { id, reason } of pending) {
      const call = this.calls.waiting.callOf(reason);
      if (call === undefined) return undefined;
      open.push({ callId: id, call });
    }
    return open;
  }

  /** True once every open call has its end, false when the client would give up first or nobody is there to ask. */
  private async answerHere(open: readonly OpenCall[]): Promise<boolean> {
    if (this.context.signal.aborted) return false;
    const undecided = open.filter(({ call }) => call.end === undefined);
    if (undecided.length > 0) {
      const decisions = await this.ask(undecided.map(({ call }) => call.question));
      if (decisions === undefined) return false;
      for (const [index, { call }] of undecided.entries()) {
        call.end = endOf(this.calls.decided(call, decisions[index] ?? { action: "deny" }));
      }
    }
    const all = (): Promise<unknown> => Promise.all(open.map(async ({ call }) => call.end));
    return this.beforeClientGivesUp(this.timed(all));
  }

  /** True once the work is done, false when the client that asked would give up first. */
  async beforeClientGivesUp(work: Promise<unknown>): Promise<boolean> {
    const ms = this.clientUntil - performance.now();
    if (!Number.isFinite(ms)) return work.then(() => true);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(() => resolve(false), Math.max(0, ms));
    });
    return Promise.race([work.then(() => true), late]).finally(() => clearTimeout(timer));
  }

  private async afterPause({ open, snapshot }: Omit<Paused, "status">, part: PartOptions): Promise<SandboxResult> {
    const answers = await Promise.all(
      open.map(async ({ callId, call }) => answerOf(callId, (await call.end) ?? { error: undefined })),
    );
    this.calls.waiting.clear();
    const options = { keepSnapshot: part.keepSnapshot === true, ...this.left() };
    return this.timed(() => continueScript(this.host, { snapshot, answers }, options, this.logs));
  }

  /** What remains of the script's time: its limits hold over all its parts. */
  private left(): PartOptions {
    const { timeoutMs, cpuMs } = this.parts.limits;
    const { wallMs, cpuMs: usedCpuMs } = this.used;
    // The limits of a provider of its own stand where none were given: those begin anew with each part.
    if (wallMs === 0) return {};
    return { timeoutMs: rest(timeoutMs, wallMs), cpuMs: rest(cpuMs, usedCpuMs) };
  }

  private async timed<T>(work: () => Promise<T>): Promise<T> {
    const from = performance.now();
    const result = await work();
    this.used.wallMs += performance.now() - from;
    const stats = (result as { stats?: { cpuMs?: unknown } } | undefined)?.stats;
    if (typeof stats?.cpuMs === "number") this.used.cpuMs += stats.cpuMs;
    return result;
  }
}

/** At least the smallest limit there is; null for no limit. */
const rest = (limit: number, used: number): number | null =>
  Number.isFinite(limit) ? Math.max(1, Math.floor(limit - used)) : null;

const UNKNOWN_PAUSE: FinishedResult = {
  status: "failed",
  error: { kind: "sandbox", name: "SandboxError", message: "The sandbox paused the script for a reason nobody gave." },
};

/** The end of a call as the paused script gets it: of an error its message and kind, as if it had never been away. */
function answerOf(id: number, end: CallEnd): CallAnswer {
  if ("value" in end) return { id, value: end.value };
  const kind: ErrorKind = CodeModeError.isInstance(end.error) ? end.error.kind : "tool";
  return { id, error: { message: messageOf(end.error), kind } };
}
