import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { inlineText } from "../catalog/untrusted-text.js";
import type { CallContext, Tool, ToolSource } from "../catalog/tool.js";
import { codeMode, type Transform } from "../code-mode.js";
import { progressToClient, type RequestMeta } from "../mcp/context.js";
import type { Notify } from "../mcp/host-server.js";
import type { CodeModeOptions } from "../options.js";
import type { DirectTools } from "./direct-tools.js";
import { loadServerSdk, type ServerSdk } from "./sdk.js";
import type { GatewaySource } from "./source.js";
import type { Upstream } from "./upstream/upstream.js";

/** What clients see: search and execute, or every tool. */
export type ServerMode = "code" | "classic";

/** What servers of a gateway are made of. */
export interface ServerParts {
  info: { name: string; version: string };
  source: GatewaySource;
  tools: DirectTools;
  /** Code mode, once for all servers: they share what search knows of the tools. */
  transform: Transform;
  upstreams: ReadonlyMap<string, Upstream>;
}

/** An MCP server of the SDK over the gateway's tools, not yet connected: one for each client. */
export async function buildServer(mode: ServerMode, parts: ServerParts): Promise<Server> {
  const sdk = await loadServerSdk();
  await parts.source.listTools();
  const instructions = instructionsOf(mode, parts.upstreams);
  const server = new sdk.Server(parts.info, {
    capabilities: { tools: { listChanged: true } },
    ...(instructions === "" ? {} : { instructions }),
  });
  handleTools(sdk, server, mode, parts);
  const applied = mode === "code" ? parts.transform.apply(server) : undefined;
  const stopTelling = tellOfChanges(server, mode, parts);
  const { onclose } = server;
  server.onclose = () => {
    stopTelling();
    // What it listens to is the gateway's, which outlives every client.
    void applied?.dispose();
    onclose?.();
  };
  return server;
}

/** Code mode over the gateway's tools, for any number of servers. */
export function gatewayTransform(options: CodeModeOptions, parts: Pick<ServerParts, "source" | "tools">): Transform {
  const { tools } = parts;
  return codeMode({ ...options, sources: [hiddenTools(parts)], directTools: (tool) => tools.passesThrough(tool) });
}

/** The tools that search finds: those passed through are the server's own, and one name must not come twice. */
function hiddenTools({ source, tools }: Pick<ServerParts, "source" | "tools">): ToolSource {
  let last: { all: readonly Tool[]; hidden: Tool[] } | undefined;
  return {
    async listTools() {
      const all = await source.listTools();
      if (last?.all !== all) last = { all, hidden: all.filter((tool) => !tools.passesThrough(tool)) };
      return last.hidden;
    },
    callTool: (name, args, context) => source.callTool(name, args, context),
    onToolsChanged: (listener) => source.onToolsChanged(listener),
    absences: (name) => source.absences(name),
  };
}

function handleTools(sdk: ServerSdk, server: Server, mode: ServerMode, { tools }: ServerParts): void {
  const { ListToolsRequestSchema, CallToolRequestSchema } = sdk.types;
  server.setRequestHandler(ListToolsRequestSchema, async () => {
    return { tools: (await (mode === "code" ? tools.listPassedThrough() : tools.list())) as never };
  });
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const context: CallContext = {
      signal: extra.signal,
      sessionId: extra.sessionId,
      authInfo: extra.authInfo,
      onProgress: progressToClient(extra._meta as RequestMeta, extra.sendNotification as unknown as Notify),
    };
    return (await tools.call(params.name, params.arguments ?? {}, context)) as never;
  });
}

/** Clients are told when their own list is another one: that of search and execute changes with servers passed through only. */
function tellOfChanges(server: Server, mode: ServerMode, { source, tools }: ServerParts): () => void {
  const listed = (): string =>
    JSON.stringify(source.current.filter((tool) => mode === "classic" || tools.passesThrough(tool)));
  let last = listed();
  return source.onToolsChanged(() => {
    const now = listed();
    if (now === last) return;
    last = now;
    // Rejects while nobody is connected: then there is nobody to tell.
    server.sendToolListChanged().catch(() => {});
  });
}

const MAX_INSTRUCTIONS_CHARACTERS = 600;

/** Which servers there are, by the ids that the configuration gave them; their own words only where they are trusted. */
function instructionsOf(mode: ServerMode, upstreams: ReadonlyMap<string, Upstream>): string {
  const lines = [...upstreams.values()].map((upstream) => {
    const count = upstream.state === "ready" ? `${upstream.tools.length} tools` : "not available now";
    const own = upstream.config.trust ? upstream.instructions : undefined;
    const words = own === undefined ? "" : `: ${inlineText(own, MAX_INSTRUCTIONS_CHARACTERS)}`;
    return `- ${inlineText(upstream.id, 64)} (${count})${words}`;
  });
  if (lines.length === 0) return "";
  const head = mode === "code" ? "Servers whose tools search finds and scripts call:" : "Servers behind this gateway:";
  return [head, ...lines].join("\n");
}
