import { serverOf, tagsOf, type Awaitable, type Tool } from "../catalog/tool.js";
import { ApprovalError } from "../errors.js";
import { failed } from "./call-errors.js";
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

/** What becomes of a call. Edited arguments are coerced and checked like a script's own. */
export type PolicyDecision =
  | { action: "allow"; arguments?: Record<string, unknown> }
  | { action: "deny"; reason?: string };

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
 * Asks the policy.
 *
 * @returns The edited arguments, or undefined when the call goes on as it is.
 * @throws {ApprovalError} when the call is denied.
 */
export async function askPolicy(policy: CallPolicy, call: CallInfo): Promise<Record<string, unknown> | undefined> {
  const decision = await decide(policy, call);
  if (decision.action === "allow") return decision.arguments;
  const reason = decision.reason ? `: ${decision.reason}` : ".";
  throw new ApprovalError(failed(call.name, `not allowed, the policy of this server denied it${reason}`), {
    details: { tool: call.name },
  });
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
  return action === "deny" && (reason === undefined || typeof reason === "string");
}
