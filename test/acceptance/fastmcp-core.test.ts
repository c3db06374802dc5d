import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { Client as SdkClient } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { z } from "zod";
import {
  codeMode,
  createCodeMode,
  executeTool,
  functionSource,
  jsonSerializer,
  markdownSerializer,
  quickJsSandbox,
  searchTool,
  withTransforms,
  type CodeModeOptions,
  type MetaToolFactory,
  type Tool,
} from "../../src/index.js";

/** The acceptance list of FastMCP's code mode, by its numbers, through a real server and client and the default sandbox. */

const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });
const result = (value: unknown) => ({ ...text(JSON.stringify(value)), structuredContent: { result: value } });
const number = { result: z.number() };
const xy = { x: z.number().int(), y: z.number().int() };

/** The example tools: `square` and `add` tagged "math", `greet` tagged "text", and one without tags. */
function exampleServer(): McpServer {
  const server = new McpServer({ name: "demo", version: "1.0.0" });
  const tagged = (...tags: string[]) => ({ _meta: { fastmcp: { tags } } });
  server.registerTool(
    "square",
    { description: "Squares a number.", inputSchema: { x: z.number().int() }, outputSchema: number, ...tagged("math") },
    async ({ x }) => result(x * x),
  );
  server.registerTool(
    "add",
    { description: "Adds two numbers.", inputSchema: xy, outputSchema: number, ...tagged("math") },
    async ({ x, y }) => result(x + y),
  );
  server.registerTool(
    "greet",
    { description: "Greets somebody.", inputSchema: { name: z.string() }, ...tagged("text") },
    ({ name }) => text(`Hello, ${name}!`),
  );
  server.registerTool("ping", { description: "Answers at once." }, async () => text("pong"));
  server.registerTool("boom", { description: "Always fails." }, async () => {
    throw new Error("the fuse is wet");
  });
  return server;
}

async function connect(server: McpServer, sessionId?: string, authInfo?: object): Promise<Client> {
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
  if (sessionId !== undefined) serverSide.sessionId = sessionId;
  await server.connect(serverSide);
  const deliver = serverSide.onmessage;
  if (authInfo !== undefined) {
    serverSide.onmessage = (message, extra) => deliver?.(message, { ...extra, authInfo: authInfo as never });
  }
  const client = new SdkClient({ name: "c", version: "1" });
  await client.connect(clientSide);
  onTestFinished(() => client.close());
  return client;
}

/** A client of the example server, after something was done to it. */
async function served(options: CodeModeOptions = {}, prepare: (server: McpServer) => void = () => {}): Promise<Client> {
  const server = exampleServer();
  prepare(server);
  withTransforms(server).use(codeMode(options));
  return connect(server);
}

interface Reply {
  content: { type: string; text?: string; data?: string; mimeType?: string }[];
  isError?: boolean;
  structuredContent?: unknown;
  _meta?: Record<string, unknown>;
}

const call = async (client: Client, name: string, args: Record<string, unknown>): Promise<Reply> =>
  (await client.callTool({ name, arguments: args })) as unknown as Reply;
const execute = (client: Client, code: string): Promise<Reply> => call(client, "execute", { code });
const textOf = ({ content }: Reply): string => content.map((block) => block.text ?? "").join("\n");
const run = async (client: Client, code: string): Promise<string> => textOf(await execute(client, code));
const search = async (client: Client, args: Record<string, unknown>): Promise<string> =>
  textOf(await call(client, "search", args));
const listed = async (client: Client): Promise<string[]> => (await client.listTools()).tools.map(({ name }) => name);
/** The message of what a call of a tool throws inside a script. */
const caught = (client: Client, name: string, args = "{}"): Promise<string> =>
  run(client, `try { return await call_tool("${name}", ${args}) } catch (error) { return error.message }`);

