import { failureOf, type Observation } from "../telemetry/telemetry.js";
import type { CallRecord } from "./call-record.js";

interface Watched {
  observation: Observation<"call">;
  /** False until the tool is known to exist: before that its name is the script's own text. */
  isKnown: boolean;
  argumentBytes: number;
  resultBytes: number;
}

/** What is told of the calls of one run. Where nobody watches it is nothing. */
export class CallTelemetry {
  private readonly watched = new WeakMap<CallRecord, Watched>();

  constructor(
    private readonly run: Observation<"execute"> | undefined,
    private readonly callerId: string | undefined,
  ) {}

  begin(record: CallRecord): void {
    const observation = this.run?.child("call");
    if (observation === undefined) return;
    this.watched.set(record, { observation, isKnown: false, argumentBytes: 0, resultBytes: 0 });
  }

  /** The record names a tool, or a function of ours. */
  known(record: CallRecord): void {
    const watched = this.watched.get(record);
    if (watched !== undefined) watched.isKnown = true;
  }

  /** Sizes, in bytes. */
  measured(record: CallRecord, sizes: { argumentBytes?: number; resultBytes?: number }): void {
    const watched = this.watched.get(record);
    if (watched !== undefined) Object.assign(watched, sizes);
  }

  /** Runs what reaches the tool: spans of its own are the call's children. */
  within<T>(record: CallRecord, call: () => T): T {
    const watched = this.watched.get(record);
    return watched === undefined ? call() : watched.observation.within(call);
  }

  /** @param failure What the script got to catch: an object, so that `throw undefined` is a failure too. */
  end(record: CallRecord, failure?: { error: unknown }): void {
    const watched = this.watched.get(record);
    if (watched === undefined) return;
    this.watched.delete(record);
    const { observation, isKnown, argumentBytes, resultBytes } = watched;
    observation.end({
      ...(failure === undefined ? { outcome: "ok" as const } : failureOf(failure.error)),
      tool: isKnown ? record.tool : undefined,
      server: isKnown ? record.server : undefined,
      readOnly: record.readOnly === true,
      argumentBytes,
      resultBytes,
      callerId: this.callerId,
    });
  }
}
