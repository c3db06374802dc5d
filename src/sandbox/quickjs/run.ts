import { messageOf, SandboxError } from "../../errors.js";
import { OutOfGuestMemory, type GuestText } from "./host-function.js";
import type { Instance } from "./instance.js";
import { KIND, type GuestError, type RunReport, type RunRequest } from "./protocol.js";
import { RunNotes } from "./run-notes.js";
import { isRewrite, type Rewrite } from "../script/rewrite.js";
import { startScript, startSessionScript, uncalledIn, type NotStarted } from "./compile.js";

/** What a run needs of the thread it is in. */
export interface RunHost {
  /** A message of the script for the host. The bytes are valid until this returns. */
  send(kind: number, id: number, bytes: Uint8Array, at: number, length: number): void;
  /** True once somebody gave up on the run. Asked every few thousand steps of the script. */
  cancelled(): boolean;
  /** The script starts or stops to compute; `cpuMs` is what it has used so far. */
  computing(active: boolean, cpuMs: number): void;
}

/** Promise reactions between two looks at the clock: a storm of tiny jobs outlives a single interrupt poll. */
const JOBS_PER_SLICE = 1000;
/** After its end a run waits this long for calls that the script did not await. */
const JOIN_MS = 5_000;
/** Above this part of the cap memory counts as used up, when the engine had none left even to say so. */
const FULL_MEMORY = 0.9;
/** What the guest says of a script that gave nothing. */
const NOTHING = "+[[]]";

/**
 * One script in one instance, driven by events: `start()`, then `settle()` for each answer and `tick()` for timers, until
 * `over`. Never throws: traps of the engine become failures too.
 */
export class ScriptRun {
  over = false;
  private done = false;
  private suspended = false;
  private failure: RunReport["failure"];
  private readonly notes = new RunNotes();
  private columnShift = 0;
  private rewrite: Rewrite | undefined;
  /** The script may be nothing but declarations, and has not ended. */
  private mayDeclareOnly = false;
  private gaveNothing = false;
  private readonly open = new Set<number>();
  private messages = 0;
  private cpuMs = 0;
  private enteredAt = 0;
  private deadline: number;
  private joinUntil = Infinity;

  constructor(
    private readonly instance: Instance,
    private readonly request: RunRequest,
    private readonly host: RunHost,
  ) {
    this.deadline = request.timeoutMs === null ? Infinity : performance.now() + request.timeoutMs;
  }

  /** Runs the script. `snapshot`: in the memory of an earlier run, whose globals are still there. */
  start(snapshot?: Uint8Array): void {
    if (!this.prepare(() => this.configure(snapshot))) return this.end();
    this.enter(() => {
      if (!this.provideInputs()) return;
      const promise = this.compile();
      if (promise !== undefined) this.instance.finish(promise.promise, promise.boxed);
    });
  }

  /** Goes on with a paused script, whose open calls are to be answered by `settle`. */
  resume(snapshot: Uint8Array, openCalls: readonly number[]): void {
    if (!this.prepare(() => this.restore(snapshot))) return this.end();
    for (const id of openCalls) this.open.add(id);
    this.settleState();
  }

  /** Pauses the script: its memory, and the run is over. Undefined when other calls are open than the host thinks. */
  suspend(openCalls: readonly number[]): Uint8Array | undefined {
    if (this.over || this.done || openCalls.length !== this.open.size) return undefined;
    if (!openCalls.every((id) => this.open.has(id))) return undefined;
    const snapshot = this.instance.save({ columnShift: this.columnShift, rewrite: this.rewrite });
    this.suspended = true;
    this.over = true;
    return snapshot;
  }

  /** Memory at the end of the run, for a later one to start from; undefined when the engine is not sound any more. */
  finalSnapshot(): Uint8Array | undefined {
    return this.instance.broken || this.failure?.kind === "sandbox" ? undefined : this.instance.save(null);
  }

  /** The answer to a call: `+` and a value, or `-` and an error. */
  settle(id: number, bytes: Uint8Array, at: number, length: number): void {
    if (this.over || !this.open.delete(id)) return;
    this.enter(() => {
      this.instance.setControl(1, id);
      this.noteException(this.instance.call("settle", { bytes, at, length }));
    });
  }

  /** Time has passed: runs the timer that is due, or ends the run when its own time is over. */
  tick(): void {
    if (this.over) return;
    if (this.mustStop()) return this.end();
    if (this.timerIn() > 0) return this.settleState();
    this.enter(() => this.noteException(this.instance.call("tick")));
  }

  /** Milliseconds until `tick()` has something to do; more than any timer takes when only an answer can help. */
  waitMs(): number {
    const now = performance.now();
    return Math.max(0, Math.min(this.deadline - now, this.joinUntil - now, this.timerIn()));
  }

