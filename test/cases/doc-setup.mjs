// What the snippets of the documents may use without saying where it comes from: see test/package/snippets.ts.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { createCodeMode, functionSource, quickJsSandbox, withTransforms } from "mcp-codemode";

const source = functionSource({
  add: { description: "Add two numbers.", input: { type: "object", properties: { a: { type: "number" } } }, run: () => 3 },
});
const upstream = new McpServer({ name: "upstream", version: "1.0.0" });
upstream.registerTool("ping", {}, async () => ({ content: [{ type: "text", text: "pong" }] }));
const client = new Client({ name: "docs", version: "1.0.0" });
const [near, far] = InMemoryTransport.createLinkedPair();
await Promise.all([upstream.connect(far), client.connect(near)]);

Object.assign(globalThis, {
  server: withTransforms(new McpServer({ name: "docs", version: "1.0.0" })),
  client,
  source,
  sandbox: quickJsSandbox(),
  tools: await source.listTools({ signal: new AbortController().signal }),
  engine: createCodeMode(source),
});
