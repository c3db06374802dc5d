import { AsyncLocalStorage } from "node:async_hooks";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { ConfigurationError } from "../../src/errors.js";
import { attach } from "../../src/mcp/attach.js";
import { connect, nobody, plainTool, take } from "./support.js";

const info = { name: "host", version: "1" };
const empty = async () => ({ content: [] });
const namesOf = (tools: readonly { name: string }[]) => tools.map(({ name }) => name);

describe("attach recognises servers", () => {
  it.each([
    ["null", null],
    ["a string", "server"],
    ["a plain object", {}],
    ["a server without a table of handlers", Object.assign(new Server(info), { _requestHandlers: {} })],
  ])("refuses %s and says what it expects", (_, value) => {
    const attaching = () => attach(value as never);
    expect(attaching).toThrow(ConfigurationError);
    expect(attaching).toThrow(/McpServer or Server of @modelcontextprotocol\/sdk/);
  });
  it("points someone who passes a client to clientSource", () => {
    expect(() => attach(new Client(info))).toThrow(/clientSource/);
  });
  it("refuses a server that is connected and has no tools", async () => {
    const server = new McpServer(info);
    await connect(server);
    expect(() => attach(server)).toThrow(/before connect/);
  });
  it("takes a server that is connected and has tools, and tells the client", async () => {
    const server = new McpServer(info, { capabilities: { tools: {} } });
    const client = await connect(server);
    const changed = new Promise<void>((resolve) => {
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve());
    });
    take(server);
    await changed;
    expect(namesOf((await client.listTools()).tools)).toEqual(["search", "execute"]);
  });
  it("knows the name of the server", () => {
    expect(attach(new McpServer(info)).source.name).toBe("host");
  });
  it("keeps `listChanged: false` of a low-level server", async () => {
    const server = new Server(info, { capabilities: { tools: { listChanged: false } } });
    take(server);
    const client = await connect(server);
    expect(client.getServerCapabilities()?.tools).toEqual({ listChanged: false });
  });
});

describe("attach needs no tools to begin with", () => {
  it("lets tools be registered after connect, which the SDK alone refuses", async () => {
    const server = new McpServer(info);
    const { source } = take(server);
    await connect(server);
    server.registerTool("late", {}, empty);
    expect(namesOf(await source.listTools(nobody()))).toEqual(["late"]);
  });
  it("answers a call of an unknown tool as the SDK does", async () => {
    const server = new Server(info);
    take(server);
    const client = await connect(server);
    await expect(client.callTool({ name: "nope" })).rejects.toMatchObject({ code: -32602 });
  });
  it("uses a server's handler for everything", async () => {
    const server = new Server(info, { capabilities: { tools: {} } });
    server.fallbackRequestHandler = async ({ method }) =>
      method === "tools/list" ? { tools: [plainTool("any")] } : { content: [] };
    expect(namesOf(await take(server).source.listTools(nobody()))).toEqual(["any"]);
  });
});

describe("a list of the host that does not end", () => {
  const serverWith = (page: (cursor: string | undefined) => object) => {
    const server = new Server(info, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, async ({ params }) => page(params?.cursor) as never);
    return take(server).source;
  };
  it("ends when a cursor comes back", async () => {
    const source = serverWith((cursor) => ({ tools: [plainTool(cursor ?? "start")], nextCursor: "again" }));
    expect(namesOf(await source.listTools(nobody()))).toEqual(["start", "again"]);
  });
  it("is an error after a thousand pages", async () => {
    const source = serverWith((cursor) => ({ tools: [], nextCursor: String(Number(cursor ?? 0) + 1) }));
    await expect(source.listTools(nobody())).rejects.toThrow(/1000 pages/);
  });
  it("is an error when it is no list", async () => {
    await expect(serverWith(() => ({ tools: "none" })).listTools(nobody())).rejects.toThrow(/without a list of tools/);
  });
  it("passes the host's own error on", async () => {
    const source = serverWith(() => {
      throw new Error("database down");
    });
    await expect(source.listTools(nobody())).rejects.toThrow("database down");
  });
});