  private prepare(setUp: () => void): boolean {
    try {
      setUp();
    } catch (error) {
      if (!(error instanceof SandboxError)) this.trapped(error);
      this.fail("sandbox", messageOf(error));
    }
    this.instance.setLimits(this.request.maxStackBytes);
    const { seed } = this.request;
    for (let index = 0; index < seed.length; index++) this.instance.setControl(4 + index, seed[index] ?? 0);
    if (this.request.from !== "resume") this.instance.setControlTime(5, Date.now());
    if (this.request.from !== "resume") this.instance.setControl(2, this.request.code.includes("RESULT") ? 1 : 0);
    this.instance.onHost = this.receive;
    this.instance.onInterrupt = this.mustStop;
    return this.failure === undefined;
  }

  private restore(snapshot: Uint8Array): void {
    const note = this.instance.load(snapshot) as { columnShift?: unknown; rewrite?: unknown } | null;
    this.columnShift = typeof note?.columnShift === "number" ? note.columnShift : 0;
    this.rewrite = isRewrite(note?.rewrite) ? note.rewrite : undefined;
  }

  private configure(snapshot: Uint8Array | undefined): void {
    const error =
      snapshot === undefined
        ? this.instance.configure(this.request.config)
        : this.instance.configureIn(snapshot, this.request.config);
    if (error !== undefined) this.failWith(error, "sandbox");
  }

  report(): RunReport {
    const stats = { cpuMs: this.cpuMs, memoryBytes: this.instance.memorySize, messages: this.messages };
    return {
      ...(this.failure === undefined ? {} : { failure: this.failure }),
      ...(this.suspended ? { suspended: true } : {}),
      notes: this.notes.list(),
      columnShift: this.columnShift,
      ...(this.rewrite === undefined ? {} : { rewrite: this.rewrite }),
      stats,
    };
  }

  private provideInputs(): boolean {
    const { inputs } = this.request;
    if (inputs === null) return true;
    const bytes = Buffer.from(inputs);
    const error = this.instance.call("provide", { bytes, at: 0, length: bytes.length });
    if (error !== undefined) this.failWith(error, "sandbox");
    return error === undefined;
  }

  /** The promise of the script's end; undefined when it does not parse. */
  private compile(): { promise: number; boxed: boolean } | undefined {
    const start = this.request.keepSnapshot ? startSessionScript : startScript;
    const started = start(this.instance, this.request.code, this.msLeft());
    if ("error" in started) return this.failToStart(started);
    this.columnShift = started.columnShift;
    this.rewrite = started.rewrite;
    // In a session a script may well only declare what the next one calls.
    this.mayDeclareOnly = started.boxed && !this.request.keepSnapshot;
    this.notes.addAll(started.notes);
    return started;
  }

  private failToStart({ error, offset }: NotStarted): undefined {
    // Text can also be too deep or too large for the engine's own parser.
    const isTooDeep = error.message === "stack overflow";
    const isTooLarge = error.name === "InternalError" && !isTooDeep;
    this.fail(isTooDeep ? "stack" : isTooLarge ? "memory" : "syntax", error);
    if (this.failure !== undefined && offset !== undefined) this.failure.offset = offset;
  }

  /** Nothing came of the script. If that is because nothing calls the function it declares, that is done now. */
  private endOrCall(): void {
    const found = uncalledIn(this.rewrite?.code ?? this.request.code, this.msLeft());
    if (found !== undefined) this.notes.add(found.note);
    const call = found?.call;
    const started = call === undefined ? undefined : this.instance.evaluate(call + "()", true);
    if (started !== undefined && started.error === undefined) return this.instance.finish(started.value, true);
    const bytes = Buffer.from(NOTHING);
    this.host.send(KIND.DONE, 0, bytes, 0, bytes.length);
    this.markDone();
  }

  private msLeft(): number {
    const now = performance.now();
    const cpuLeft = (this.request.cpuMs ?? Infinity) - this.cpuMs - (this.enteredAt === 0 ? 0 : now - this.enteredAt);
    return Math.min(this.deadline - now, cpuLeft);
  }

  private failWith(error: string, kind: "syntax" | "sandbox"): undefined {
    const described = JSON.parse(error) as GuestError;
    this.fail(described.name === "SyntaxError" || kind === "sandbox" ? kind : "runtime", described);
  }

  private fail(kind: NonNullable<RunReport["failure"]>["kind"], error: GuestError | string): void {
    if (this.failure !== undefined || this.done) return;
    this.failure = { kind, error: typeof error === "string" ? { name: "Error", message: error, stack: "" } : error };
  }

