import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { attach } from "../../src/mcp/attach.js";
import type { CallContext } from "../../src/catalog/tool.js";

const context: CallContext = { signal: new AbortController().signal };
const noTools = { metaTools: new Map(), namingOptions: new Map() } as never;

describe("a server that declares listChanged: false", () => {
  for (const order of ["before", "after"] as const) {
    it(`keeps its word when code mode is applied ${order} the first tool`, async () => {
      const server = new McpServer({ name: "s", version: "1" }, { capabilities: { tools: { listChanged: false } } });
      if (order === "before") attach(server).install(noTools);
      server.registerTool("a", { inputSchema: {} }, async () => ({ content: [] }));
      if (order === "after") attach(server).install(noTools);
      const client = new Client({ name: "c", version: "1" });
      let told = 0;
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => void told++);
      const [near, far] = InMemoryTransport.createLinkedPair();
      await Promise.all([server.connect(far), client.connect(near)]);
      expect(client.getServerCapabilities()?.tools?.listChanged ?? false).toBe(false);
      server.registerTool("b", { inputSchema: {} }, async () => ({ content: [] }));
      await client.listTools();
      expect(told).toBe(0);
    });
  }
});

describe("a tool whose schema is a union at the root", () => {
  it("is listed with its alternatives, though the SDK lists it as one without parameters", async () => {
    const server = new McpServer({ name: "s", version: "1" });
    const schema = z.union([z.object({ id: z.string() }), z.object({ text: z.string() })]);
    server.registerTool("tap", { inputSchema: schema }, async () => ({ content: [] }));
    server.registerTool("none", { inputSchema: {} }, async () => ({ content: [] }));
    const [tap, none] = await attach(server).source.listTools(context);
    expect(JSON.stringify(tap?.inputSchema)).toMatch(/"id".*"text"/);
    expect(tap?.inputSchema.type).toBe("object");
    expect(none?.inputSchema).toMatchObject({ type: "object" });
  });
});