/** Ways in which users put a list handler of their own in place of the SDK's. */
describe("a list handler of the user's is asked every time", () => {
  const caller = new AsyncLocalStorage<string>();
  const withTools = () => {
    const server = new McpServer(info);
    server.registerTool("public", {}, empty);
    server.registerTool("secret", {}, empty);
    return server;
  };
  /** Only `admin` sees `secret`; the caller is not in the request, so a cached list would show it to everybody. */
  const filterByCaller = (server: McpServer): void => {
    const handlers = (server.server as unknown as { _requestHandlers: Map<string, (...args: unknown[]) => unknown> })
      ._requestHandlers;
    const own = handlers.get("tools/list");
    server.server.setRequestHandler(ListToolsRequestSchema, (...args) => {
      if (caller.getStore() === "admin") return own?.(...args) as never;
      return { tools: [plainTool("public")] };
    });
  };
  const adminThenGuest = async ({ source }: ReturnType<typeof take>) => [
    namesOf(await caller.run("admin", () => source.listTools(nobody()))),
    namesOf(await caller.run("guest", () => source.listTools(nobody()))),
  ];
  const separate = [["public", "secret"], ["public"]];

  it("set before code mode", async () => {
    const server = withTools();
    filterByCaller(server);
    expect(await adminThenGuest(take(server))).toEqual(separate);
  });
  it("set after code mode", async () => {
    const server = withTools();
    const adapter = take(server);
    filterByCaller(server);
    expect(await adminThenGuest(adapter)).toEqual(separate);
  });
  it("set after the SDK's list has been kept", async () => {
    const server = withTools();
    const adapter = take(server);
    await adapter.source.listTools(nobody());
    await adapter.source.listTools(nobody());
    filterByCaller(server);
    expect(await adminThenGuest(adapter)).toEqual(separate);
  });
  it("put into the table of handlers directly", async () => {
    const server = withTools();
    const handlers = (server.server as unknown as { _requestHandlers: Map<string, (...args: unknown[]) => unknown> })
      ._requestHandlers;
    const own = handlers.get("tools/list");
    handlers.set("tools/list", async (...args) => {
      const all = (await own?.(...args)) as { tools: { name: string }[] };
      return caller.getStore() === "admin" ? all : { tools: all.tools.filter(({ name }) => name !== "secret") };
    });
    expect(await adminThenGuest(take(server))).toEqual(separate);
  });
  it("lets clients call through a handler that wraps the one found after code mode", async () => {
    const server = withTools();
    take(server);
    const handlers = (server.server as unknown as { _requestHandlers: Map<string, (...args: unknown[]) => unknown> })
      ._requestHandlers;
    const found = handlers.get("tools/call");
    const calls = vi.fn<(name: string) => void>();
    server.server.setRequestHandler(CallToolRequestSchema, (request, extra) => {
      calls(request.params.name);
      return found?.(request, { ...extra }) as never;
    });
    const client = await connect(server);
    expect(await client.callTool({ name: "public", arguments: {} })).toEqual({ content: [] });
    expect(calls.mock.calls).toEqual([["public"]]);
  });
  it("set by a class that extends the SDK's", async () => {
    class Filtering extends McpServer {
      // Private in the SDK's types only.
      constructor() {
        super(info);
        const self = this as unknown as { setToolRequestHandlers: () => void };
        const own = self.setToolRequestHandlers.bind(this);
        let isDone = false;
        self.setToolRequestHandlers = () => {
          own();
          if (!isDone) filterByCaller(this);
          isDone = true;
        };
      }
    }
    const server = new Filtering();
    server.registerTool("public", {}, empty);
    server.registerTool("secret", {}, empty);
    expect(await adminThenGuest(take(server))).toEqual(separate);
  });
  it("puts everything back after looking whose the handler is", () => {
    const server = withTools();
    const inside = server as unknown as Record<string, unknown>;
    const handlers = (server.server as unknown as { _requestHandlers: Map<string, unknown> })._requestHandlers;
    const state = () => ({
      list: handlers.get("tools/list"),
      call: handlers.get("tools/call"),
      tools: Object.getOwnPropertyDescriptor(inside, "_registeredTools"),
      done: inside["_toolHandlersInitialized"],
      register: Object.hasOwn(server.server, "registerCapabilities"),
      prepare: Object.getOwnPropertyDescriptor(Error, "prepareStackTrace"),
      limit: Error.stackTraceLimit,
    });
    const before = state();
    attach(server);
    expect(state()).toEqual(before);
  });
});

