// As a user of @modelcontextprotocol/server 2.x writes it.
import { Client } from "@modelcontextprotocol/client";
import { McpServer, Server } from "@modelcontextprotocol/server";
import { clientSource, codeMode, typescriptSerializer, withTransforms } from "mcp-codemode";
import { z } from "zod";

const server = withTransforms(new McpServer({ name: "demo", version: "1.0.0" }));
server.registerTool("add", { inputSchema: z.object({ a: z.number(), b: z.number() }) }, async ({ a, b }) => ({
  content: [{ type: "text", text: String(a + b) }],
}));
const same: typeof server = server.use(codeMode({ searchResultSerializer: typescriptSerializer() }));
const plain: McpServer = same;
await plain.close();

const lowLevel = withTransforms(new Server({ name: "demo", version: "1.0.0" }, { capabilities: { tools: {} } }));
lowLevel.setRequestHandler("tools/list", async () => ({ tools: [] }));
const stillServer: Server = lowLevel.use(codeMode());
await stillServer.close();

const applied = codeMode().apply(new McpServer({ name: "demo", version: "1.0.0" }));
await applied.dispose();

const client = new Client({ name: "upstream", version: "1.0.0" });
withTransforms(new McpServer({ name: "gateway", version: "1.0.0" })).use(codeMode({ sources: [clientSource(client)] }));
