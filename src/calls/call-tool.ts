import type { CatalogEntry } from "../catalog/catalog.js";
import { isSequential, serverOf, type CallContext, type ToolResult } from "../catalog/tool.js";
import { messageOf, ToolCallError, ValidationError } from "../errors.js";
import { suspensionOf } from "../sandbox/provider.js";
import { rememberJson } from "../sandbox/values/json-text.js";
import { isPlainJson } from "../sandbox/values/plain.js";
import { ActiveCalls } from "./active-calls.js";
import { addDefaults, coerceArguments, shapeArguments, type ArgumentPlan } from "./arguments.js";
import { CallBudget } from "./budget.js";
import { absentTool, failed, invalidArguments, metaToolInside, unknownTool } from "./call-errors.js";
import { answeredWithError, needsClient, rejectedCall } from "./call-failures.js";
import type { CallRecord } from "./call-record.js";
import { CallTelemetry } from "./call-telemetry.js";
import { ContentHandles } from "./content-handles.js";
import { normalizeResult } from "./normalize-result.js";
import { admittedBy, allowedBy, callInfo, nobodyToAsk } from "./policy.js";
import type { PersonDecision } from "./questions.js";
import type { CallsState, RunCallsOptions } from "./run-calls-options.js";
import { isRecord } from "./schema-types.js";
import { argumentCheck } from "./validate.js";
import { endOf, WaitingCalls, type WaitingCall } from "./waiting-calls.js";

/** Suggestions compare a name with every tool: a script that guesses on gets none after this many. */
const MAX_SUGGESTIONS = 10;
const MAX_RECORDED_NAME = 128;

/** The calls of one run: one object per run, so that no result can reach another. */
export class RunCalls {
  /** In the order in which the script made them. */
  readonly records: CallRecord[];
  readonly handles: ContentHandles;
  /** Tools without an outputSchema that gave text: scripts often take it for an object. */
  readonly textTools: Set<string>;
  /** Calls that the script was paused for. */
  readonly waiting = new WaitingCalls();
  /** A protocol error that the client has to see itself (it must open a URL), as the source threw it. */
  protocolError: unknown;
  private readonly budget: CallBudget;
  private readonly active: ActiveCalls;
  private readonly telemetry: CallTelemetry;
  private readonly pending = new Set<CallRecord>();
  private readonly failures = new Map<CallRecord, string>();
  private readonly onPause = new Set<() => void>();
  private suggestions = 0;
  private wake: (() => void) | undefined;

  constructor(private readonly options: RunCallsOptions) {
    const { before } = options;
    this.records = [...(before?.records ?? [])];
    this.handles = new ContentHandles(before?.content);
    this.textTools = new Set(before?.textTools);
    this.budget = new CallBudget(options.limits, before?.spent);
    this.active = new ActiveCalls(options.context, options.limits.toolTimeoutMs);
    // One listener for all calls: a signal warns of more than ten.
    options.pause?.addEventListener("abort", () => this.onPause.forEach((pause) => pause()), { once: true });
    this.telemetry = new CallTelemetry(options.observation, options.context.callerId);
  }

  /**
   * `call_tool` of a script.
   *
   * @returns What the tool gave: its structured content, else its text, else null; media as handle objects.
   * @throws {CodeModeError} of kind tool, validation, limit, approval, timeout or cancelled. Its message is for the script.
   */
  async callTool(name: unknown, ...[given, ...rest]: unknown[]): Promise<unknown> {
    this.budget.countCall();
    if (typeof name !== "string") throw new ValidationError("call_tool(name, params): the name must be a string.");
    const record = this.begin(name);
    const call = this.recorded(record, async () => {
      const entry = await this.lookUp(name, record);
      await this.options.mayCall?.(entry.tool.name);
      const plan = this.options.plans.for(entry.tool);
      const args = await this.admit(entry, plan, record, given, rest);
      return this.make(entry, plan, record, args);
    });
    return this.options.pause === undefined ? call : this.orPaused(this.options.pause, record, call);
  }

  /**
   * Goes on with a call that a person was to decide about.
   *
   * @throws {CodeModeError} as {@link RunCalls.callTool}.
   */
  async decided({ record, arguments: asked }: WaitingCall, decision: PersonDecision): Promise<unknown> {
    this.telemetry.begin(record);
    return this.recorded(record, async () => {
      const entry = await this.lookUp(record.tool, record);
      const plan = this.options.plans.for(entry.tool);
      const edited = allowedBy(record.tool, decision);
      const args = { ...(edited ?? asked) };
      if (edited !== undefined) await this.check(entry, args, plan);
      return this.make(entry, plan, record, args);
    });
  }

