import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it, onTestFinished } from "vitest";
import { codeMode } from "../src/code-mode.js";
import { clientSource } from "../src/mcp/client-source.js";
import type { CodeModeOptions } from "../src/options.js";
import { inProcessSandbox } from "../src/sandbox/quickjs/in-process.js";
import { connect, plainTool, textOf } from "./mcp/support.js";

const info = { name: "demo", version: "1" };
const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });
const sandboxProvider = inProcessSandbox();

/** A low-level server whose tools depend on who asks: `secret` is for admins. Calls are not checked at all. */
function serverByCaller() {
  const server = new Server(info, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, async (_, { authInfo }) => ({
    tools: ["open", ...(authInfo?.scopes.includes("admin") ? ["secret"] : [])].map(plainTool),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => text(`called ${params.name}`));
  codeMode({ sandboxProvider }).apply(server);
  return server;
}

/** A client whose messages arrive with these scopes and this session. */
async function clientAs(server: Server, scopes: string[], sessionId = "s"): Promise<Client> {
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
  serverSide.sessionId = sessionId;
  await server.connect(serverSide);
  const deliver = serverSide.onmessage;
  serverSide.onmessage = (message, extra) =>
    deliver?.(message, { ...extra, authInfo: { token: `token-${scopes.join()}`, clientId: "c", scopes } });
  const client = new Client(info);
  await client.connect(clientSide);
  onTestFinished(() => client.close());
  return client;
}

const search = async (client: Client, query = "secret, open") =>
  textOf(await client.callTool({ name: "search", arguments: { query } }));
const execute = async (client: Client, code: string) => client.callTool({ name: "execute", arguments: { code } });
const tryCall = async (client: Client, name: string) =>
  textOf(await execute(client, `try { return await call_tool("${name}", {}) } catch (error) { return error.message }`));

describe("a catalog by caller (fastmcp)", () => {
  it("36: a tool that the caller may not see is not found", async () => {
    const guest = await clientAs(serverByCaller(), ["read"]);
    expect(await search(guest, "")).not.toMatch(/secret/);
    const admin = await clientAs(serverByCaller(), ["admin"]);
    expect(await search(admin, "")).toMatch(/secret/);
  });
  it("37: calling it says what an invented name says", async () => {
    const guest = await clientAs(serverByCaller(), ["read"]);
    const [hidden, invented] = [await tryCall(guest, "secret"), await tryCall(guest, "nowhere")];
    expect(hidden.replace("secret", "X")).toBe(invented.replace("nowhere", "X"));
    expect(hidden).toMatch(/^Unknown tool: secret/);
  });
  it("37: the one who may see it calls it", async () => {
    expect(await tryCall(await clientAs(serverByCaller(), ["admin"]), "secret")).toBe("called secret");
  });
  it("39: an override of tools/list that removes a tool removes it from search and scripts", async () => {
    const server = new McpServer(info);
    server.registerTool("seen", {}, async () => text("seen"));
    server.registerTool("removed", {}, async () => text("removed"));
    codeMode({ sandboxProvider }).apply(server);
    server.server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: [plainTool("seen")] }));
    const client = await connect(server);
    expect(await search(client, "")).not.toMatch(/removed/);
    expect(await tryCall(client, "removed")).toMatch(/^Unknown tool: removed/);
    expect(await tryCall(client, "seen")).toBe("seen");
  });
  it("40: a tool disabled for one session is there for the others", async () => {
    const disabled = new Set<string>();
    const build = () => {
      const server = new Server(info, { capabilities: { tools: {} } });
      server.setRequestHandler(ListToolsRequestSchema, async (_, { sessionId }) => ({
        tools: disabled.has(sessionId ?? "") ? [] : [plainTool("open")],
      }));
      server.setRequestHandler(CallToolRequestSchema, async () => text("called"));
      codeMode({ sandboxProvider }).apply(server);
      return server;
    };
    const [one, two] = [await clientAs(build(), [], "one"), await clientAs(build(), [], "two")];
    disabled.add("one");
    expect(await tryCall(one, "open")).toMatch(/^Unknown tool: open/);
    expect(await tryCall(two, "open")).toBe("called");
  });
  it("42: of two versions of a tool, the newest app-only, neither is reached", async () => {
    const server = new Server(info, { capabilities: { tools: {} } });
    const appOnly = { ...plainTool("widget"), _meta: { ui: { visibility: ["app"] }, version: 2 } };
    server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: [appOnly] }));
    server.setRequestHandler(CallToolRequestSchema, async () => text("called"));
    codeMode({ sandboxProvider }).apply(server);
    expect(await tryCall(await connect(server), "widget")).toMatch(/^Unknown tool: widget/);
  });
});

describe("a remote client behind code mode (fastmcp 69)", () => {
  const wrapped = async (options: CodeModeOptions = {}) => {
    const upstream = new McpServer({ name: "upstream", version: "1" });
    upstream.registerTool("remote", { description: "Far away" }, async () => text("from afar"));
    const source = clientSource(await connect(upstream));
    const server = new McpServer(info);
    codeMode({ sandboxProvider, sources: [source], ...options }).apply(server);
    return { upstream, source, client: await connect(server) };
  };
  it("lists only the meta-tools", async () => {
    const { client } = await wrapped();
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["search", "execute"]);
  });
  it("calls its tools", async () => {
    const { client } = await wrapped();
    expect(await tryCall(client, "remote")).toBe("from afar");
  });
  it("sees tools added after connect", async () => {
    const { client, upstream, source } = await wrapped();
    await search(client, "remote");
    const changed = new Promise<void>((resolve) => source.onToolsChanged?.(resolve));
    upstream.registerTool("added", {}, async () => text("new"));
    await changed;
    expect(await tryCall(client, "added")).toBe("new");
  });
  it("answers wrong arguments of a meta-tool with isError", async () => {
    const { client } = await wrapped();
    expect(await client.callTool({ name: "execute", arguments: { code: 5 } })).toMatchObject({ isError: true });
  });
  it("disconnects when the source is closed", async () => {
    const { client, source } = await wrapped();
    await source.close?.();
    expect(await tryCall(client, "remote")).toMatch(/not connected|closed|Unknown tool/i);
  });
});
