import type { CallContext } from "../catalog/tool.js";
import type { CallQuestion, PersonDecision } from "../calls/questions.js";
import { endOf, type CallEnd, type WaitingCall } from "../calls/waiting-calls.js";
import {
  ApprovalError,
  CancelledError,
  CodeModeError,
  errorOfKind,
  isErrorKind,
  SandboxError,
  ValidationError,
} from "../errors.js";
import { isWaiting, noSuchRun, type PausedCall, type StoredRun } from "../session/paused-runs.js";
import type { ExecuteOutcome, ResumeArguments } from "./meta-tool.js";
import { keepPaused, lateCallsOf, waitingOutcome, type PausedState } from "./paused-script.js";
import { refused } from "./run-outcome.js";
import { finished, type RunParts, type RunWatch } from "./run-script.js";
import { keepSession } from "./session-script.js";
import { RunUnderWay, type OpenCall } from "./run-under-way.js";

/** Goes on with a paused script. Never rejects for what it did. */
export async function resumeScript(
  parts: RunParts,
  { run: id }: ResumeArguments,
  context: CallContext,
  watch: RunWatch = {},
): Promise<ExecuteOutcome> {
  const start = performance.now();
  try {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const outcome = await tryToResume(parts, id, context, watch, start);
      if (outcome !== undefined) return outcome;
    }
    throw new SandboxError("The run could not be resumed: others change it all the time. Try again.");
  } catch (error) {
    if (CodeModeError.isInstance(error)) return refused(error, start);
    return refused(
      new SandboxError("The run could not be resumed: the store of this server failed.", { cause: error }),
      start,
    );
  }
}

const MAX_ATTEMPTS = 20;

/** Undefined when somebody else has changed the run meanwhile: decided about a call, or claimed it. */
async function tryToResume(
  parts: RunParts,
  id: string,
  context: CallContext,
  watch: RunWatch,
  start: number,
): Promise<ExecuteOutcome | undefined> {
  const stored = await findFor(parts, id, context);
  const over = overOutcome(stored, start);
  if (over !== undefined) return over;
  const { record } = stored;
  const { code, calls, logs, notes, used } = record.state as PausedState;
  const run = new RunUnderWay(parts, context, watch, { code, before: { calls, logs, notes, used } });
  const ready = await withAnswers(parts, stored, run);
  if (ready === undefined) return stillWaiting(parts, stored, context, run);
  const claimed = await parts.pausedRuns?.claim(ready);
  if (claimed !== undefined) return goOn(parts, claimed, run, context);
  discard(run);
  return undefined;
}

/** @throws {ValidationError} that reads the same whether there is no such run or it belongs to somebody else. */
async function findFor(parts: RunParts, id: string, { callerId }: CallContext): Promise<StoredRun> {
  const stored = await parts.pausedRuns?.find(id);
  if (stored === undefined) throw noSuchRun();
  if (stored.record.callerId !== callerId || stored.record.server !== parts.server) throw noSuchRun();
  return stored;
}

/** What is said of a run that cannot go on; undefined: it can. */
function overOutcome({ run, record }: StoredRun, start: number): ExecuteOutcome | undefined {
  if (isWaiting(record)) return undefined;
  if (record.status === "done") {
    const outcome = record.outcome as ExecuteOutcome;
    return { ...outcome, notes: [...outcome.notes, RECORDED_NOTE] };
  }
  if (record.status === "cancelled") return refused(new CancelledError(`Run ${run} was cancelled.`), start);
  if (record.status === "running") return refused(goingOn(run), start);
  return refused(
    new ApprovalError(
      `Run ${run} has expired: nobody answered in time, and the calls it waited for were not made. Run the script again if it is still wanted.`,
    ),
    start,
  );
}

const RECORDED_NOTE = "This run had ended before: this is its recorded outcome, nothing was done again.";

const goingOn = (run: string): ValidationError =>
  new ValidationError(
    `Run ${run} goes on in another request. Resume it again for its outcome. Should that never come, the server stopped in the middle: check what was done before you repeat anything.`,
  );

/** A run that was only looked at. */
function discard(run: RunUnderWay): void {
  run.stopClock();
  run.calls.end();
}

/**
 * The run with all that it waits for: what the host has decided, what the caller's own client says, and what calls gave
 * that were under way. Undefined while something is missing.
 */