  /** The calls so far, for a run that goes on elsewhere. */
  get state(): CallsState {
    return {
      records: this.records,
      spent: this.budget.spent,
      content: this.handles.kept,
      textTools: [...this.textTools],
    };
  }

  /** Calls that had their answer, or still wait for the host: not those that wait for somebody. */
  get answered(): readonly CallRecord[] {
    return this.records.filter((record) => !this.waiting.has(record));
  }

  /**
   * Another function of the script that counts as a call (`search_tools`, `get_schema`).
   *
   * @throws {LimitError} as for a tool.
   */
  async count<T>(name: string, call: (context: CallContext) => Promise<T>): Promise<T> {
    this.budget.countCall();
    const record = this.begin(name);
    record.readOnly = true;
    this.telemetry.known(record);
    return this.recorded(record, () => this.active.run(name, call));
  }

  /** Calls without an answer yet. */
  get unanswered(): readonly CallRecord[] {
    return [...this.pending];
  }

  /** The message of a call that failed; undefined when it did not. */
  failureOf(record: CallRecord): string | undefined {
    return this.failures.get(record);
  }

  /** Resolves when every call has its answer, or after `ms`. */
  async idle(ms: number): Promise<void> {
    if (this.pending.size === 0) return;
    const { promise, resolve } = withResolver();
    this.wake = resolve;
    const timer = setTimeout(resolve, ms);
    await promise;
    clearTimeout(timer);
  }

  /** Aborts what is under way and refuses further calls. What still comes in is dropped. */
  end(): void {
    this.budget.close();
    this.active.end();
  }

  private async make(
    entry: CatalogEntry,
    plan: ArgumentPlan,
    record: CallRecord,
    args: Record<string, unknown>,
  ): Promise<unknown> {
    const result = await this.send(entry, plan, record, args);
    if (result.isError === true) throw await answeredWithError(entry, plan, args, result);
    return this.receive(entry, record, result);
  }

