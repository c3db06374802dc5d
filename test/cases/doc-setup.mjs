// What the snippets of the documents may use without saying where it comes from: see test/package/snippets.ts.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { codeMode, createCodeMode, functionSource, quickJsSandbox, withTransforms } from "mcp-codemode";

const number = { type: "number" };
const source = functionSource({
  add: {
    description: "Add two numbers.",
    input: { type: "object", properties: { x: number, y: number }, required: ["x", "y"] },
    run: ({ x, y }) => x + y,
  },
});
// What the client sees is a server with code mode.
const upstream = withTransforms(new McpServer({ name: "shop", version: "1.0.0" }));
upstream.use(codeMode());
upstream.registerTool("list_orders", { description: "All orders of a customer." }, async () => ({
  content: [{ type: "text", text: "two orders" }],
  structuredContent: {
    orders: [
      { id: 1, paid: true },
      { id: 2, paid: false },
    ],
  },
}));
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
