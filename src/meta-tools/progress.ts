import { foldedText } from "../catalog/untrusted-text.js";
import type { CallContext, Progress } from "../catalog/tool.js";
import { ValidationError } from "../errors.js";
import type { HostFunction } from "../sandbox/provider.js";

type Listener = NonNullable<CallContext["onProgress"]>;

/** Between two notifications of ours, in milliseconds: a bar needs no more. Also before the first number of calls: a quick run needs none. */
const PAUSE_MS = 250;
/** A client that hears nothing for longer may take the server for dead. */
const HEARTBEAT_MS = 15_000;
/** The protocol wants every value to be larger than the one before; a sign of life must not move the bar. */
const HEARTBEAT_STEP = 1 / 1024;
const MAX_MESSAGE_CHARACTERS = 200;

/**
 * Progress of one run on its way to the client, who sees one rising number, as the protocol demands. It comes from the tools
 * that the script calls, from the number of answered calls, and from the script itself. A script that reports speaks for
 * its calls: then only its own numbers are sent.
 */
export class RunProgress {
  /** Takes the progress of nested calls. */
  readonly listener: Listener;
  private last: number | undefined;
  /** What the values of nested calls are raised by, since each of them counts from the start. */
  private offset = 0;
  private total: number | undefined;
  private calls = 0;
  private isReported = false;
  private waiting: Progress | undefined;
  private pause: NodeJS.Timeout | undefined;
  private heartbeat: NodeJS.Timeout | undefined;
  private ended = false;

  /** @param client Sends to the client. */
  constructor(readonly client: Listener) {
    this.listener = (progress) => {
      const raised = this.raise(progress);
      if (raised !== undefined) this.toClient(raised);
    };
    runs.set(this.listener, this);
    this.startHeartbeat();
  }

  /** A call of the script was answered. */
  called(): void {
    this.calls++;
    if (this.isReported) return;
    this.waiting = { progress: this.calls, message: `${count(this.calls, "call")} done` };
    // Not at once: after the last call of a script comes the reply.
    if (this.pause === undefined) this.startPause();
  }

  /** The script said how far it is. */
  report(progress: Progress): void {
    const isFirst = !this.isReported;
    this.isReported = true;
    this.total = progress.total;
    this.waiting = progress;
    if (isFirst || this.pause === undefined) this.sendWaiting();
  }

  /** The run is over: what the script said last is sent, and then nothing more. */
  end(): void {
    if (this.isReported) this.sendWaiting();
    this.ended = true;
    clearTimeout(this.pause);
    clearTimeout(this.heartbeat);
  }

  /** Progress of a nested call as the client may see it: the very same object while its value rises by itself. */
  raise<T extends { progress?: unknown; total?: unknown }>(nested: T): T | undefined {
    if (this.isReported || this.ended) return undefined;
    const { progress, total } = nested;
    if (typeof progress !== "number" || !Number.isFinite(progress)) return nested;
    const value = this.advance(progress);
    if (value === undefined) return undefined;
    this.startHeartbeat();
    if (value === progress) return nested;
    return { ...nested, progress: value, ...(typeof total === "number" ? { total: total + this.offset } : {}) };
  }

  private sendWaiting(): void {
    const { waiting } = this;
    this.waiting = undefined;
    if (waiting === undefined) return;
    const progress = this.advance(waiting.progress);
    if (progress !== undefined) this.toClient({ ...waiting, progress });
    this.startPause();
  }

  /** The value, raised above all before. Undefined for one so large that nothing is above it. */
  private advance(progress: number): number | undefined {
    const { last } = this;
    if (last !== undefined && progress + this.offset <= last) this.offset = last + 1 - progress;
    const value = progress + this.offset;
    if (last !== undefined && !(value > last)) return undefined;
    this.last = value;
    return value;
  }

  private toClient(progress: Progress): void {
    if (this.ended) return;
    this.startHeartbeat();
    try {
      this.client(progress);
    } catch {
      // A client that is gone must not fail the run.
    }
  }

  private startPause(): void {
    clearTimeout(this.pause);
    this.pause = setTimeout(() => {
      this.pause = undefined;
      this.sendWaiting();
    }, PAUSE_MS).unref();
  }

  private startHeartbeat(): void {
    clearTimeout(this.heartbeat);
    if (this.ended) return;
    this.heartbeat = setTimeout(() => this.beat(), HEARTBEAT_MS).unref();
  }

  private beat(): void {
    this.last = (this.last ?? 0) + HEARTBEAT_STEP;
    const message = `still running, ${count(this.calls, "call")} done`;
    this.toClient({ progress: this.last, ...(this.total === undefined ? {} : { total: this.total }), message });
  }
}

const runs = new WeakMap<Listener, RunProgress>();

/**
 * Where the progress of a nested call goes, and as what: with all of its fields, and raised where a run has a client.
 *
 * @param listener `onProgress` of the call's context.
 * @returns Undefined when the client must not see it.
 */
export function relayProgress<T extends { progress?: unknown; total?: unknown }>(
  listener: Listener,
  nested: T,
): { listener: Listener; progress: T } | undefined {
  const run = runs.get(listener);
  if (run === undefined) return { listener, progress: nested };
  const progress = run.raise(nested);
  return progress === undefined ? undefined : { listener: run.client, progress };
}

/** `progress(done, total, message)` of a script. Without a client that listens it only checks what it was given. */
export function progressFunction(run: RunProgress | undefined): HostFunction {
  return function progress(done: unknown, total: unknown, message: unknown): void {
    const read = readProgress(done, total, message);
    run?.report(read);
  };
}

function readProgress(done: unknown, total: unknown, message: unknown): Progress {
  if (!isNumber(done)) throw wrong("done must be a number");
  if (total !== undefined && total !== null && !isNumber(total)) throw wrong("total must be a number, or left out");
  if (message !== undefined && message !== null && typeof message !== "string") {
    throw wrong("message must be a string, or left out");
  }
  return {
    progress: done,
    ...(isNumber(total) ? { total } : {}),
    ...(typeof message === "string" ? { message: foldedText(message, MAX_MESSAGE_CHARACTERS) } : {}),
  };
}

const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);

const wrong = (what: string): ValidationError =>
  new ValidationError(`progress(done, total, message): ${what}, as in progress(3, 10, "3 of 10 pages read").`);

const count = (number: number, word: string): string => `${number} ${word}${number === 1 ? "" : "s"}`;