describe("fastmcp, core", () => {
  it("2: with only the execute tool exactly that is listed", async () => {
    expect(await listed(await served({ metaTools: [executeTool()] }))).toEqual(["execute"]);
  });
  it("4: executeToolName renames the execute tool", async () => {
    const names = await listed(await served({ executeToolName: "run_code" }));
    expect(names).toContain("run_code");
    expect(names).not.toContain("execute");
  });
  it("5: executeDescription is the description of execute, verbatim", async () => {
    const executeDescription = "  Run *multi-step* workflows.\n\nWith `call_tool`. ";
    const { tools } = await (await served({ executeDescription })).listTools();
    expect(tools.find(({ name }) => name === "execute")?.description).toBe(executeDescription);
  });
  it("6: the built-in description tells of a single block, return and what is in scope", async () => {
    const { tools } = await (await served()).listTools();
    const description = tools.find(({ name }) => name === "execute")?.description ?? "";
    for (const said of ["single block", "return", "call_tool(name, params)", "tools.", "console.log"]) {
      expect(description).toContain(said);
    }
  });
  it("7: a discovery tool with the name of execute collides", () => {
    const apply = () =>
      codeMode({ metaTools: [searchTool({ name: "execute" }), executeTool()] }).apply(exampleServer());
    expect(apply).toThrow(/collides/);
  });
  it("8: names of discovery tools are unique", () => {
    const metaTools = [searchTool({ name: "find" }), searchTool({ name: "find" }), executeTool()];
    expect(() => codeMode({ metaTools }).apply(exampleServer())).toThrow(/unique/);
  });
  it("9: searchToolName and executeToolName differ", () => {
    expect(() => codeMode({ searchToolName: "same", executeToolName: "same" })).toThrow(/same/);
  });
  it("10: a custom factory is listed beside execute and reads the catalog of each request", async () => {
    const countTools: MetaToolFactory = (engine) => ({
      tool: { name: "count_tools", inputSchema: { type: "object" } },
      call: async (_, context) => text((await engine.listTools(context)).map(({ name }) => name).join()),
    });
    const server = exampleServer();
    codeMode({ metaTools: [countTools, executeTool()] }).apply(server);
    const client = await connect(server);
    expect(await listed(client)).toEqual(["count_tools", "execute"]);
    expect(textOf(await call(client, "count_tools", {}))).toBe("square,add,greet,ping,boom");
    server.registerTool("late", {}, async () => text("late"));
    expect(textOf(await call(client, "count_tools", {}))).toBe("square,add,greet,ping,boom,late");
  });
  it("11: hidden tools can be called directly by name, and so can the meta-tools", async () => {
    const client = await served();
    expect(await call(client, "add", { x: 2, y: 3 })).toMatchObject({ structuredContent: { result: 5 } });
    expect((await call(client, "search", { query: "add" })).isError).toBeFalsy();
    expect(await run(client, "return 1")).toBe("1");
  });
  it("12: a tool of the user named search is shadowed, and the others still work", async () => {
    const client = await served({}, (server) => {
      server.registerTool("search", { description: "The user's own" }, async () => text("own search"));
    });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["search", "execute"]);
    expect(tools[0]?.description).not.toBe("The user's own");
    expect(await run(client, `return await call_tool("add", { x: 1, y: 2 })`)).toBe('{"result":3}');
    expect(await run(client, `return await call_tool("search", {})`)).toBe("own search");
  });
});

