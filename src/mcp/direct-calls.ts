import type { ArgumentPlan, ArgumentPlans } from "../calls/arguments.js";
import { askPolicy, callInfo, type CallPolicy } from "../calls/policy.js";
import { decisionsOf, questionForm, type PersonDecision } from "../calls/questions.js";
import type { CallContext, CallToolResult } from "../catalog/tool.js";
import { ApprovalError } from "../errors.js";
import type { Admission, DirectCall, HostSurface } from "./host-adapter.js";

/** What clients may do with the tools of the host, without a script. */
export interface DirectCallRules {
  /** Of hidden tools: as if they were listed, as the policy decides, or not at all. */
  readonly directCalls: "allow" | "policy" | "refuse";
  readonly policy: CallPolicy | undefined;
  readonly plans: ArgumentPlans;
  /** False when no tool has hidden parameters. */
  readonly hidesParameters: boolean;
  readonly callerId: (context: CallContext) => string | undefined;
  /** The server's name, as policies know it. */
  readonly server: string | undefined;
  /** How long a person has time to answer, in milliseconds. */
  readonly humanWaitMs: number;
  /** Where a refused client is sent. */
  readonly executeToolName: string;
}

/**
 * The admission of a client's own calls: what a script cannot do, a direct call cannot either. Undefined when every call
 * goes to the host untouched.
 */
export function directAdmission(rules: DirectCallRules): HostSurface["admit"] {
  const { directCalls, hidesParameters } = rules;
  if (directCalls === "allow" && !hidesParameters) return undefined;
  return function admitDirectCall(call) {
    if (directCalls === "refuse" && !call.isListed) return Promise.resolve(refused(call, rules));
    return admitted(call, rules);
  };
}

async function admitted(call: DirectCall, rules: DirectCallRules): Promise<Admission> {
  const { tool, context } = call;
  const plan = rules.plans.for(tool);
  const args = withHidden(call.args, plan);
  if (rules.directCalls !== "policy" || rules.policy === undefined) return { args };
  const info = { ...callInfo(tool, args, "direct", rules.callerId(context)), server: rules.server };
  try {
    const edited = await askPolicy(rules.policy, info, askDirectly(call, plan, rules));
    return { args: edited ?? args };
  } catch (error) {
    if (error instanceof ApprovalError) return { refused: errorResult(error.message) };
    throw error;
  }
}

/** A client's own call cannot be paused: the person is asked at once, or the call is refused. */
function askDirectly(
  { tool, args, context }: DirectCall,
  { hidden }: ArgumentPlan,
  { humanWaitMs, server }: DirectCallRules,
): ((reason: string | undefined) => Promise<PersonDecision>) | undefined {
  const { elicit, signal } = context;
  if (elicit === undefined) return undefined;
  const shown = Object.fromEntries(Object.entries(args).filter(([name]) => !hidden.has(name)));
  return async (reason) => {
    const form = questionForm([{ tool: tool.name, server, arguments: shown, reason }]);
    try {
      const answer = await elicit(form, { signal, timeoutMs: humanWaitMs });
      return decisionsOf(answer, 1)[0] ?? NO_ANSWER;
    } catch {
      return NO_ANSWER;
    }
  };
}

const NO_ANSWER: PersonDecision = { action: "deny", reason: "nobody answered" };

/** The host's values of hidden parameters, whatever the client sent for them. */
function withHidden(args: DirectCall["args"], { hidden, defaults }: ArgumentPlan): DirectCall["args"] {
  if (hidden.size === 0) return args;
  // Entries, so that a parameter named "__proto__" stays one.
  const open = Object.entries(args).filter(([name]) => !hidden.has(name));
  const own = [...defaults].filter(([name]) => hidden.has(name));
  return Object.fromEntries([...open, ...own]);
}

/** Longest tool name that is repeated to whoever sent it. */
const MAX_NAME = 128;

function refused({ tool }: DirectCall, { executeToolName }: DirectCallRules): Admission {
  const name = tool.name.slice(0, MAX_NAME);
  return {
    refused: errorResult(
      `Tool ${name} cannot be called directly on this server. Call it from a script with ${executeToolName}: ` +
        `return await call_tool(${JSON.stringify(name)}, { ... })`,
    ),
  };
}

const errorResult = (text: string): CallToolResult => ({ content: [{ type: "text", text }], isError: true });
