import { createCodeMode } from "../../src/create-code-mode.js";
import type { CallContext, CallToolResult, ToolSource } from "../../src/catalog/tool.js";
import type { CodeMode } from "../../src/meta-tools/meta-tool.js";
import type { RunMark } from "../../src/meta-tools/run-mark.js";
import type { CodeModeOptions } from "../../src/options.js";
import { inProcessSandbox } from "../../src/sandbox/quickjs/in-process.js";

const sandboxProvider = inProcessSandbox();

/** A real engine; scripts run in this thread, which is quicker to start than a worker. */
export const engineOf = (source: ToolSource, options: CodeModeOptions = {}): CodeMode =>
  createCodeMode(source, { sandboxProvider, ...options });

const anybody: CallContext = { signal: new AbortController().signal };

/** Calls a meta-tool by name, as an adapter does. */
export async function callMeta(
  engine: CodeMode,
  name: string,
  args: Record<string, unknown>,
  context: CallContext = anybody,
): Promise<CallToolResult> {
  const metaTool = engine.metaTools.find(({ tool }) => tool.name === name);
  if (metaTool === undefined) throw new Error(`there is no meta-tool ${name}`);
  return metaTool.call(args, context);
}

export const execute = (engine: CodeMode, code: string, context?: CallContext): Promise<CallToolResult> =>
  callMeta(engine, "execute", { code }, context);

/** The texts of a reply, one per text block. */
export function textsOf({ content }: CallToolResult): string[] {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : []));
}

/** All text of a reply. */
export const textOf = (result: CallToolResult): string => textsOf(result).join("\n");

export function markOf(result: CallToolResult): RunMark {
  const mark = result._meta?.["mcp-codemode/run"];
  if (mark === undefined) throw new Error("the reply has no mark");
  return mark as RunMark;
}