describe("fastmcp, visibility, authorisation, middleware", () => {
  const withDisabled = (server: McpServer) => server.registerTool("hidden", {}, async () => text("secret")).disable();

  it("34: search does not show a disabled tool", async () => {
    expect(await search(await served({}, withDisabled), { limit: 50 })).not.toContain("hidden");
  });
  it("35: call_tool says of a disabled tool that it is unknown", async () => {
    expect(await caught(await served({}, withDisabled), "hidden")).toMatch(/^Unknown tool: hidden/);
  });

  /** `secret` is listed for callers with the scope admin, as a user's own list handler decides. */
  function authorisedServer(): McpServer {
    const server = exampleServer();
    server.registerTool("secret", {}, async () => text("classified"));
    type Handlers = Map<string, (...args: unknown[]) => Promise<{ tools: Tool[] }>>;
    const own = (server.server as unknown as { _requestHandlers: Handlers })._requestHandlers.get("tools/list");
    if (own === undefined) throw new Error("the SDK has no list");
    server.server.setRequestHandler(ListToolsRequestSchema, async (request, extra) => {
      const { tools } = await own(request, extra);
      const isAdmin = extra.authInfo?.scopes.includes("admin") === true;
      return { tools: tools.filter(({ name }) => isAdmin || name !== "secret") } as never;
    });
    codeMode().apply(server);
    return server;
  }
  const as = (scopes: string[]) => ({ token: `t-${scopes.join()}`, clientId: "c", scopes });

  it("36: search does not show a tool that the caller may not use", async () => {
    const guest = await connect(authorisedServer(), "s", as([]));
    expect(await search(guest, { limit: 50 })).not.toContain("secret");
    expect(await search(await connect(authorisedServer(), "s", as(["admin"])), { limit: 50 })).toContain("secret");
  });
  it("37: call_tool says of it what it says of an invented name", async () => {
    const guest = await connect(authorisedServer(), "s", as([]));
    const [real, invented] = [await caught(guest, "secret"), await caught(guest, "invent")];
    expect(real).toMatch(/^Unknown tool: secret/);
    expect(real.replaceAll("secret", "NAME")).toBe(invented.replaceAll("invent", "NAME"));
    expect(await caught(await connect(authorisedServer(), "s", as(["admin"])), "secret")).toBe("classified");
  });
  it("38: a script that unlocks a tool calls it in the next line", async () => {
    const client = await served({}, (server) => {
      const vault = server.registerTool("vault", {}, async () => text("gold"));
      vault.disable();
      server.registerTool("unlock", {}, async () => {
        vault.enable();
        return text("unlocked");
      });
    });
    const code = `
      const before = await call_tool("vault", {}).catch((error) => error.message.slice(0, 19));
      await call_tool("unlock", {});
      return [before, await call_tool("vault", {})];`;
    expect(await run(client, code)).toBe('["Unknown tool: vault","gold"]');
  });
  it("39: an override of tools/list that removes a tool removes it from search", async () => {
    const server = exampleServer();
    codeMode().apply(server);
    const kept = { name: "add", inputSchema: { type: "object" as const } };
    server.server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: [kept] }));
    const found = await search(await connect(server), { limit: 50 });
    expect(found).toContain("add");
    expect(found).not.toContain("greet");
  });
  it("40: a tool disabled for one session is gone there and stays for others", async () => {
    const disabledIn = new Set<string>();
    const build = () => {
      const server = exampleServer();
      server.server.setRequestHandler(ListToolsRequestSchema, async (_, { sessionId = "" }) => ({
        tools: disabledIn.has(sessionId) ? [] : [{ name: "add", inputSchema: { type: "object" as const } }],
      }));
      codeMode().apply(server);
      return server;
    };
    const [one, other] = [await connect(build(), "one"), await connect(build(), "other")];
    expect(await search(one, {})).toContain("add");
    disabledIn.add("one");
    expect(await search(one, {})).not.toContain("add");
    expect(await search(other, {})).toContain("add");
  });
  it("41: an app-only tool is neither found nor callable, and stays the app's", async () => {
    const withWidget = (server: McpServer): void => {
      const _meta = { ui: { visibility: ["app"] } };
      server.registerTool("widget", { description: "For the app", _meta }, async () => text("from the widget"));
    };
    const client = await served({}, withWidget);
    expect(await search(client, { limit: 50 })).not.toContain("widget");
    expect(await caught(client, "widget")).toMatch(/^Unknown tool: widget/);
    expect(textOf(await call(client, "widget", {}))).toBe("from the widget");
    expect(await listed(await served({ enabled: false }, withWidget))).toContain("widget");
  });
  it("42: of two versions, the newest app-only, nothing is found or called", async () => {
    const client = await served({}, (server) => {
      const tool = server.registerTool("chart", { description: "Version 1" }, async () => text("chart"));
      // The second version takes the place of the first, as registries by name and version do.
      tool.update({ _meta: { ui: { visibility: ["app"] }, version: 2 } } as never);
    });
    expect(await search(client, { limit: 50 })).not.toContain("chart");
    expect(await caught(client, "chart")).toMatch(/^Unknown tool: chart/);
  });
});