  /** Runs guest code and the jobs it leaves, on the clock, and sees what became of the run. */
  private enter(work: () => void): void {
    this.enteredAt = performance.now();
    this.host.computing(true, this.cpuMs);
    try {
      work();
      this.drain();
      if (this.gaveNothing && this.failure === undefined && !this.mustStop()) {
        this.gaveNothing = false;
        this.endOrCall();
        this.drain();
      }
    } catch (error) {
      this.trapped(error);
    }
    this.cpuMs += performance.now() - this.enteredAt;
    this.enteredAt = 0;
    this.host.computing(false, this.cpuMs);
    this.settleState();
  }

  private drain(): void {
    while (this.failure === undefined && !this.mustStop()) {
      if (this.instance.runJobs(JOBS_PER_SLICE) === 0) return;
    }
  }

  /** A host exception is a trap: the stack of the thread ran out inside the engine, or its memory is broken. */
  private trapped(error: unknown): void {
    // An interrupt while the guest describes an error leaves no text of it either.
    if (error instanceof OutOfGuestMemory) return this.mustStop() ? undefined : this.fail("memory", "out of memory");
    this.instance.broken = true;
    if (error instanceof RangeError) return this.fail("stack", "stack overflow");
    this.fail(this.memoryIsFull() ? "memory" : "sandbox", `the engine stopped: ${String(error)}`);
  }

  private settleState(): void {
    if (this.over) return;
    if (this.failure !== undefined || this.instance.broken || this.mustStop()) return this.end();
    if (this.done) {
      if (this.open.size === 0 || performance.now() >= this.joinUntil) this.end();
      return;
    }
    if (this.open.size > 0 || this.timerIn() !== Infinity) return;
    if (this.memoryIsFull()) this.fail("memory", "out of memory");
    else this.fail("runtime", "The script waits for a promise that nothing will ever settle.");
    this.end();
  }

  private end(): void {
    // A script can catch the interrupt and go on: whatever it says after that, the clock is right.
    if (this.host.cancelled()) this.fail("cancelled", "cancelled");
    else if (this.mustStop()) this.fail("timeout", performance.now() >= this.deadline ? "timeoutMs" : "cpuMs");
    if (this.done && this.open.size > 0) this.notes.add(openCallsNote(this.open.size));
    this.over = true;
    this.instance.onHost = () => {};
    this.instance.onInterrupt = () => true;
  }

  private readonly mustStop = (): boolean => {
    const now = performance.now();
    if (now >= this.deadline || this.host.cancelled()) return true;
    const { cpuMs } = this.request;
    return cpuMs !== null && this.cpuMs + (this.enteredAt === 0 ? 0 : now - this.enteredAt) >= cpuMs;
  };

  private readonly receive = (kind: number, id: number, text: GuestText): void => {
    if (this.over || this.mustStop() || (kind === KIND.DONE && this.done)) return;
    // The other kinds are not the guest's to send: with a report of its own it would end the run for the host while it goes on.
    if (kind !== KIND.CALL && kind !== KIND.LOG && kind !== KIND.DONE) return;
    // The guest keeps this bound itself; only a guest whose prelude was subverted gets here.
    if (++this.messages > this.request.maxBridgeMessages + 3) return this.fail("limit", "too many messages");
    text.read((bytes, at, length) => {
      this.gaveNothing = kind === KIND.DONE && this.mayDeclareOnly && isNothing(bytes, at, length);
      if (!this.gaveNothing) this.host.send(kind, id, bytes, at, length);
    });
    if (kind === KIND.CALL) this.open.add(id);
    if (kind !== KIND.DONE) return;
    this.mayDeclareOnly = false;
    if (!this.gaveNothing) this.markDone();
  };

  private markDone(): void {
    this.done = true;
    this.joinUntil = performance.now() + JOIN_MS;
  }

  private timerIn(): number {
    const due = this.instance.controlTime(4);
    return due > 0 && !this.done ? Math.max(0, due - Date.now()) : Infinity;
  }

  private memoryIsFull(): boolean {
    return this.instance.memorySize >= this.instance.memoryBytes * FULL_MEMORY;
  }

  private noteException(error: string | undefined): void {
    if (error !== undefined)
      this.notes.add(`A callback of a timer threw: ${(JSON.parse(error) as GuestError).message}`);
  }
}

const isNothing = (bytes: Uint8Array, at: number, length: number): boolean =>
  length === NOTHING.length && Buffer.from(bytes.buffer, bytes.byteOffset + at, length).toString() === NOTHING;

function openCallsNote(open: number): string {
  return `${open} call${open > 1 ? "s were" : " was"} still running when the script ended and ${open > 1 ? "were" : "was"} cancelled: await every call.`;
}
