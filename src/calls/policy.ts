import { serverOf, tagsOf, type Awaitable, type Tool } from "../catalog/tool.js";
import { ApprovalError } from "../errors.js";
import { failed } from "./call-errors.js";
import type { PersonDecision } from "./questions.js";
import { isRecord } from "./schema-types.js";

/** One call that a policy decides about. */
export interface CallInfo {
  name: string;
  server?: string | undefined;
  tags: readonly string[];
  /** As the tool will get them, defaults and hidden ones included. */
  arguments: Readonly<Record<string, unknown>>;
  annotations: Tool["annotations"];
  /** From a script, or a client's own call of a hidden tool. */
  via: "script" | "direct";
  /** Who asks. Set by the host; nothing a model sends can change it. */
  callerId?: string | undefined;
}

/**
 * What becomes of a call. Edited arguments are coerced and checked like a script's own. "ask": a person decides, by the
 * client where it can ask one, else later through the host while the script is paused; where neither is possible the
 * call is denied.
 */
export type PolicyDecision =
  | { action: "allow"; arguments?: Record<string, unknown> }
  | { action: "deny" | "ask"; reason?: string };

/** What a policy says of a call that it does not deny. */
export type Admitted =
  | { action: "allow"; arguments: Record<string, unknown> | undefined }
  | { action: "ask"; reason: string | undefined };

/**
 * Decides about every call before it is made. A policy that throws, or answers with anything else, denies.
 *
 * @example
 * const office: CallPolicy = ({ name }) => (name.startsWith("delete_") ? { action: "deny" } : { action: "allow" });
 */
export type CallPolicy = (call: CallInfo) => Awaitable<PolicyDecision>;

/** The facts about a call of `tool`. */
export function callInfo(
  tool: Tool,
  args: Readonly<Record<string, unknown>>,
  via: CallInfo["via"],
  callerId: string | undefined,
): CallInfo {
  const { name, annotations } = tool;
  return { name, server: serverOf(tool), tags: tagsOf(tool), arguments: args, annotations, via, callerId };
}

/**
 * Asks the policy, and the person if it says so.
 *
 * @param askPerson Asks the person behind the client. Absent: there is nobody to ask.
 * @returns The edited arguments, or undefined when the call goes on as it is.
 * @throws {ApprovalError} when the call is denied, or a person would have to decide and cannot be asked.
 */
export async function askPolicy(
  policy: CallPolicy,
  call: CallInfo,
  askPerson?: (reason: string | undefined) => Promise<PersonDecision>,
): Promise<Record<string, unknown> | undefined> {
  const admitted = await admittedBy(policy, call);
  if (admitted.action === "allow") return admitted.arguments;
  if (askPerson === undefined) throw nobodyToAsk(call.name, admitted.reason);
  return allowedBy(call.name, await askPerson(admitted.reason));
}

/**
 * What the policy says of a call that it does not deny.
 *
 * @throws {ApprovalError} when it does.
 */
export async function admittedBy(policy: CallPolicy, call: CallInfo): Promise<Admitted> {
  const decision = await decide(policy, call);
  if (decision.action === "allow") return { action: "allow", arguments: decision.arguments };
  if (decision.action === "ask") return { action: "ask", reason: decision.reason };
  throw notAllowed(call.name, "not allowed, the policy of this server denied it", decision.reason);
}

/**
 * The arguments as the person edited them, if they did.
 *
 * @throws {ApprovalError} when the person refused.
 */
export function allowedBy(tool: string, decision: PersonDecision): Record<string, unknown> | undefined {
  if (decision.action === "allow") return decision.arguments;
  throw notAllowed(tool, "not allowed, a person refused it", decision.reason);
}

/** A person would have to decide, and there is no way to reach one. */
export function nobodyToAsk(tool: string, reason: string | undefined): ApprovalError {
  const why =
    "not allowed, a person has to decide about it, and nobody can be asked: the client has no form for questions (elicitation)";
  return notAllowed(tool, why, reason);
}

function notAllowed(tool: string, why: string, reason: string | undefined): ApprovalError {
  return new ApprovalError(failed(tool, `${why}${reason ? `: ${reason}` : "."}`), { details: { tool } });
}

async function decide(policy: CallPolicy, call: CallInfo): Promise<PolicyDecision> {
  try {
    const decision: unknown = await policy(call);
    if (isDecision(decision)) return decision;
    return { action: "deny", reason: "the policy gave no valid decision" };
  } catch {
    // What it threw may hold anything; the host's own log is the place for it.
    return { action: "deny", reason: "the policy failed" };
  }
}

function isDecision(decision: unknown): decision is PolicyDecision {
  if (!isRecord(decision)) return false;
  const { action, arguments: edited, reason } = decision;
  if (action === "allow") return edited === undefined || isRecord(edited);
  return (action === "deny" || action === "ask") && (reason === undefined || typeof reason === "string");
}
