import { callHost } from "./bridge.js";
import { runTime } from "./clock.js";
import { keepConstructor } from "./define.js";
import { addTimer } from "./timers.js";

/** At most four reports a second reach the host; in between the newest one waits. */
const LEAST_GAP_MS = 250;

let sentAt = -LEAST_GAP_MS;
let waiting: unknown[] | undefined;
let unanswered = 0;

/** Reports that the host has not answered: nobody has to wait for them. */
export const openReports = (): number => unanswered;

/** `progress(done, total, message)` of a script. Never fails: a report that nobody takes is no reason to stop. */
export async function progress(done: unknown, total?: unknown, message?: unknown): Promise<void> {
  const report = message === undefined ? (total === undefined ? [done] : [done, total]) : [done, total, message];
  const left = sentAt + LEAST_GAP_MS - runTime();
  if (left <= 0) return send(report);
  if (waiting === undefined) addTimer(sendWaiting, left, false);
  waiting = report;
}

/** Forgets the reports of an earlier run, whose memory this one goes on in. */
export function resetProgress(): void {
  sentAt = -LEAST_GAP_MS;
  waiting = undefined;
  unanswered = 0;
}

/** Sends the report that still waits, if there is one. */
export function sendWaiting(): void {
  const report = waiting;
  waiting = undefined;
  if (report !== undefined) send(report);
}

function send(report: unknown[]): void {
  sentAt = runTime();
  void answered(callHost("progress", report));
}

async function answered(call: Promise<unknown>): Promise<void> {
  unanswered++;
  try {
    keepConstructor(call);
    await call;
  } catch {
    // See above.
  }
  unanswered--;
}
