import type { CallContext } from "../catalog/tool.js";
import type { CallQuestion } from "../calls/questions.js";
import type { CallsState } from "../calls/run-calls-options.js";
import type { CallEnd } from "../calls/waiting-calls.js";
import { CancelledError, CodeModeError, messageOf, SandboxError } from "../errors.js";
import type { LogEntry } from "../sandbox/provider.js";
import type { LateAnswer, PausedCall, PausedRuns, StoredRun } from "../session/paused-runs.js";
import type { ExecuteOutcome, PendingQuestion } from "./meta-tool.js";
import { pausedOutcome, refused } from "./run-outcome.js";
import type { RunParts } from "./run-script.js";
import type { SessionPlace } from "./session-script.js";
import type { OpenCall, Paused, RunUnderWay, UsedTime } from "./run-under-way.js";

/** What a run needs to go on, beside its memory: the host's own facts, as plain data. */
export interface PausedState {
  code: string;
  calls: CallsState;
  logs: readonly LogEntry[];
  notes: readonly string[];
  used: UsedTime;
  /** The session that gets what it leaves. */
  session?: SessionPlace | undefined;
  /** The calls it waits for: their place among `calls.records`, and what a person is asked. */
  waiting: readonly { callId: number; record: number; question: CallQuestion }[];
}

/** A script to keep, and where: in place of a run that was claimed, or as a new one. */
export interface Keeping {
  code: string;
  context: CallContext;
  claimed?: StoredRun | undefined;
  session?: SessionPlace | undefined;
}

/** Keeps a paused script until it is resumed. */
export async function keepPaused(
  parts: RunParts,
  run: RunUnderWay,
  paused: Paused,
  { code, context, claimed, session }: Keeping,
): Promise<ExecuteOutcome> {
  const { pausedRuns } = parts;
  run.stopClock();
  if (context.signal.aborted || pausedRuns === undefined) {
    run.calls.end();
    return refused(new CancelledError("The caller gave up while the script was paused."), run.start);
  }
  const facts = {
    pending: paused.open.map((open) => pendingCall(open)),
    state: { ...stateOf(run, paused, code), session },
  };
  try {
    const stored = await (claimed === undefined
      ? pausedRuns.keep({ ...facts, server: parts.server, callerId: context.callerId }, paused.snapshot)
      : pausedRuns.pauseAgain(claimed, facts, paused.snapshot));
    if (stored === undefined) throw new SandboxError("The paused script was changed by somebody else meanwhile.");
    followLateCalls(pausedRuns, stored.run, paused.open, run);
    return waitingOutcome(parts, stored, run);
  } catch (error) {
    run.calls.end();
    const text = CodeModeError.isInstance(error) ? error.message : "the store of this server failed.";
    return refused(
      new SandboxError(`The script was paused and could not be kept: ${text}`, { cause: error }),
      run.start,
    );
  }
}

/** The outcome of a script that waits. */
export function waitingOutcome(
  parts: RunParts,
  { run: id, record }: StoredRun,
  facts: Parameters<typeof pausedOutcome>[1],
): ExecuteOutcome {
  const { waiting } = record.state as PausedState;
  const open = record.pending.filter(({ waitsFor, decision }) => waitsFor === "decision" && decision === undefined);
  const pending = open.map(({ callId }): PendingQuestion => {
    const question = waiting.find((call) => call.callId === callId)?.question;
    return { callId, tool: "", arguments: {}, ...question };
  });
  const late = record.pending.filter(({ waitsFor, answer }) => waitsFor === "answer" && answer === undefined);
  const stillRunning = late.map(({ tool }) => tool);
  const { expiresAt } = record;
  return pausedOutcome({ run: id, expiresAt, pending, stillRunning, resumeTool: parts.resumeTool() }, facts);
}

function pendingCall({ callId, call }: OpenCall): PausedCall {
  const { question, arguments: args, end } = call;
  const { tool, server, reason } = question;
  return { callId, tool, server, arguments: args, reason, waitsFor: end === undefined ? "decision" : "answer" };
}

function stateOf(run: RunUnderWay, { open }: Paused, code: string): PausedState {
  const { calls, logs, notes, used } = run;
  const waiting = open.map(({ callId, call }) => {
    return { callId, record: calls.records.indexOf(call.record), question: call.question };
  });
  return { code, calls: calls.state, logs, notes, used, waiting };
}

/** Calls under way of paused runs, by run: whoever resumes it in this process waits for them. */
const lateCalls = new Map<string, Promise<unknown>>();

/** Resolves when the calls have ended that were under way when this run was paused in this process. */
export const lateCallsOf = (run: string): Promise<unknown> | undefined => lateCalls.get(run);

/** Calls that the client could not wait for go on, and their answers are kept with the run. */
function followLateCalls(runs: PausedRuns, run: string, open: readonly OpenCall[], { calls }: RunUnderWay): void {
  const late = open.flatMap(({ callId, call }) => (call.end === undefined ? [] : [{ callId, end: call.end }]));
  if (late.length === 0) {
    calls.end();
    return;
  }
  const all = Promise.all(
    late.map(async ({ callId, end }) => {
      // A run that was cancelled or has expired meanwhile takes no answer any more.
      await runs.answer(run, callId, asAnswer(await end)).catch(() => {});
    }),
  );
  lateCalls.set(run, all);
  void all.finally(() => {
    lateCalls.delete(run);
    calls.end();
  });
}

function asAnswer(end: CallEnd): LateAnswer {
  if ("value" in end) return { value: end.value ?? null };
  const kind = CodeModeError.isInstance(end.error) ? end.error.kind : "tool";
  return { error: { message: messageOf(end.error), kind } };
}
