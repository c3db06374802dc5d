import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import {
  createMcpHandler,
  InMemoryTransport,
  inputRequired,
  McpServer,
  requireScopes,
  Server,
  UrlElicitationRequiredError,
} from "@modelcontextprotocol/server";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { codeMode } from "../../src/code-mode.js";
import type { CodeModeOptions } from "../../src/options.js";
import { plainTool, textOf } from "./support.js";

/** All of code mode over SDK 2: what a model sees of per-caller lists, pages, app-only tools, scopes and questions. */

const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });
const info = { name: "host", version: "1" };
const ERAS = ["2025-11-25", "2026-07-28"] as const;
type Era = (typeof ERAS)[number];
type Build = () => McpServer | Server;

const authOf = (scopes: string[]) => ({ token: `token-${scopes.join()}`, clientId: "me", scopes });

/** 2025: one server in memory. 2026-07-28: a fresh server for each request, over HTTP. */
async function connect(era: Era, build: Build, scopes: string[] = []): Promise<Client> {
  const modern = era === "2026-07-28";
  const client = new Client(
    { name: "c", version: "1" },
    { capabilities: { elicitation: {} }, ...(modern && { versionNegotiation: { mode: "auto" as const } }) },
  );
  const authInfo = authOf(scopes);
  if (modern) {
    const handler = createMcpHandler(build as () => McpServer, { onerror: () => {} });
    const fetch = (url: string | URL, init?: RequestInit) => handler.fetch(new Request(url, init), { authInfo });
    await client.connect(new StreamableHTTPClientTransport(new URL("http://test.local/mcp"), { fetch }));
  } else {
    const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
    await build().connect(serverSide);
    const deliver = serverSide.onmessage;
    serverSide.onmessage = (message, extra) => deliver?.(message, { ...extra, authInfo });
    await client.connect(clientSide);
  }
  onTestFinished(() => client.close());
  expect(client.getNegotiatedProtocolVersion()).toBe(era);
  return client;
}

const search = async (client: Client, args: object = { limit: 50 }) =>
  textOf(await client.callTool({ name: "search", arguments: { ...args } }));
const execute = (client: Client, code: string) => client.callTool({ name: "execute", arguments: { code } });
const caught = async (client: Client, name: string) =>
  textOf(await execute(client, `try { return await call_tool("${name}", {}) } catch (error) { return error.message }`));

const wrapped = (server: McpServer | Server, options: CodeModeOptions = {}) => {
  codeMode(options).apply(server);
  return server;
};

describe.each(ERAS)("code mode on SDK 2, protocol %s", (era) => {
  it("has a catalog for each caller", async () => {
    const build = () => {
      const server = new Server(info, { capabilities: { tools: {} } });
      server.setRequestHandler("tools/list", async (_, { http }) => ({
        tools: ["open", ...(http?.authInfo?.scopes.includes("admin") ? ["secret"] : [])].map(plainTool),
      }));
      server.setRequestHandler("tools/call", async ({ params }) => text(`called ${params.name}`));
      return wrapped(server);
    };
    const [guest, admin] = [await connect(era, build), await connect(era, build, ["admin"])];
    expect(await search(guest)).not.toContain("secret");
    expect(await search(admin)).toContain("secret");
    expect(await caught(guest, "secret")).toMatch(/^Unknown tool: secret/);
    expect(await caught(admin, "secret")).toBe("called secret");
    expect(await caught(guest, "open")).toBe("called open");
  });

  it("reads all pages of a list", async () => {
    const cursors = vi.fn<(cursor: string | undefined) => void>();
    const build = () => {
      const server = new Server(info, { capabilities: { tools: {} } });
      server.setRequestHandler("tools/list", async ({ params }) => {
        cursors(params?.cursor);
        const page = Number(params?.cursor ?? 0);
        return { tools: [plainTool(`tool_${page}`)], ...(page < 2 && { nextCursor: String(page + 1) }) };
      });
      server.setRequestHandler("tools/call", async ({ params }) => text(params.name));
      return wrapped(server);
    };
    const client = await connect(era, build);
    expect(await search(client)).toMatch(/tool_0[\s\S]*tool_1[\s\S]*tool_2/);
    expect(cursors.mock.calls.slice(0, 3)).toEqual([[undefined], ["1"], ["2"]]);
    expect(await caught(client, "tool_2")).toBe("tool_2");
  });

  it("hides an app's own tools from search and scripts, and leaves them to the app", async () => {
    const build = () => {
      const server = new McpServer(info);
      const widget = (visibility: string[]) => ({ _meta: { ui: { visibility } } });
      server.registerTool("app_only", widget(["app"]), async () => text("for the app"));
      server.registerTool("both", widget(["model", "app"]), async () => text("for both"));
      return wrapped(server);
    };
    const client = await connect(era, build);
    expect(await search(client)).not.toContain("app_only");
    expect(await caught(client, "app_only")).toMatch(/^Unknown tool: app_only/);
    expect(await caught(client, "both")).toBe("for both");
    expect(textOf(await client.callTool({ name: "app_only", arguments: {} }))).toBe("for the app");
  });

  it("sees tools that were disabled, enabled and registered during a script", async () => {
    const build = () => {
      const server = new McpServer(info);
      const vault = server.registerTool("vault", {}, async () => text("gold"));
      vault.disable();
      server.registerTool("unlock", {}, async () => {
        vault.enable();
        server.registerTool("fresh", {}, async () => text("new"));
        return text("ok");
      });
      return wrapped(server);
    };
    const code = `
      const before = await call_tool("vault", {}).catch((error) => error.message.slice(0, 19));
      await call_tool("unlock", {});
      return [before, await call_tool("vault", {}), await call_tool("fresh", {})];`;
    expect(textOf(await execute(await connect(era, build), code))).toBe('["Unknown tool: vault","gold","new"]');
  });

  it("hands an error that sends the user to a page on as the SDK does", async () => {
    const build = () => {
      const server = new McpServer(info);
      server.registerTool("visit", {}, async () => {
        throw new UrlElicitationRequiredError([
          { mode: "url", message: "go", url: "https://x.test", elicitationId: "e1" },
        ]);
      });
      return wrapped(server);
    };
    const client = await connect(era, build);
    const direct = await outcomeOf(client.callTool({ name: "visit", arguments: {} }));
    const nested = await outcomeOf(execute(client, `return await call_tool("visit", {})`));
    const expected = {
      "2025-11-25": { code: -32042, data: { elicitations: [{ url: "https://x.test" }] } },
      "2026-07-28": { code: -32603 },
    }[era];
    expect(direct).toMatchObject(expected);
    expect(nested).toMatchObject(era === "2025-11-25" ? expected : { isError: true });
  });
});

