import { type CallContext, deriveContext, type Progress, type Tool, type ToolSource } from "../../src/catalog/tool.js";
import type { HostSurface } from "../../src/mcp/host-adapter.js";
import type { MetaTool } from "../../src/meta-tools/meta-tool.js";

/** What became of one nested call. */
export interface Nested {
  result?: { content?: { type: string; text: string }[]; structuredContent?: unknown; isError?: boolean };
  rejected?: { message: string; code?: number; data?: unknown };
  progress: Progress[];
}

/** Options of one call of the `execute` below. */
export interface NestedOptions {
  calls: { name: string; args?: Record<string, unknown> }[];
  /** Nobody listens to progress. */
  deaf?: boolean;
}

/** Meta-tools that reach a source without a sandbox: `search` lists it, `execute` calls its tools, all at once. */
export function nestingSurface(
  source: ToolSource,
  options: { direct?: readonly string[]; searchName?: string } = {},
): HostSurface {
  const { direct, searchName = "search" } = options;
  const search = metaTool(searchName, (_, context) => source.listTools(context));
  const execute = metaTool("execute", async (args, context) => {
    const { calls, deaf } = args as unknown as NestedOptions;
    return Promise.all(calls.map(({ name, args: own }) => callNested(source, name, own ?? {}, context, deaf)));
  });
  return {
    metaTools: new Map([search, execute].map((meta) => [meta.tool.name, meta])),
    isDirect: direct && (({ name }: Tool) => direct.includes(name)),
    namingOptions: new Map([
      [searchName, "searchToolName"],
      ["execute", "executeToolName"],
    ]),
  };
}

function metaTool(
  name: string,
  answer: (args: Record<string, unknown>, context: CallContext) => Promise<unknown>,
): MetaTool {
  return {
    tool: { name, description: `The meta-tool ${name}`, inputSchema: { type: "object" } },
    async call(args, context) {
      return { content: [{ type: "text", text: JSON.stringify((await answer(args, context)) ?? null) }] };
    },
  };
}

async function callNested(
  source: ToolSource,
  name: string,
  args: Record<string, unknown>,
  outer: CallContext,
  deaf = false,
): Promise<Nested> {
  const progress: Progress[] = [];
  const onProgress = deaf ? undefined : (step: Progress) => void progress.push(step);
  const context = deriveContext(outer, { onProgress });
  try {
    return { result: (await source.callTool(name, args, context)) as NonNullable<Nested["result"]>, progress };
  } catch (error) {
    const { message, code, data } = error as { message: string; code?: number; data?: unknown };
    // As the calls layer does: only the client can act on this one.
    if (code === -32042) throw error;
    return {
      rejected: { message, ...(code !== undefined && { code }), ...(data !== undefined && { data }) },
      progress,
    };
  }
}