async function withAnswers(parts: RunParts, stored: StoredRun, run: RunUnderWay): Promise<StoredRun | undefined> {
  let current = stored;
  const undecided = current.record.pending.filter(isUndecided);
  if (undecided.length > 0) {
    const decisions = await run.ask(undecided.map(({ callId }) => questionOf(current, callId)));
    if (decisions === undefined) return undefined;
    const byCall = new Map(undecided.map(({ callId }, index) => [callId, decisions[index]]));
    const pending = current.record.pending.map((call) => ({
      ...call,
      decision: byCall.get(call.callId) ?? call.decision,
    }));
    current = { ...current, record: { ...current.record, pending } };
  }
  if (!current.record.pending.some(isUnderWay)) return current;
  const late = lateCallsOf(stored.run);
  if (late === undefined || !(await run.beforeClientGivesUp(late))) return undefined;
  const again = await parts.pausedRuns?.find(stored.run);
  if (again === undefined || again.record.pending.some(isUnderWay)) return undefined;
  const decided = new Map(current.record.pending.map(({ callId, decision }) => [callId, decision]));
  const pending = again.record.pending.map((call) => ({
    ...call,
    decision: decided.get(call.callId) ?? call.decision,
  }));
  return { ...again, record: { ...again.record, pending } };
}

const isUndecided = ({ waitsFor, decision }: PausedCall): boolean => waitsFor === "decision" && decision === undefined;
const isUnderWay = ({ waitsFor, answer }: PausedCall): boolean => waitsFor === "answer" && answer === undefined;

function questionOf({ record }: StoredRun, callId: number): CallQuestion {
  const { waiting } = record.state as PausedState;
  const question = waiting.find((call) => call.callId === callId)?.question;
  if (question === undefined) throw new SandboxError("The record of the paused run is damaged.");
  return question;
}

async function stillWaiting(
  parts: RunParts,
  stored: StoredRun,
  context: CallContext,
  run: RunUnderWay,
): Promise<ExecuteOutcome> {
  discard(run);
  // Calls may have ended while a person was asked.
  const now = await findFor(parts, stored.run, context);
  const { calls, start, logs, notes } = run;
  return overOutcome(now, start) ?? waitingOutcome(parts, now, { calls, start, logs, notes });
}

/** From the claim on the outcome is recorded, whatever happens: this run can never be claimed again. */
async function goOn(
  parts: RunParts,
  claimed: StoredRun,
  run: RunUnderWay,
  context: CallContext,
): Promise<ExecuteOutcome> {
  const outcome = await ended(parts, claimed, run, context);
  if (outcome.status === "suspended") return outcome;
  const { protocolError: _live, ...recorded } = outcome;
  await parts.pausedRuns?.finish(claimed, recorded);
  return outcome;
}

async function ended(
  parts: RunParts,
  claimed: StoredRun,
  run: RunUnderWay,
  context: CallContext,
): Promise<ExecuteOutcome> {
  const { record, snapshot } = claimed;
  const { code, session } = record.state as PausedState;
  try {
    const open = record.pending.map((call) => openCall(call, claimed, run));
    const result = await run.goOn({ snapshot, open }, { keepSnapshot: session !== undefined });
    if (result.status === "suspended") return await keepPaused(parts, run, result, { code, context, claimed, session });
    const sessions = parts.sessions?.sessions;
    if (session !== undefined && sessions !== undefined) {
      run.notes.push(...(await keepSession(sessions, session, result, false)));
    }
    return await finished(parts, run, result);
  } catch (error) {
    discard(run);
    const text = CodeModeError.isInstance(error) ? error.message : "The server failed while the script went on.";
    return refused(new SandboxError(text, { cause: error }), run.start);
  }
}

/** A call of the record, answered or on its way. */
function openCall(call: PausedCall, stored: StoredRun, { calls }: RunUnderWay): OpenCall {
  const { waiting } = stored.record.state as PausedState;
  const record = calls.records[waiting.find(({ callId }) => callId === call.callId)?.record ?? -1];
  if (record === undefined) throw new SandboxError("The record of the paused run is damaged.");
  const made: WaitingCall = { record, arguments: call.arguments, question: questionOf(stored, call.callId) };
  const end = call.waitsFor === "answer" ? Promise.resolve(lateEnd(call)) : decidedEnd(made, call.decision, calls);
  return { callId: call.callId, call: { ...made, end } };
}

const decidedEnd = (
  call: WaitingCall,
  decision: PersonDecision | undefined,
  calls: RunUnderWay["calls"],
): Promise<CallEnd> => endOf(calls.decided(call, decision ?? { action: "deny" }));

function lateEnd({ answer }: PausedCall): CallEnd {
  if (answer !== undefined && "value" in answer) return answer;
  const { message, kind } = answer?.error ?? { message: "The call has no answer.", kind: "tool" };
  return { error: errorOfKind(isErrorKind(kind) ? kind : "tool", message) };
}