const outcomeOf = async (call: Promise<object>): Promise<object> =>
  call.catch((error: object) => ({ ...error, message: (error as Error).message }));

describe("a tool that asks the user, inside of a script", () => {
  const build = () => {
    const server = new McpServer(info);
    server.registerTool("ask", {}, async ({ mcpReq }) => {
      if (mcpReq.inputResponses !== undefined) return text("answered");
      const requestedSchema = { type: "object" as const, properties: { yes: { type: "boolean" as const } } };
      return inputRequired({ inputRequests: { q: inputRequired.elicit({ message: "yes?", requestedSchema }) } });
    });
    return wrapped(server);
  };
  it("is answered in protocol 2025-11-25", async () => {
    const client = await connect("2025-11-25", build);
    client.setRequestHandler("elicitation/create", async () => ({ action: "accept", content: { yes: true } }));
    expect(await caught(client, "ask")).toBe("answered");
  });
  it("fails in protocol 2026-07-28 with what to do instead, and never hands the question to the script", async () => {
    const said = await caught(await connect("2026-07-28", build), "ask");
    expect(said).toMatch(/asks the user for input.*call ask directly/);
  });
});

describe("scopes of tools, protocol 2026-07-28", () => {
  const challenge = (check: ReturnType<typeof requireScopes>): Build => {
    return () => {
      const server = new McpServer(info);
      server.registerTool("scoped", { scopeChallenge: check }, async () => text("the secret"));
      server.registerTool("open", {}, async () => text("for all"));
      return wrapped(server);
    };
  };
  /** Over HTTP, as a client without the SDK sees it. */
  async function post(build: Build, name: string, args: object, scopes: string[]) {
    const handler = createMcpHandler(build as () => McpServer, { onerror: () => {} });
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "x", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const request = new Request("http://test.local/mcp", {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": name,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args, _meta } }),
    });
    const response = await handler.fetch(request, { authInfo: authOf(scopes) });
    return { status: response.status, body: await response.text() };
  }
  const admin = challenge(requireScopes("admin"));
  const script = (code: string) => ({ code });

  it("403 for the direct call of one who lacks them", async () => {
    const { status, body } = await post(admin, "scoped", {}, ["read"]);
    expect(status).toBe(403);
    expect(body).not.toContain("the secret");
  });
  it("a failed call for the same one by a script, which goes on with what it may do", async () => {
    const code = `
      const denied = await call_tool("scoped", {}).catch((error) => error.message);
      return [denied, await call_tool("open", {})];`;
    const { status, body } = await post(admin, "execute", script(code), ["read"]);
    expect(status).toBe(200);
    expect(body).toMatch(/insufficient_scope: scoped needs admin/);
    expect(body).toContain("for all");
    expect(body).not.toContain("the secret");
  });
  it.each([
    ["tools.<name>", "return await tools.scoped()"],
    ["a name that is made up in the script", 'return await call_tool(["sco", "ped"].join(""), {})'],
    ["many at once", 'return await Promise.all([1, 2, 3].map(() => call_tool("scoped", {})))'],
  ])("the same by %s", async (_, code) => {
    const { body } = await post(admin, "execute", script(code), ["read"]);
    expect(body).toMatch(/insufficient_scope/);
    expect(body).not.toContain("the secret");
  });
  it("passes for one who has them, directly and by a script", async () => {
    expect((await post(admin, "scoped", {}, ["admin"])).body).toContain("the secret");
    const { body } = await post(admin, "execute", script('return await call_tool("scoped", {})'), ["admin"]);
    expect(body).toContain("the secret");
  });
  it("refused when the check itself fails, without its message", async () => {
    const broken = challenge(() => {
      throw new Error("ldap://internal is down");
    });
    const { body } = await post(broken, "execute", script('return await call_tool("scoped", {})'), ["admin"]);
    expect(body).toMatch(/could not be checked/);
    expect(body).not.toMatch(/ldap|the secret/);
  });
  it("refused when the SDK can no longer check", async () => {
    const build = () => {
      const server = admin() as McpServer;
      const resolve = server.resolveScopeChallenge;
      // The HTTP entry asks once, for execute.
      server.resolveScopeChallenge = (context) => {
        Reflect.set(server, "resolveScopeChallenge", undefined);
        return resolve(context);
      };
      return server;
    };
    const { body } = await post(build, "execute", script('return await call_tool("scoped", {})'), ["admin"]);
    expect(body).toMatch(/does not let them be checked/);
    expect(body).not.toContain("the secret");
  });
});
