import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Client as ClientV2 } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { InMemoryTransport as InMemoryV2, McpServer as McpServerV2 } from "@modelcontextprotocol/server";
import { afterEach, describe, expect, it } from "vitest";
import { codeMode } from "../../src/code-mode.js";
import type { CodeModeOptions } from "../../src/options.js";
import { inProcessSandbox } from "../../src/sandbox/quickjs/in-process.js";
import { memoryStore } from "../../src/session/memory-store.js";
import { textOf } from "./support.js";

const sandboxProvider = inProcessSandbox();
const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });

let closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(closing.map((close) => close()));
  closing = [];
});

interface Files {
  server: McpServer;
  written: () => number;
}

/** A server with one tool that asks first. */
function files(options: CodeModeOptions = {}): Files {
  const server = new McpServer({ name: "files", version: "1" });
  let writes = 0;
  server.registerTool("write", {}, async () => text(`write ${++writes}`));
  codeMode({ sandboxProvider, store: memoryStore(), policy: () => ({ action: "ask" }), ...options }).apply(server);
  return { server, written: () => writes };
}

type Answer = "accept" | "decline" | "cancel";

/** A client whose person gives this answer; undefined: it cannot ask. */
async function connected(server: McpServer, answer?: Answer): Promise<{ client: Client; asked: string[] }> {
  const asked: string[] = [];
  const client = new Client(
    { name: "c", version: "1" },
    { capabilities: answer === undefined ? {} : { elicitation: {} } },
  );
  if (answer !== undefined) {
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      asked.push(params.message);
      return { action: answer, content: {} };
    });
  }
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
  await server.connect(serverSide);
  await client.connect(clientSide);
  closing.push(() => client.close());
  return { client, asked };
}

const execute = (client: Pick<Client, "callTool">, code: string) =>
  client.callTool({ name: "execute", arguments: { code } });
const markOf = (reply: object) =>
  (reply as { _meta: Record<string, { kind: string; run?: string }> })._meta["mcp-codemode/run"];

describe("a policy that asks, over MCP", () => {
  it.each([
    ["accept", "ok", 1],
    ["decline", "approval", 0],
    ["cancel", "approval", 0],
  ] as const)("asks a client of SDK 1.x by elicitation: %s", async (answer, kind, writes) => {
    const { server, written } = files();
    const { client, asked } = await connected(server, answer);
    expect(markOf(await execute(client, "return await call_tool('write', {})"))).toMatchObject({ kind });
    expect(asked).toEqual([expect.stringContaining("write({}) of files")]);
    expect(written()).toBe(writes);
  });

  it("pauses the script for a client that cannot ask, and resumes it once the host has decided", async () => {
    const store = memoryStore();
    const { server, written } = files({ store });
    const { client } = await connected(server);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["search", "execute", "resume"]);
    const { kind, run = "" } = markOf(await execute(client, "return await call_tool('write', {})")) ?? {};
    expect(kind).toBe("suspended");
    // Any codeMode() over the same store and secret decides: a page of the host's need not have the server.
    const host = codeMode({ store });
    const [paused] = await host.runs();
    expect(paused).toMatchObject({ run, server: "files", pending: [{ callId: 1, tool: "write" }] });
    await host.decide(run, 1, { action: "allow" });
    const resume = () => client.callTool({ name: "resume", arguments: { run } });
    expect(textOf(await resume())).toBe("write 1");
    expect(textOf(await resume())).toBe("write 1");
    expect(written()).toBe(1);
  });

  it("asks a client of SDK 2.x, 2025 protocol, by elicitation", async () => {
    const server = new McpServerV2({ name: "files", version: "2" });
    server.registerTool("write", {}, async () => text("written"));
    codeMode({ sandboxProvider, policy: () => ({ action: "ask" }), store: memoryStore() }).apply(server);
    const client = new ClientV2({ name: "c", version: "2" }, { capabilities: { elicitation: { form: {} } } });
    const asked: string[] = [];
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      asked.push(params.message);
      return { action: "accept", content: {} };
    });
    const [clientSide, serverSide] = InMemoryV2.createLinkedPair();
    await server.connect(serverSide);
    await client.connect(clientSide);
    closing.push(() => client.close());
    const reply = await client.callTool({
      name: "execute",
      arguments: { code: "return (await Promise.all([call_tool('write', {}), call_tool('write', {})])).join()" },
    });
    expect(textOf(reply)).toBe("written,written");
    expect(asked).toEqual([expect.stringMatching(/make 2 calls/)]);
  });

  it("asks about a client's own call of a hidden tool, or refuses it", async () => {
    const { server, written } = files();
    const { client, asked } = await connected(server, "accept");
    expect(textOf(await client.callTool({ name: "write", arguments: {} }))).toBe("write 1");
    expect(asked).toHaveLength(1);
    const other = files();
    const { client: mute } = await connected(other.server);
    const refused = await mute.callTool({ name: "write", arguments: {} });
    expect(refused.isError).toBe(true);
    expect(textOf(refused)).toContain("nobody can be asked");
    expect([written(), other.written()]).toEqual([1, 0]);
  });
});

