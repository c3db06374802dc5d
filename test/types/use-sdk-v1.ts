// As a user of @modelcontextprotocol/sdk 1.x writes it.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { clientSource, codeMode, markdownSerializer, withTransforms } from "mcp-codemode";
import { z } from "zod";

const server = withTransforms(new McpServer({ name: "demo", version: "1.0.0" }));
server.registerTool("add", { inputSchema: { a: z.number(), b: z.number() } }, async ({ a, b }) => ({
  content: [{ type: "text", text: String(a + b) }],
}));
const same: typeof server = server.use(codeMode({ searchResultSerializer: markdownSerializer() }));
// It is still the server of the SDK.
const plain: McpServer = same;
await plain.close();

const lowLevel = withTransforms(new Server({ name: "demo", version: "1.0.0" }, { capabilities: { tools: {} } }));
lowLevel.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: [] }));
lowLevel.setRequestHandler(CallToolRequestSchema, async () => ({ content: [] }));
const stillServer: Server = lowLevel.use(codeMode());
await stillServer.close();

const applied = codeMode().apply(new McpServer({ name: "demo", version: "1.0.0" }));
await applied.dispose();

const client = new Client({ name: "upstream", version: "1.0.0" });
withTransforms(new McpServer({ name: "gateway", version: "1.0.0" })).use(
  codeMode({ sources: [clientSource(client), clientSource(client, { name: "second", timeoutMs: 1_000 })] }),
);