describe("fastmcp, execute", () => {
  it("43: the result of one call", async () => {
    expect(await run(await served(), `return await call_tool("add", { x: 2, y: 3 })`)).toBe('{"result":5}');
  });
  it("44: a chain", async () => {
    const code = `
      const sum = await call_tool("add", { x: 1, y: 2 });
      return await call_tool("add", { x: sum.result, y: 4 });`;
    expect(await run(await served(), code)).toBe('{"result":7}');
  });
  it("45: an image tells its type and comes out as the same image", async () => {
    const image = { type: "image" as const, data: "iVBORw0KGgo=", mimeType: "image/png" };
    const client = await served({}, (server) => {
      server.registerTool("photo", {}, async () => ({ content: [image] }));
    });
    const told = await run(client, `const { type, mimeType } = await call_tool("photo", {}); return [type, mimeType]`);
    expect(told).toBe('["image","image/png"]');
    expect((await execute(client, `return await call_tool("photo", {})`)).content).toEqual([image]);
  });
  it("46: a script that throws is a failure with its message", async () => {
    const reply = await execute(await served(), `throw new Error("row 17 has no id")`);
    expect(reply.isError).toBe(true);
    expect(textOf(reply)).toContain("row 17 has no id");
  });
  it("47: synchronous and asynchronous handlers, and strings that round-trip", async () => {
    const client = await served();
    const name = 'Ädа 👋 "quoted" \\u0000 ${x}';
    const reply = await run(client, `return await call_tool("greet", { name: ${JSON.stringify(name)} })`);
    expect(reply).toBe(`Hello, ${name}!`);
    expect(await run(client, `return await call_tool("ping", {})`)).toBe("pong");
  });
  it("48: an unknown tool can be caught, and results before it are kept", async () => {
    const code = `
      const sum = await call_tool("add", { x: 1, y: 1 });
      try { await call_tool("no_such_tool", {}) } catch (error) { return [sum.result, error.message] }`;
    const [sum, message] = JSON.parse(await run(await served(), code)) as [number, string];
    expect(sum).toBe(2);
    expect(message.startsWith("Unknown tool: no_such_tool")).toBe(true);
  });
  it("49: a tool's error that is caught carries its text", async () => {
    expect(await caught(await served(), "boom")).toBe("call_tool('boom') failed: the fuse is wet");
  });
  it("50: a tool's error that is not caught", async () => {
    const reply = await execute(await served(), `await call_tool("boom", {})`);
    expect(reply.isError).toBe(true);
    expect(textOf(reply)).toContain("the fuse is wet");
  });
  it("51: wrong arguments name the tool and list its parameters", async () => {
    const client = await served({}, (server) => {
      server.registerTool("send", { inputSchema: { to: z.string(), note: z.string().optional() } }, async () =>
        text(""),
      );
    });
    const reply = await execute(client, `await call_tool("send", { to: 5 })`);
    expect(reply.isError).toBe(true);
    expect(textOf(reply)).toMatch(/call_tool\('send'\) failed[\s\S]*to\* \(string\), note \(string\)/);
  });
  it("52: a call that is not awaited gives no value, ends before the reply, and is told of", async () => {
    const rejections = vi.fn<() => void>();
    process.on("unhandledRejection", rejections);
    onTestFinished(() => void process.off("unhandledRejection", rejections));
    let ended = false;
    const client = await served({ structuredOutput: "value" }, (server) => {
      server.registerTool("slow", {}, async () => {
        await new Promise((resolve) => setTimeout(resolve, 40));
        ended = true;
        throw new Error("too late");
      });
    });
    const reply = await execute(client, `call_tool("slow", {}); undefined`);
    expect(ended).toBe(true);
    expect(reply.structuredContent).toBeUndefined();
    expect(textOf(reply)).toMatch(/slow.* was not awaited/);
    expect(textOf(reply)).toMatch(/[Nn]othing was returned/);
    await new Promise((resolve) => setImmediate(resolve));
    expect(rejections).not.toHaveBeenCalled();
  });
  it("53: at most 50 calls by default, as many as said, or any number", async () => {
    const loop = (count: number, name = "ping") =>
      `let done = 0; for (let i = 0; i < ${count}; i++) { await call_tool("${name}", {}); done++ } return done`;
    expect(await run(await served(), loop(50))).toBe("50");
    expect(await run(await served(), loop(51))).toContain("at most 50");
    const three = await served({ limits: { maxToolCalls: 3 } });
    expect(await run(three, loop(3))).toBe("3");
    expect(await run(three, loop(5))).toContain("at most 3");
    expect(await run(await served({ limits: { maxToolCalls: null } }), loop(60))).toBe("60");
    const unknown = `
      const heard = [];
      for (let i = 0; i < 4; i++) await call_tool("nope", {}).catch((error) => heard.push(error.message));
      return heard.map((message) => message.slice(0, 13)).join()`;
    expect(await run(three, unknown)).toMatch(/^(Unknown tool:?,?\s?){3}A script may $/);
  });
  it("54: two executes at a time have counters of their own", async () => {
    const client = await served({ limits: { maxToolCalls: 3 } });
    const code = `for (let i = 0; i < 3; i++) await call_tool("ping", {}); return "done"`;
    expect(await Promise.all([run(client, code), run(client, code)])).toEqual(["done", "done"]);
  });
});

