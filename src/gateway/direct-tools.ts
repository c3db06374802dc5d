import { addDefaults, type ArgumentPlans } from "../calls/arguments.js";
import { askPolicy, callInfo, type CallPolicy } from "../calls/policy.js";
import { withoutParameters } from "../catalog/hidden-parameters.js";
import type { CallContext, CallToolResult, Tool, ToolResult } from "../catalog/tool.js";
import { CodeModeError } from "../errors.js";
import { INVALID_PARAMS, protocolError } from "../mcp/host-server.js";
import { hasOwnCodeMode } from "./code-mode-server.js";
import type { GatewaySource } from "./source.js";

/** What direct calls need of the gateway. */
export interface DirectToolsParts {
  source: GatewaySource;
  plans: ArgumentPlans;
  /** The same as for calls of scripts. */
  policy: CallPolicy | undefined;
}

/** The tools of the upstreams as a client without code mode uses them: listed as they are, called one by one. */
export class DirectTools {
  readonly #parts: DirectToolsParts;
  readonly #shown = new WeakMap<Tool, Tool>();

  constructor(parts: DirectToolsParts) {
    this.#parts = parts;
  }

  /** All tools, as clients see them: without hidden parameters and without the gateway's own marks. */
  async list(): Promise<Tool[]> {
    return (await this.#parts.source.listTools()).map((tool) => this.#show(tool));
  }

  /** Those that stay listed beside search and execute: the tools of servers with a code mode of their own. */
  async listPassedThrough(): Promise<Tool[]> {
    const tools = await this.#parts.source.listTools();
    return tools.filter((tool) => this.passesThrough(tool)).map((tool) => this.#show(tool));
  }

  /** True for a tool of a server with a code mode of its own, by its configuration or by what it lists. */
  passesThrough({ name }: Tool): boolean {
    const upstream = this.#parts.source.upstreamOf(name);
    return upstream !== undefined && (upstream.config.passThrough ?? hasOwnCodeMode(upstream.tools));
  }

  /**
   * A client's own call. What goes wrong on the way is a result with `isError`.
   *
   * @throws a protocol error for a tool that does not exist, and what the upstream answered as one.
   */
  async call(name: string, given: Readonly<Record<string, unknown>>, context: CallContext): Promise<ToolResult> {
    const { source, plans, policy } = this.#parts;
    const tool = (await source.listTools()).find((candidate) => candidate.name === name);
    if (tool === undefined) return this.#missing(name);
    const args = { ...given };
    addDefaults(args, plans.for(tool));
    try {
      const edited = policy && (await askPolicy(policy, callInfo(tool, args, "direct", context.callerId)));
      return await source.callTool(name, edited ?? args, context);
    } catch (error) {
      if (!CodeModeError.isInstance(error)) throw error;
      return errorResult(error.message);
    }
  }

  #missing(name: string): CallToolResult {
    const [absence] = this.#parts.source.absences(name);
    if (absence !== undefined) return errorResult(absence);
    throw protocolError(INVALID_PARAMS, `Tool ${name.slice(0, 128)} not found`);
  }

  #show(tool: Tool): Tool {
    const known = this.#shown.get(tool);
    if (known !== undefined) return known;
    const shown = withoutMarks(withoutParameters(tool, this.#parts.plans.for(tool).hidden));
    this.#shown.set(tool, shown);
    return shown;
  }
}

function withoutMarks(tool: Tool): Tool {
  const { _meta, ...rest } = tool;
  const left = Object.entries(_meta ?? {}).filter(([key]) => !key.startsWith("mcp-codemode/"));
  return left.length === 0 ? rest : { ...rest, _meta: Object.fromEntries(left) };
}

const errorResult = (text: string): CallToolResult => ({ content: [{ type: "text", text }], isError: true });
