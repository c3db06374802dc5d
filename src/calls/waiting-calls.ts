import { suspend } from "../sandbox/provider.js";
import type { CallRecord } from "./call-record.js";
import type { CallQuestion } from "./questions.js";

/** How a call ended, for a script that was paused meanwhile. */
export type CallEnd = { value: unknown } | { error: unknown };

/** A call that a paused script waits for. */
export interface WaitingCall {
  record: CallRecord;
  /** As the tool will get them. */
  arguments: Record<string, unknown>;
  question: CallQuestion;
  /** Absent: a person has to decide first. Never rejects. */
  end?: Promise<CallEnd> | undefined;
}

/** The calls that a script was paused for. Each is named by a number, which is all that goes through the sandbox. */
export class WaitingCalls {
  private readonly calls = new Map<number, WaitingCall>();
  private last = 0;

  /** What to throw so that the script is paused until this call has its answer. */
  pauseFor(call: WaitingCall): Error {
    const id = ++this.last;
    this.calls.set(id, call);
    return suspend(id);
  }

  /** The call of a reason that {@link pauseFor} gave. */
  callOf(reason: unknown): WaitingCall | undefined {
    return typeof reason === "number" ? this.calls.get(reason) : undefined;
  }

  /** True for a call without an answer that the script has seen. */
  has(record: CallRecord): boolean {
    for (const call of this.calls.values()) if (call.record === record) return true;
    return false;
  }

  /** The script goes on with the answers of all of them. */
  clear(): void {
    this.calls.clear();
  }
}

/** How a promise of a call ends, without ever rejecting. */
export function endOf(call: Promise<unknown>): Promise<CallEnd> {
  return call.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
}