describe("fastmcp, sandbox provider", () => {
  const busy = (ms: number) => `const end = Date.now() + ${ms}; while (Date.now() < end); return "awake"`;

  it("55: a busy loop ends at its time limit", async () => {
    const reply = await execute(await served({ limits: { timeoutMs: 100 } }), "while (true);");
    expect(reply.isError).toBe(true);
    expect(textOf(reply)).toMatch(/time limit exceeded/i);
  });
  it("56: simple code runs within the default limits", async () => {
    expect(await run(await served(), "return 1 + 2")).toBe("3");
  });
  it("57: null removes a limit, and only that one", async () => {
    const sandboxProvider = quickJsSandbox({ limits: { timeoutMs: 60, maxResultBytes: 40 }, maxWorkers: 1 });
    onTestFinished(() => sandboxProvider.close?.());
    const client = await served({ sandboxProvider, limits: { timeoutMs: null } });
    expect(await run(client, busy(150))).toBe("awake");
    const long = await run(client, `return "x".repeat(400)`);
    expect(long).not.toContain("x".repeat(400));
  });
  it("58: explicit limits replace those they name, and an unknown one is an error", async () => {
    const client = await served({ limits: { timeoutMs: 60 } });
    expect(await run(client, busy(5_000))).toMatch(/time limit exceeded/i);
    expect(() => codeMode({ limits: { timeoutMilliseconds: 60 } as never })).toThrow(/timeoutMilliseconds.*timeoutMs/);
    expect(() => quickJsSandbox({ limits: { maxToolCalls: 3 } as never })).toThrow(/maxToolCalls/);
  });
  it("59: limits are nobody else's", async () => {
    const given = { timeoutMs: 5_000 };
    const [first, second] = [quickJsSandbox({ limits: given }), quickJsSandbox()];
    onTestFinished(() => first.close?.());
    const engine = createCodeMode(functionSource({}), { limits: given, sandboxProvider: first });
    given.timeoutMs = 1;
    expect(() => Object.assign(engine.settings.limits, { timeoutMs: 1 })).toThrow(TypeError);
    expect((await engine.execute({ code: busy(20) })).status).toBe("completed");
    expect((await second.run(busy(20), {})).status).toBe("completed");
  });
  it("60: a sandbox that cannot start says at once what to install and what to pass instead", () => {
    const sandboxProvider = quickJsSandbox({ workerUrl: new URL("file:///nowhere/worker.js") });
    const apply = () => codeMode({ sandboxProvider }).apply(exampleServer());
    expect(apply).toThrow(/npm install mcp-codemode/);
    expect(apply).toThrow(/another `sandboxProvider`/);
  });
  it("61: cancelling the request ends the run", async () => {
    const sandboxProvider = quickJsSandbox({ maxWorkers: 1 });
    onTestFinished(() => sandboxProvider.close?.());
    const started = { tell: () => {} };
    const running = new Promise<void>((resolve) => (started.tell = resolve));
    const client = await served({ sandboxProvider, limits: { timeoutMs: null, cpuMs: null } }, (server) => {
      server.registerTool("started", {}, async () => {
        started.tell();
        return text("");
      });
    });
    const controller = new AbortController();
    const args = { name: "execute", arguments: { code: `await call_tool("started", {}); while (true);` } };
    const endless = client.callTool(args, undefined, { signal: controller.signal });
    await running;
    controller.abort("enough");
    await expect(endless).rejects.toThrow(/enough/);
    // The only worker is free again.
    expect(await run(client, "return 1")).toBe("1");
  });
});

