import { shownName } from "../../calls/parameters.js";
import { questionLine } from "../../calls/questions.js";
import type { ExecuteOutcome } from "../meta-tool.js";
import { completedCalls } from "./completed-calls.js";

type Suspended = ExecuteOutcome & { status: "suspended" };

/** What is said of a script that waits: for what, who can answer, and how it goes on. */
export function suspendedText(outcome: Suspended): string {
  const { run, pending, stillRunning, resumeTool, calls, expiresAt } = outcome;
  const done = completedCalls(calls);
  return [
    ...(pending.length > 0 ? questionLines(pending) : [TIME_IS_OVER]),
    ...(stillRunning.length > 0 ? [`Still running: ${stillRunning.map(shownName).join(", ")}.`] : []),
    ...(done === "" ? [] : [`Done so far: ${done}.`]),
    "The script goes on from where it is: do not run it again.",
    `Next: ${nextStep(run, pending.length > 0, resumeTool)}${until(expiresAt)}`,
  ].join("\n");
}

function questionLines(pending: Suspended["pending"]): string[] {
  const calls = pending.length === 1 ? "this call" : `these ${pending.length} calls`;
  const head = `The script is paused. A person has to allow ${calls} first; nothing you send can:`;
  return [head, ...pending.map((question) => `  ${question.callId}. ${questionLine(question)}`)];
}

const TIME_IS_OVER =
  "The script is paused: it needs more time than one request of the client has. Nothing is wrong with it.";

function nextStep(run: string, hasQuestions: boolean, resumeTool: string | undefined): string {
  const first = hasQuestions ? "ask the user to have this approved; then " : "";
  const call = resumeTool === undefined ? "the host of this server resumes" : `call ${resumeTool} with`;
  return `${first}${call} { "run": "${run}" }`;
}

function until(expiresAt: number): string {
  return Number.isFinite(expiresAt) ? `, before ${new Date(expiresAt).toISOString()}.` : ".";
}
