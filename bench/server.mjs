import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { z } from "zod";
import { codeMode, withTransforms } from "mcp-codemode";

const ROWS = 9_000;

/** A server with the tools that the benches call, wrapped or as it is, and a client connected to it. */
export async function connect({ wrapped, limits = {} }) {
  const server = withTransforms(new McpServer({ name: "bench", version: "1.0.0" }));
  if (wrapped)
    server.use(
      codeMode({ limits: { maxToolCalls: null, maxConcurrentCalls: 32, maxCallResultBytes: null, ...limits } }),
    );
  server.registerTool(
    "add",
    { inputSchema: { a: z.number(), b: z.number() }, outputSchema: { result: z.number() } },
    async ({ a, b }) => {
      const structuredContent = { result: a + b };
      return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
    },
  );
  server.registerTool("wait", { inputSchema: { ms: z.number() } }, async ({ ms }) => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    return { content: [{ type: "text", text: "done" }] };
  });
  server.registerTool("rows", { inputSchema: {} }, async () => ({ content: [], structuredContent: { rows: rows() } }));
  const client = new Client({ name: "bench", version: "1.0.0" });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(far), client.connect(near)]);
  const execute = async (code) => {
    const result = await client.callTool({ name: "execute", arguments: { code } });
    if (result.isError) throw new Error(result.content[0].text);
    return result;
  };
  return { client, execute };
}

/** About 1 MB as JSON. */
export function rows() {
  return Array.from({ length: ROWS }, (_, id) => ({
    id,
    name: `row number ${id}`,
    tag: `t${(id * 7919) % 1000}`,
    ok: id % 2 === 0,
    text: "x".repeat(40),
  }));
}
