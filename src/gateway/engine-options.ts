import type { ArgumentRules } from "../calls/arguments.js";
import type { CallPolicy } from "../calls/policy.js";
import { serverOf, type Tool } from "../catalog/tool.js";
import type { CodeModeOptions } from "../options.js";
import type { GatewayConfig } from "./config.js";
import { DEFAULT_TOOL_TIMEOUT_MS, type ResolvedUpstream } from "./resolved-upstream.js";

/** As everywhere in code mode. */
const DEFAULT_TIMEOUT_MS = 30_000;
/** What a script may take beside its slowest call. */
const MARGIN_MS = 10_000;

/** The options of code mode for a gateway: those of its configuration, with what each upstream asks for. */
export function engineOptions(
  given: GatewayConfig["codeMode"],
  upstreams: ReadonlyMap<string, ResolvedUpstream>,
): CodeModeOptions {
  const policy = policyFor(given?.policy, upstreams);
  return {
    ...given,
    limits: { ...timeLimits(upstreams), ...given?.limits },
    argumentsFor: (tool) => argumentsFor(tool, given?.argumentsFor?.(tool), upstreams),
    ...(policy === undefined ? {} : { policy }),
    directCalls: "allow",
  };
}

/** Each upstream has a time limit of its own, and a script must be able to wait for it. */
function timeLimits(upstreams: ReadonlyMap<string, ResolvedUpstream>): { toolTimeoutMs: null; timeoutMs: number } {
  const longest = [...upstreams.values()]
    .map(({ toolTimeoutMs }) => toolTimeoutMs)
    .filter((ms) => ms > DEFAULT_TOOL_TIMEOUT_MS);
  return { toolTimeoutMs: null, timeoutMs: Math.max(DEFAULT_TIMEOUT_MS, ...longest.map((ms) => ms + MARGIN_MS)) };
}

function argumentsFor(
  tool: Tool,
  own: ArgumentRules | undefined,
  upstreams: ReadonlyMap<string, ResolvedUpstream>,
): ArgumentRules {
  const { defaultArguments = {}, hiddenArguments = [] } = upstreams.get(serverOf(tool) ?? "") ?? {};
  const { properties } = tool.inputSchema;
  const accepted = Object.entries(defaultArguments).filter(([name]) =>
    Object.hasOwn((properties ?? {}) as object, name),
  );
  return {
    defaults: { ...Object.fromEntries(accepted), ...own?.defaults },
    hidden: [...hiddenArguments, ...(own?.hidden ?? [])],
  };
}

/** The upstream's own policy first; what it allows, with the arguments it made of them, the general one decides about. */
function policyFor(
  general: CallPolicy | undefined,
  upstreams: ReadonlyMap<string, ResolvedUpstream>,
): CallPolicy | undefined {
  if ([...upstreams.values()].every(({ policy }) => policy === undefined)) return general;
  return async function gatewayPolicy(call) {
    const own = upstreams.get(call.server ?? "")?.policy;
    const decision = (await own?.(call)) ?? { action: "allow" as const };
    if (decision.action !== "allow" || general === undefined) return decision;
    const edited = decision.arguments;
    const last = await general(edited === undefined ? call : { ...call, arguments: edited });
    return last.action === "allow" && last.arguments === undefined && edited !== undefined
      ? { ...last, arguments: edited }
      : last;
  };
}