describe("fastmcp, options of the first generation", () => {
  it("62: defaultArguments fill what a tool accepts and a script left out", async () => {
    const client = await served({ defaultArguments: { workspace_id: "ws-123" } }, (server) => {
      const workspace_id = z.union([z.string(), z.number(), z.boolean(), z.null()]).optional();
      server.registerTool("scoped", { inputSchema: { workspace_id } }, async (args) => text(JSON.stringify(args)));
      server.registerTool("strict", { inputSchema: z.strictObject({ a: z.number() }) }, async (args) =>
        text(JSON.stringify(args)),
      );
    });
    const of = (args: string) => run(client, `return await call_tool("scoped", ${args})`);
    expect(await of("{}")).toBe('{"workspace_id":"ws-123"}');
    for (const own of ['"mine"', "null", "0", "false", '""']) {
      expect(await of(`{ workspace_id: ${own} }`)).toBe(`{"workspace_id":${own}}`);
    }
    expect(await run(client, `return await call_tool("strict", { a: 1 })`)).toBe('{"a":1}');
    expect(await run(client, `return await call_tool("ping", {})`)).toBe("pong");
  });
  it("63: the output of a custom searchResultSerializer is the reply, verbatim", async () => {
    const lines = (tools: readonly Tool[]) =>
      tools.map(({ name, description }) => `${name}: ${description}`).join("\n");
    const expected = "add: Adds two numbers.";
    const query = { query: "add" };
    const heading = /^(\d+ of \d+ tools:\n\n)?/;
    const found = async (searchResultSerializer: NonNullable<CodeModeOptions["searchResultSerializer"]>) =>
      (await search(await served({ searchResultSerializer }), query)).replace(heading, "");
    expect(await found((tools) => lines(tools))).toBe(expected);
    expect(await found(async (tools) => lines(tools))).toBe(expected);
    const objects = await found((tools) => tools.map(({ name }) => ({ name })));
    expect(JSON.parse(objects)).toEqual([{ name: "add" }]);
  });
  it("63: the markdown serializer renders headings, the JSON serializer definitions as in tools/list", async () => {
    expect(await search(await served({ searchResultSerializer: markdownSerializer() }), { query: "add" })).toContain(
      "### add",
    );
    const json = await search(await served({ searchResultSerializer: jsonSerializer() }), { query: "add" });
    const plain = (await (await served({ enabled: false })).listTools()).tools.find(({ name }) => name === "add");
    const [definition] = JSON.parse(json) as Tool[];
    expect(definition?.inputSchema).toEqual(plain?.inputSchema);
    expect(definition?.outputSchema).toEqual(plain?.outputSchema);
  });
});
