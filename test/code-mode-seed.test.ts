import { Client as ClientV2, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import {
  createMcpHandler,
  InMemoryTransport as InMemoryV2,
  McpServer as McpServerV2,
} from "@modelcontextprotocol/server";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { codeMode, withTransforms } from "../src/code-mode.js";
import "../src/register.js";
import { sdksV1 } from "./mcp/sdk-v1.js";
import { textOf } from "./mcp/support.js";

/** The example that code mode is best known by: two tools chained in one round trip. */
const CHAIN = `
a = await call_tool("add", {"x": 3, "y": 4})
b = await call_tool("multiply", {"x": a["result"], "y": 2})
return b
`
  .replace("a =", "const a =")
  .replace("b =", "const b =");

const ANSWER = '{"result":14}';

type Numbers = { x: number; y: number };
const result = (value: number) => ({
  content: [{ type: "text" as const, text: String(value) }],
  structuredContent: { result: value },
});

/** Calls the meta-tools as the example does. */
async function walkThrough(client: {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(request: { name: string; arguments: Record<string, unknown> }): Promise<object>;
}) {
  const { tools } = await client.listTools();
  const found = await client.callTool({ name: "search", arguments: { query: "add multiply numbers" } });
  const chained = await client.callTool({ name: "execute", arguments: { code: CHAIN } });
  return { tools: tools.map(({ name }) => name), found: textOf(found), answer: textOf(chained) };
}

const EXPECTED = {
  tools: ["search", "execute"],
  found: expect.stringMatching(/add[\s\S]*multiply|multiply[\s\S]*add/) as string,
  answer: ANSWER,
};

for (const sdk of await sdksV1()) {
  const shape = { x: sdk.z.number(), y: sdk.z.number() };
  const register = (server: InstanceType<typeof sdk.McpServer>): void => {
    const outputSchema = { result: sdk.z.number() };
    const add = { description: "Add two numbers.", inputSchema: shape, outputSchema };
    const multiply = { description: "Multiply two numbers.", inputSchema: shape, outputSchema };
    server.registerTool("add", add as never, (async ({ x, y }: Numbers) => result(x + y)) as never);
    server.registerTool("multiply", multiply as never, (async ({ x, y }: Numbers) => result(x * y)) as never);
  };
  const clientOf = async (server: InstanceType<typeof sdk.McpServer>) => {
    const [clientSide, serverSide] = sdk.InMemoryTransport.createLinkedPair();
    const client = new sdk.Client({ name: "c", version: "1" });
    await server.connect(serverSide);
    await client.connect(clientSide);
    onTestFinished(() => client.close());
    return client;
  };

  describe(`the seed's example on ${sdk.label}`, () => {
    it("by withTransforms, before the tools", async () => {
      const server = withTransforms(new sdk.McpServer({ name: "Server", version: "1.0.0" }));
      server.use(codeMode());
      register(server);
      expect(await walkThrough(await clientOf(server))).toEqual(EXPECTED);
    });
    it("by withTransforms, after the tools", async () => {
      const server = withTransforms(new sdk.McpServer({ name: "Server", version: "1.0.0" }));
      register(server);
      server.use(codeMode());
      expect(await walkThrough(await clientOf(server))).toEqual(EXPECTED);
    });
  });
}

describe("the seed's example by mcp-codemode/register", () => {
  it("needs nothing but server.use(codeMode())", async () => {
    const { McpServer } = await import("@modelcontextprotocol/sdk/server/mcp.js");
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const { InMemoryTransport } = await import("@modelcontextprotocol/sdk/inMemory.js");
    const server = new McpServer({ name: "Server", version: "1.0.0" });
    server.use(codeMode());
    const schemas = { inputSchema: { x: z.number(), y: z.number() }, outputSchema: { result: z.number() } };
    server.registerTool("add", { description: "Add two numbers.", ...schemas }, async ({ x, y }) => result(x + y));
    server.registerTool("multiply", { description: "Multiply two numbers.", ...schemas }, async ({ x, y }) =>
      result(x * y),
    );
    const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
    const client = new Client({ name: "c", version: "1" });
    await server.connect(serverSide);
    await client.connect(clientSide);
    onTestFinished(() => client.close());
    expect(await walkThrough(client as never)).toEqual(EXPECTED);
  });
});

describe("the seed's example on SDK 2", () => {
  const build = () => {
    const server = withTransforms(new McpServerV2({ name: "Server", version: "1.0.0" }));
    const schemas = {
      inputSchema: z.object({ x: z.number(), y: z.number() }),
      outputSchema: z.object({ result: z.number() }),
    };
    server.registerTool("add", { description: "Add two numbers.", ...schemas }, async ({ x, y }) => result(x + y));
    server.registerTool("multiply", { description: "Multiply two numbers.", ...schemas }, async ({ x, y }) =>
      result(x * y),
    );
    return server.use(codeMode());
  };
  it("in protocol 2025-11-25", async () => {
    const [clientSide, serverSide] = InMemoryV2.createLinkedPair();
    const client = new ClientV2({ name: "c", version: "1" });
    await build().connect(serverSide);
    await client.connect(clientSide);
    onTestFinished(() => client.close());
    expect(await walkThrough(client)).toEqual(EXPECTED);
  });
  it("in protocol 2026-07-28, a server for each request", async () => {
    const handler = createMcpHandler(build);
    const client = new ClientV2({ name: "c", version: "1" }, { versionNegotiation: { mode: "auto" } });
    const fetch = (url: string | URL, init?: RequestInit) => handler.fetch(new Request(url, init));
    await client.connect(new StreamableHTTPClientTransport(new URL("http://test.local/mcp"), { fetch }));
    onTestFinished(() => client.close());
    expect(client.getNegotiatedProtocolVersion()).toBe("2026-07-28");
    expect(await walkThrough(client)).toEqual(EXPECTED);
  });
});