  /** The call's end, or a pause of the script while it goes on. */
  private orPaused(pause: AbortSignal, record: CallRecord, call: Promise<unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const onPause = (): void => {
        const { tool, server } = record;
        const question = { tool, server, arguments: {} };
        reject(this.waiting.pauseFor({ record, arguments: {}, question, end: endOf(call) }));
      };
      if (pause.aborted) onPause();
      this.onPause.add(onPause);
      call.then(resolve, reject).finally(() => this.onPause.delete(onPause));
    });
  }

  private begin(name: string): CallRecord {
    const record: CallRecord = { tool: name.slice(0, MAX_RECORDED_NAME), ok: false, ms: 0 };
    this.records.push(record);
    this.telemetry.begin(record);
    return record;
  }

  private async recorded<T>(record: CallRecord, call: () => Promise<T>): Promise<T> {
    const start = performance.now();
    this.pending.add(record);
    let failure: { error: unknown } | undefined;
    try {
      const value = await call();
      record.ok = true;
      return value;
    } catch (error) {
      failure = { error };
      throw error;
    } finally {
      record.ms = Math.round((performance.now() - start) * 1000) / 1000;
      this.pending.delete(record);
      // A call that waits for a person has not ended.
      if (failure === undefined || suspensionOf(failure.error) === undefined) this.ended(record, failure);
      if (this.pending.size === 0) this.wake?.();
    }
  }

  private ended(record: CallRecord, failure: { error: unknown } | undefined): void {
    if (failure !== undefined) this.failures.set(record, messageOf(failure.error));
    this.telemetry.end(record, failure);
    this.options.onAnswered?.();
  }

  private async lookUp(name: string, record: CallRecord): Promise<CatalogEntry> {
    const { catalog, metaToolNames } = this.options;
    const entry = await catalog.find(name);
    if (entry === undefined) {
      if (metaToolNames.has(name)) throw metaToolInside(name);
      const [absence] = catalog.absences(name);
      if (absence !== undefined) throw absentTool(name, absence);
      const candidates = this.suggestions++ < MAX_SUGGESTIONS ? (await catalog.snapshot()).entries.keys() : [];
      throw unknownTool(name, candidates);
    }
    this.telemetry.known(record);
    record.tool = entry.tool.name;
    record.server = serverOf(entry.tool);
    record.readOnly = entry.tool.annotations?.["readOnlyHint"] === true;
    return entry;
  }

  /** From what the script gave to what the tool gets. */
  private async admit(
    entry: CatalogEntry,
    plan: ArgumentPlan,
    record: CallRecord,
    given: unknown,
    rest: readonly unknown[],
  ): Promise<Record<string, unknown>> {
    const args = shapeArguments(entry.shown, given, rest);
    const argumentBytes = Buffer.byteLength(jsonText(entry.tool.name, "arguments", args));
    this.telemetry.measured(record, { argumentBytes });
    this.budget.checkArgumentBytes(entry.tool.name, argumentBytes);
    addDefaults(args, plan);
    await this.check(entry, args, plan);
    const edited = await this.decide(entry, plan, record, args);
    if (edited === undefined) return args;
    const again = { ...edited };
    await this.check(entry, again, plan);
    return again;
  }

  /** What policy and person say: edited arguments, or undefined. */
  private async decide(
    { tool }: CatalogEntry,
    { hidden }: ArgumentPlan,
    record: CallRecord,
    args: Record<string, unknown>,
  ): Promise<Record<string, unknown> | undefined> {
    const { policy, context, asks } = this.options;
    if (policy === undefined) return undefined;
    const admitted = await admittedBy(policy, callInfo(tool, args, "script", context.callerId));
    if (admitted.action === "allow") return admitted.arguments;
    if (asks === undefined) throw nobodyToAsk(tool.name, admitted.reason);
    const shown = Object.fromEntries(Object.entries(args).filter(([name]) => !hidden.has(name)));
    const question = { tool: tool.name, server: record.server, arguments: shown, reason: admitted.reason };
    if (asks === "pause") throw this.waiting.pauseFor({ record, arguments: args, question });
    return allowedBy(tool.name, await asks(question));
  }

  private async check(entry: CatalogEntry, args: Record<string, unknown>, plan: ArgumentPlan): Promise<void> {
    coerceArguments(entry.shown, args, plan);
    const { validatesArguments } = entry.source;
    if (typeof validatesArguments === "function" ? validatesArguments(entry.tool.name) : validatesArguments) return;
    const faults = (await argumentCheck(entry.tool))(args);
    if (faults !== undefined) throw invalidArguments(entry.shown, faults);
  }

  private async send(
    entry: CatalogEntry,
    plan: ArgumentPlan,
    record: CallRecord,
    args: Record<string, unknown>,
  ): Promise<ToolResult> {
    const { tool, source } = entry;
    const turn = this.budget.enter(isSequential(tool));
    if (turn !== undefined) await turn;
    try {
      const result: unknown = await this.active.run(tool.name, (context) =>
        this.telemetry.within(record, () => source.callTool(tool.name, args, context)),
      );
      return isRecord(result) ? result : {};
    } catch (reason) {
      if (needsClient(reason)) this.protocolError ??= reason;
      throw rejectedCall(entry, plan, args, reason);
    } finally {
      this.budget.leave();
    }
  }

  private receive({ tool }: CatalogEntry, record: CallRecord, result: ToolResult): unknown {
    const { value, heldCharacters } = normalizeResult(result, this.handles);
    const text = typeof value === "string" ? value : jsonText(tool.name, "result", value);
    const resultBytes = Buffer.byteLength(text) + heldCharacters;
    this.telemetry.measured(record, { resultBytes });
    this.budget.countResultBytes(tool.name, resultBytes);
    if (heldCharacters === 0) this.options.onResult?.(tool, value);
    if (typeof value === "string") {
      if (tool.outputSchema === undefined) this.textTools.add(tool.name);
      return value;
    }
    // What a client would get over the wire: a Date of a tool in this process is text there.
    const sent: unknown = isPlainJson(value) ? value : JSON.parse(text);
    if (typeof sent === "object" && sent !== null) rememberJson(sent, text);
    return sent;
  }
}

/** @throws {ToolCallError} for what JSON cannot hold. */
function jsonText(tool: string, what: string, value: unknown): string {
  try {
    return JSON.stringify(value) ?? "null";
  } catch (cause) {
    throw new ToolCallError(failed(tool, `its ${what} cannot be sent as JSON.`), { details: { tool }, cause });
  }
}

function withResolver(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