/** A host that serves streamable HTTP on loopback, a server for each MCP session; whose request it is stands in a header. */
async function listen(build: () => McpServer): Promise<URL> {
  const transports = new Map<string, StreamableHTTPServerTransport>();
  const http = createServer((request, response) => {
    void (async () => {
      const user = String(request.headers["x-user"]);
      Object.assign(request, { auth: { token: user, clientId: user, scopes: [] } });
      const id = request.headers["mcp-session-id"];
      let transport = transports.get(String(id));
      if (transport === undefined) {
        const made = new StreamableHTTPServerTransport({
          sessionIdGenerator: randomUUID,
          onsessioninitialized: (session) => void transports.set(session, made),
        });
        await build().connect(made as Transport);
        transport = made;
      }
      await transport.handleRequest(request, response);
    })();
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  closing.push(async () => {
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  });
  return new URL(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`);
}

async function user(url: URL, name: string, answer?: Answer): Promise<{ client: Client; asked: string[] }> {
  const asked: string[] = [];
  const client = new Client(
    { name, version: "1" },
    { capabilities: answer === undefined ? {} : { elicitation: { form: {} } } },
  );
  if (answer !== undefined) {
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      asked.push(params.message);
      return { action: answer, content: {} };
    });
  }
  const transport = new StreamableHTTPClientTransport(url, { requestInit: { headers: { "x-user": name } } });
  await client.connect(transport as Transport);
  closing.unshift(() => client.close());
  return { client, asked };
}

describe("many users of one server over streamable HTTP", () => {
  const store = memoryStore();
  const build = (): McpServer => {
    const server = new McpServer({ name: "shared", version: "1" });
    server.registerTool("me", {}, async ({ authInfo }) => text(String(authInfo?.clientId)));
    codeMode({ sandboxProvider, store, session: { variables: true } }).apply(server);
    return server;
  };

  it("never meet each other's variables, however their scripts interleave", { timeout: 60_000 }, async () => {
    const url = await listen(build);
    const users = await Promise.all(Array.from({ length: 50 }, (_, index) => user(url, `user-${index}`)));
    const rounds = 3;
    for (let round = 0; round < rounds; round++) {
      const replies = await Promise.all(
        users.map(({ client }) =>
          execute(
            client,
            `var seen = typeof seen === "undefined" ? [] : seen; const who = await call_tool("me"); seen.push(who); return seen.join()`,
          ),
        ),
      );
      expect(replies.map(textOf)).toEqual(
        users.map((_, index) => Array.from({ length: round + 1 }, () => `user-${index}`).join()),
      );
    }
  });

  it("do not share a session that one of them names in the other's request", async () => {
    const url = await listen(build);
    const alice = await user(url, "alice");
    await execute(alice.client, "let secret = 'of alice'");
    const { sessionId } = alice.client.transport as { sessionId?: string };
    // The transport takes the request of whoever knows the session's id: the caller is another one all the same.
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-session-id": sessionId ?? "",
        "mcp-protocol-version": "2025-06-18",
        "x-user": "mallory",
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 99,
        method: "tools/call",
        params: { name: "execute", arguments: { code: "return typeof secret" } },
      }),
    });
    expect(await response.text()).toMatch(/"text":"undefined"/);
    expect(textOf(await execute(alice.client, "return secret"))).toBe("of alice");
  });

  it("are asked over the stream of their own request", async () => {
    const asking = (): McpServer => files({ policy: () => ({ action: "ask" }) }).server;
    const url = await listen(asking);
    const [yes, no] = [await user(url, "yes", "accept"), await user(url, "no", "decline")];
    const code = "return await call_tool('write', {}).catch((error) => error.kind)";
    const replies = await Promise.all([execute(yes.client, code), execute(no.client, code)]);
    expect(replies.map(textOf)).toEqual(["write 1", "approval"]);
    expect([yes.asked.length, no.asked.length]).toEqual([1, 1]);
  });
});

describe("a connection without an MCP session", () => {
  it("is a session of its own where it has one client, and none where it may have many", async () => {
    const build = (): McpServer => {
      const server = new McpServer({ name: `host-${randomUUID()}`, version: "1" });
      server.registerTool("x", {}, async () => text("x"));
      codeMode({ sandboxProvider, store: memoryStore(), session: { variables: true } }).apply(server);
      return server;
    };
    const { client } = await connected(build());
    await execute(client, "let x = 1");
    expect(textOf(await execute(client, "return x"))).toBe("1");
    const server = build();
    const http = createServer((request, response) => {
      void (async () => {
        const transport = new StreamableHTTPServerTransport({} as never);
        await server.close();
        await server.connect(transport as Transport);
        await transport.handleRequest(request, response);
      })();
    });
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    closing.push(async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    });
    const url = new URL(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`);
    const call = async (code: string): Promise<string> => {
      const response = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: { name: "execute", arguments: { code } },
        }),
      });
      return response.text();
    };
    expect(await call("let x = 1; x")).toContain("Nothing is kept between executes");
    expect(await call("return typeof x")).toContain('"text":"undefined"');
  });
});
