import { deriveContext, type CallContext } from "../catalog/tool.js";
import { CancelledError, TimeoutError } from "../errors.js";

interface ActiveCall {
  tool: string;
  /** On the clock of `performance.now()`. */
  deadline: number;
  controller: AbortController;
  fail: (reason: Error) => void;
}

const CALL = Symbol("active call");

type RunContext = CallContext & { [CALL]?: ActiveCall };

/**
 * The calls of one run that are on their way to a source: what each gets as its context, its time limit, and their end
 * together with the run.
 *
 * A call costs no timer and no listener of its own: all have the same time limit, so the oldest one's deadline comes
 * first and one timer does; and the caller's signal is heard once per run (`AbortSignal.any` per call costs 10 us).
 */
export class ActiveCalls {
  private readonly calls = new Set<ActiveCall>();
  private readonly runContext: RunContext;
  private readonly onCallerAbort = (): void => this.end(new CancelledError("The caller gave up."));
  private timer: NodeJS.Timeout | undefined;
  private ended = false;
  private endedBy: Error | undefined;

  constructor(
    private readonly caller: CallContext,
    private readonly toolTimeoutMs: number,
  ) {
    // Reading a signal makes it, which is most of what a call would cost; adapters that need none do not read it.
    this.runContext = Object.defineProperty(deriveContext(caller, {}) as RunContext, "signal", {
      get(this: RunContext) {
        return this[CALL]?.controller.signal ?? caller.signal;
      },
    });
    if (caller.signal.aborted) this.onCallerAbort();
    else caller.signal.addEventListener("abort", this.onCallerAbort, { once: true });
  }

  /**
   * Starts a call and waits for it.
   *
   * @throws {TimeoutError} after `toolTimeoutMs`; the context's signal is aborted then.
   * @throws {CancelledError} when the run ends first.
   */
  run<T>(tool: string, start: (context: CallContext) => Promise<T>): Promise<T> {
    if (this.ended) return Promise.reject(this.whyEnded());
    return new Promise<T>((resolve, fail) => {
      const deadline = performance.now() + this.toolTimeoutMs;
      const call: ActiveCall = { tool, deadline, controller: new AbortController(), fail };
      const context = Object.create(this.runContext) as RunContext;
      context[CALL] = call;
      this.calls.add(call);
      this.watch(call);
      settle(start, context).then(
        (value) => {
          this.calls.delete(call);
          resolve(value);
        },
        (reason: unknown) => {
          this.calls.delete(call);
          // What a source rejects with is what it is: call-tool.ts looks into it.
          // oxlint-disable-next-line typescript/prefer-promise-reject-errors
          fail(reason);
        },
      );
    });
  }

  /** Aborts every call and refuses further ones. Safe to call twice. */
  end(reason?: Error): void {
    this.ended = true;
    this.endedBy ??= reason;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.caller.signal.removeEventListener("abort", this.onCallerAbort);
    for (const call of this.calls) this.abort(call, this.whyEnded());
  }

  /** Made when somebody asks: most runs end with nothing to abort, and an error costs several microseconds. */
  private whyEnded(): Error {
    return (this.endedBy ??= new CancelledError("The run has ended."));
  }

  private abort(call: ActiveCall, reason: Error): void {
    this.calls.delete(call);
    call.fail(reason);
    // The tool hears what it would hear of a call of its own.
    call.controller.abort(this.caller.signal.aborted ? this.caller.signal.reason : reason);
  }

  private watch(call: ActiveCall): void {
    if (this.timer !== undefined || this.toolTimeoutMs === Number.POSITIVE_INFINITY) return;
    const wait = Math.max(1, call.deadline - performance.now());
    this.timer = setTimeout(() => this.expire(), Math.min(wait, MAX_TIMER_MS));
  }

  private expire(): void {
    this.timer = undefined;
    const now = performance.now();
    for (const call of this.calls) {
      // Half a millisecond of slack: timers may fire a little early.
      if (call.deadline > now + 0.5) {
        this.watch(call);
        return;
      }
      this.abort(call, timedOut(call.tool, this.toolTimeoutMs));
    }
  }
}

/** A longer timer fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

async function settle<T>(start: (context: CallContext) => Promise<T>, context: CallContext): Promise<T> {
  return start(context);
}

function timedOut(tool: string, ms: number): TimeoutError {
  return new TimeoutError(
    `call_tool('${tool}') failed: no answer within ${ms} ms (limits.toolTimeoutMs). It may still have an effect: check before you repeat it.`,
    { details: { tool, limit: "toolTimeoutMs", most: ms } },
  );
}
