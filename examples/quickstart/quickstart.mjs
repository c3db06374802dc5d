// Two tools behind search and execute, chained by one script.
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { codeMode, withTransforms } from "mcp-codemode";
import { z } from "zod";

const server = withTransforms(new McpServer({ name: "calculator", version: "1.0.0" }));
server.use(codeMode());

const numbers = { x: z.number(), y: z.number() };
const number = { result: z.number() };
const reply = (result) => ({ content: [{ type: "text", text: String(result) }], structuredContent: { result } });
server.registerTool(
  "add",
  { description: "Add two numbers.", inputSchema: numbers, outputSchema: number },
  async ({ x, y }) => reply(x + y),
);
server.registerTool(
  "multiply",
  { description: "Multiply two numbers.", inputSchema: numbers, outputSchema: number },
  async ({ x, y }) => reply(x * y),
);

// In a real server this is a StdioServerTransport or a StreamableHTTPServerTransport.
const [near, far] = InMemoryTransport.createLinkedPair();
const client = new Client({ name: "quickstart", version: "1.0.0" });
await Promise.all([server.connect(far), client.connect(near)]);

const { tools } = await client.listTools();
console.log(tools.map(({ name }) => name).join(", "));

const found = await client.callTool({ name: "search", arguments: { query: "add and multiply numbers" } });
console.log(found.content[0].text);

const code = `
const sum = await call_tool("add", { x: 3, y: 4 });
return await call_tool("multiply", { x: sum.result, y: 2 });`;
const result = await client.callTool({ name: "execute", arguments: { code } });
console.log(result.content[0].text);

assert.deepEqual(
  tools.map(({ name }) => name),
  ["search", "execute"],
);
for (const name of ["add", "multiply"]) assert.match(found.content[0].text, new RegExp(`^# ${name}\n`, "m"));
assert.equal(result.content[0].text, '{"result":14}');
await client.close();