describe("a host tool with the name of a meta-tool", () => {
  const warningsAbout = (server: string) => {
    const heard: (Error & { code?: string })[] = [];
    const listener = (warning: Error): void => {
      if (warning.message.includes(server)) heard.push(warning);
    };
    process.on("warning", listener);
    onTestFinished(() => void process.off("warning", listener));
    return heard;
  };
  const shadowed = (name: string) => {
    const server = new McpServer({ name, version: "1" });
    server.registerTool("search", {}, async () => ({ content: [{ type: "text", text: "the host's own" }] }));
    return { server, adapter: take(server, { direct: ["search"] }) };
  };
  it("is shadowed for clients", async () => {
    const client = await connect(shadowed("shadow-1").server);
    expect((await client.listTools()).tools.map(({ description }) => description)).toEqual([
      "The meta-tool search",
      "The meta-tool execute",
    ]);
  });
  it("stays reachable through the source", async () => {
    const { adapter } = shadowed("shadow-2");
    expect(await adapter.source.callTool("search", {}, nobody())).toMatchObject({
      content: [{ text: "the host's own" }],
    });
  });
  it("brings one warning that names the option", async () => {
    const heard = warningsAbout("shadow-3");
    const client = await connect(shadowed("shadow-3").server);
    const another = await connect(shadowed("shadow-3").server);
    await client.listTools();
    await client.listTools();
    await another.listTools();
    await vi.waitFor(() => expect(heard).toHaveLength(1));
    expect(heard[0]?.message).toMatch(/"search" of server "shadow-3".*searchToolName/);
  });
});

describe("dispose", () => {
  const wrapped = () => {
    const server = new McpServer(info);
    server.registerTool("own", {}, empty);
    return { server, adapter: take(server) };
  };
  it("gives the client its list back", async () => {
    const { server, adapter } = wrapped();
    const client = await connect(server);
    await adapter.dispose();
    expect(namesOf((await client.listTools()).tools)).toEqual(["own"]);
  });
  it("tells a connected client", async () => {
    const { server, adapter } = wrapped();
    const client = await connect(server);
    const changed = vi.fn<() => void>();
    client.setNotificationHandler(ToolListChangedNotificationSchema, changed);
    await adapter.dispose();
    await vi.waitFor(() => expect(changed).toHaveBeenCalledTimes(1));
  });
  it("lets code mode be applied again", async () => {
    const { server, adapter } = wrapped();
    await adapter.dispose();
    expect(() => attach(server)).not.toThrow();
  });
  it("leaves nothing of ours on the instances", async () => {
    const { server, adapter } = wrapped();
    await adapter.dispose();
    const map = (server.server as unknown as { _requestHandlers: object })._requestHandlers;
    const own = [map, server, server.server].flatMap((object) =>
      ["get", "notification", "sendToolListChanged"].filter((key) => Object.hasOwn(object, key)),
    );
    expect(own).toEqual([]);
  });
  it("passes through when someone else has replaced the same methods since", async () => {
    const { server, adapter } = wrapped();
    const map = (server.server as unknown as { _requestHandlers: Map<string, unknown> })._requestHandlers;
    const ours = map.get.bind(map);
    const theirs = vi.fn<(method: string) => unknown>((method) => ours(method));
    map.get = theirs;
    await adapter.dispose();
    const client = await connect(server);
    expect(namesOf((await client.listTools()).tools)).toEqual(["own"]);
    expect(theirs).toHaveBeenCalled();
  });
  it("may be done twice", async () => {
    const { adapter } = wrapped();
    await adapter.dispose();
    await expect(adapter.dispose()).resolves.toBeUndefined();
  });
});

describe("a list that depends on the caller and has direct tools", () => {
  it("is compared from the view of the caller who listed last", async () => {
    const server = new Server(info, { capabilities: { tools: { listChanged: true } } });
    const tools = [plainTool("kept"), plainTool("other")];
    server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools }));
    server.setRequestHandler(CallToolRequestSchema, empty);
    take(server, { direct: ["kept"] });
    const client = await connect(server);
    const changed = vi.fn<() => void>();
    client.setNotificationHandler(ToolListChangedNotificationSchema, changed);
    await client.listTools();
    tools.push(plainTool("hidden"));
    await server.sendToolListChanged();
    await client.listTools();
    expect(changed).not.toHaveBeenCalled();
    tools.shift();
    await server.sendToolListChanged();
    await vi.waitFor(() => expect(changed).toHaveBeenCalledTimes(1));
  });
});
