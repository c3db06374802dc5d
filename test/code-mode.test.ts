import { createRequire } from "node:module";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { codeMode, type Transform, withTransforms } from "../src/code-mode.js";
import { ConfigurationError } from "../src/errors.js";
import type { MetaToolFactory } from "../src/meta-tools/meta-tool.js";
import { executeTool } from "../src/meta-tools/execute.js";
import { searchTool } from "../src/meta-tools/search.js";
import type { CodeModeOptions } from "../src/options.js";
import { inProcessSandbox } from "../src/sandbox/quickjs/in-process.js";
import { fakeSource } from "../src/testing/fake-source.js";
import { connect, textOf } from "./mcp/support.js";

const info = { name: "demo", version: "1" };
const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });
const names = (tools: readonly { name: string }[]) => tools.map(({ name }) => name);
const sandboxProvider = inProcessSandbox();

/** A server with tools `add`, `ping` and `drop`. */
function demoServer() {
  const server = new McpServer(info);
  server.registerTool(
    "add",
    { description: "Adds numbers", inputSchema: { x: z.number(), y: z.number() } },
    async ({ x, y }) => text(String(x + y)),
  );
  server.registerTool("ping", { description: "Answers pong", annotations: { readOnlyHint: true } }, async () =>
    text("pong"),
  );
  server.registerTool(
    "drop",
    { description: "Drops a table", inputSchema: { tenant: z.string(), table: z.string() } },
    async (args) => text(JSON.stringify(args)),
  );
  return server;
}

const connected = async (options: CodeModeOptions = {}) => {
  const server = demoServer();
  const applied = codeMode({ sandboxProvider, ...options }).apply(server);
  return { server, applied, client: await connect(server) };
};
const listed = async (options: CodeModeOptions = {}) => {
  const { client } = await connected(options);
  return (await client.listTools()).tools;
};

describe("withTransforms", () => {
  it("gives back the same object", () => {
    const server = demoServer();
    expect(withTransforms(server)).toBe(server);
  });
  it("changes nothing the second time", () => {
    const server = withTransforms(demoServer());
    const before = Object.getOwnPropertyDescriptors(server);
    expect(Object.getOwnPropertyDescriptors(withTransforms(server))).toEqual(before);
  });
  it("leaves nothing that can be enumerated on the server", () => {
    const server = demoServer();
    const before = Object.keys(server);
    expect(Object.keys(withTransforms(server))).toEqual(before);
  });
  it("does not replace a use() of the server's own", () => {
    const server = Object.assign(demoServer(), { use: () => {} });
    expect(() => withTransforms(server)).toThrow(/has a use\(\) of its own.*apply\(server\)/);
  });
  it("makes use() return the server", () => {
    const server = withTransforms(demoServer());
    expect(server.use(codeMode({ sandboxProvider }))).toBe(server);
  });
  it("makes use() refuse what is no transform", () => {
    expect(() => withTransforms(demoServer()).use({} as Transform)).toThrow(ConfigurationError);
  });
});

describe("codeMode", () => {
  it("lists exactly search and execute", async () => {
    expect(names(await listed())).toEqual(["search", "execute"]);
  });
  it("has a name that traces show", () => {
    expect(codeMode().name).toBe("code-mode");
  });
  it("can be applied to many servers", async () => {
    const transform = codeMode({ sandboxProvider });
    const [one, two] = [demoServer(), new Server(info)];
    transform.apply(one);
    transform.apply(two);
    const clients = await Promise.all([connect(one), connect(two)]);
    const lists = await Promise.all(clients.map(async (client) => names((await client.listTools()).tools)));
    expect(lists).toEqual([
      ["search", "execute"],
      ["search", "execute"],
    ]);
  });
  it("cannot be applied twice to one server", () => {
    const server = withTransforms(demoServer()).use(codeMode({ sandboxProvider }));
    expect(() => server.use(codeMode({ sandboxProvider }))).toThrow(/already applied/);
  });
  it("refuses what is no server when it is applied", () => {
    expect(() => codeMode({ sandboxProvider }).apply({})).toThrow(/McpServer or Server/);
  });
  it("refuses unknown options before there is a server", () => {
    expect(() => codeMode({ searchToolNam: "x" } as never)).toThrow(/searchToolName/);
  });
  it("leaves a server as it was when the meta-tools are wrong", async () => {
    const server = demoServer();
    const options = { sandboxProvider, metaTools: [searchTool({ name: "execute" }), executeTool()] };
    expect(() => codeMode(options).apply(server)).toThrow(/collides/);
    const client = await connect(server);
    expect(names((await client.listTools()).tools)).toEqual(["add", "ping", "drop"]);
  });
  it("disposes: the client gets the tools back, and is told", async () => {
    const { client, applied } = await connected();
    const changed = vi.fn<() => void>();
    client.setNotificationHandler(ToolListChangedNotificationSchema, changed);
    await applied.dispose();
    expect(names((await client.listTools()).tools)).toEqual(["add", "ping", "drop"]);
    expect(changed).toHaveBeenCalledTimes(1);
  });
});

describe("codeMode({ enabled: false })", () => {
  it("answers tools/list byte by byte as without it", async () => {
    const without = await (await connect(demoServer())).listTools();
    const off = await (await connected({ enabled: false })).client.listTools();
    expect(JSON.stringify(off)).toBe(JSON.stringify(without));
  });
  it("declares no capability", async () => {
    const server = new McpServer(info);
    codeMode({ enabled: false }).apply(server);
    expect((await connect(server)).getServerCapabilities()).toEqual({});
  });
  it("can be disposed", async () => {
    await expect(codeMode({ enabled: false }).apply(demoServer()).dispose()).resolves.toBeUndefined();
  });
});

describe("names and descriptions (fastmcp)", () => {
  it("2: with execute alone, lists exactly execute", async () => {
    expect(names(await listed({ metaTools: [executeTool()] }))).toEqual(["execute"]);
  });
  it("4: executeToolName renames execute", async () => {
    expect(names(await listed({ executeToolName: "run_code" }))).toEqual(["search", "run_code"]);
  });
  it("5: executeDescription is the description, verbatim", async () => {
    const tools = await listed({ executeDescription: "Runs  things.\n" });
    expect(tools.find(({ name }) => name === "execute")?.description).toBe("Runs  things.\n");
  });
  it("6: without it, the description says what to do and what is in scope", async () => {
    const tools = await listed();
    const description = tools.find(({ name }) => name === "execute")?.description ?? "";
    for (const word of ["return", "call_tool("]) expect(description).toContain(word);
  });
  it("7: a discovery tool with the name of execute is an error that says collides", () => {
    const options = { metaTools: [searchTool({ name: "execute" }), executeTool()] };
    expect(() => codeMode(options).apply(demoServer())).toThrow(/collides/);
  });
  it("8: two discovery tools with one name are an error that says unique", () => {
    const options = { metaTools: [searchTool(), searchTool(), executeTool()] };
    expect(() => codeMode(options).apply(demoServer())).toThrow(/unique/);
  });
  it("9: searchToolName equal to executeToolName is an error", () => {
    expect(() => codeMode({ searchToolName: "both", executeToolName: "both" })).toThrow(ConfigurationError);
  });
  it("10: a factory of the user's own reads the catalog of each request", async () => {
    const count: MetaToolFactory = (engine) => ({
      tool: { name: "count", inputSchema: { type: "object" } },
      call: async (_, context) => text(names(await engine.listTools(context)).join()),
    });
    const { client, server } = await connected({ metaTools: [count, executeTool()] });
    expect(textOf(await client.callTool({ name: "count" }))).toBe("add,ping,drop");
    server.registerTool("late", {}, async () => text(""));
    expect(textOf(await client.callTool({ name: "count" }))).toBe("add,ping,drop,late");
  });
  it("11: a hidden tool runs when a client calls it by name", async () => {
    const { client } = await connected();
    expect(textOf(await client.callTool({ name: "add", arguments: { x: 1, y: 2 } }))).toBe("3");
  });
  it("12: a tool named search is shadowed, and works from execute", async () => {
    const server = demoServer();
    server.registerTool("search", {}, async () => text("the host's own"));
    codeMode({ sandboxProvider }).apply(server);
    const client = await connect(server);
    const code = 'return await call_tool("search", {})';
    expect((await client.listTools()).tools.filter(({ name }) => name === "search")).toHaveLength(1);
    expect(textOf(await client.callTool({ name: "execute", arguments: { code } }))).toBe("the host's own");
  });
});

describe("directTools", () => {
  it("stay listed, as the host lists them", async () => {
    const [before] = (await (await connect(demoServer())).listTools()).tools.filter(({ name }) => name === "ping");
    const after = (await listed({ directTools: ["ping"] })).find(({ name }) => name === "ping");
    expect(after).toEqual(before);
  });
  it("may be chosen by a function", async () => {
    const tools = await listed({ directTools: ({ annotations }) => annotations?.["readOnlyHint"] === true });
    expect(names(tools)).toEqual(["search", "execute", "ping"]);
  });
  it("67: leave the search results", async () => {
    const { client } = await connected({ directTools: ["ping"] });
    const found = textOf(await client.callTool({ name: "search", arguments: { query: "ping, add" } }));
    expect(found).toContain("add");
    expect(found).not.toContain("ping(");
  });
  it("67: meta-tools carry a title", async () => {
    expect((await listed()).map(({ title }) => typeof title)).toEqual(["string", "string"]);
  });
});

describe("visibility (fastmcp)", () => {
  const run = async (options: CodeModeOptions, code: string, prepare?: (server: McpServer) => void) => {
    const { client, server } = await connected(options);
    prepare?.(server);
    return client.callTool({ name: "execute", arguments: { code } });
  };
  const catching = (name: string) =>
    `try { return await call_tool(${JSON.stringify(name)}, {}) } catch (error) { return error.message }`;

  it("34, 35: a disabled tool is neither found nor known", async () => {
    const { client, server } = await connected();
    server.registerTool("secret_tool", { description: "A secret" }, async () => text("")).disable();
    const found = textOf(await client.callTool({ name: "search", arguments: { query: "secret" } }));
    const called = textOf(await client.callTool({ name: "execute", arguments: { code: catching("secret_tool") } }));
    expect(found).not.toContain("secret_tool(");
    expect(called).toMatch(/^Unknown tool: secret_tool/);
  });
  it("38: a tool that a script unlocks can be called by the same script", async () => {
    const answer = await run(
      {},
      'const before = await call_tool("late", {}).catch((e) => e.message); await call_tool("unlock", {}); return [before, await call_tool("late", {})]',
      (server) => {
        const late = server.registerTool("late", {}, async () => text("now"));
        late.disable();
        server.registerTool("unlock", {}, async () => {
          late.enable();
          return text("done");
        });
      },
    );
    expect(JSON.parse(textOf(answer))).toEqual([expect.stringMatching(/^Unknown tool: late/), "now"]);
  });
  it("41: a tool for an app only is neither found nor callable from a script, and still callable directly", async () => {
    const { client, server } = await connected();
    server.registerTool("widget", { _meta: { ui: { visibility: ["app"] } } }, async () => text("for the app"));
    const called = textOf(await client.callTool({ name: "execute", arguments: { code: catching("widget") } }));
    expect(called).toMatch(/^Unknown tool: widget/);
    expect(textOf(await client.callTool({ name: "widget" }))).toBe("for the app");
  });
  it("include decides what scripts reach", async () => {
    expect(textOf(await run({ include: ({ name }) => name !== "drop" }, catching("drop")))).toMatch(
      /^Unknown tool: drop/,
    );
  });
  it("a direct tool that is not included is not listed", async () => {
    const tools = await listed({ directTools: ["ping", "drop"], include: ({ name }) => name !== "drop" });
    expect(names(tools)).toEqual(["search", "execute", "ping"]);
  });
});

describe("direct calls", () => {
  const drop = { name: "drop", arguments: { tenant: "mine", table: "t" } };
  const deny: CodeModeOptions["policy"] = ({ name, via }) =>
    name === "drop" ? { action: "deny", reason: `no ${via} drops` } : { action: "allow" };

  it("take the policy, once there is one", async () => {
    const { client } = await connected({ policy: deny });
    const answer = await client.callTool(drop);
    expect(answer.isError).toBe(true);
    expect(textOf(answer)).toContain("no direct drops");
  });
  it("of other tools go on", async () => {
    const { client } = await connected({ policy: deny });
    expect(textOf(await client.callTool({ name: "ping" }))).toBe("pong");
  });
  it("reach the tool with the arguments that the policy edited", async () => {
    const policy: CodeModeOptions["policy"] = ({ arguments: args }) => ({
      action: "allow",
      arguments: { ...args, table: "safe" },
    });
    const { client } = await connected({ policy });
    expect(JSON.parse(textOf(await client.callTool(drop)))).toEqual({ tenant: "mine", table: "safe" });
  });
  it("show the policy the tool's annotations, the server and that nobody wrote a script", async () => {
    const policy = vi.fn<NonNullable<CodeModeOptions["policy"]>>(() => ({ action: "allow" }));
    const { client } = await connected({ policy });
    await client.callTool({ name: "ping" });
    expect(policy.mock.calls).toMatchObject([
      [{ name: "ping", server: "demo", via: "direct", annotations: { readOnlyHint: true } }],
    ]);
  });
  it("of tools that the caller does not see are judged by their name alone", async () => {
    const policy = vi.fn<NonNullable<CodeModeOptions["policy"]>>(() => ({ action: "deny" }));
    const { client } = await connected({ policy });
    expect((await client.callTool({ name: "unseen" })).isError).toBe(true);
    expect(policy.mock.calls).toMatchObject([[{ name: "unseen", annotations: undefined }]]);
  });
  it("skip the policy where they are allowed", async () => {
    const { client } = await connected({ policy: deny, directCalls: "allow" });
    expect(JSON.parse(textOf(await client.callTool(drop)))).toEqual(drop.arguments);
  });
  it("of hidden tools are refused where they are, with the way by a script", async () => {
    const { client } = await connected({ directCalls: "refuse", directTools: ["ping"] });
    const answer = await client.callTool(drop);
    expect(answer.isError).toBe(true);
    expect(textOf(answer)).toMatch(/with execute: return await call_tool\("drop"/);
  });
  it("of listed tools go on where hidden ones are refused", async () => {
    const { client } = await connected({ directCalls: "refuse", directTools: ["ping"] });
    expect(textOf(await client.callTool({ name: "ping" }))).toBe("pong");
  });
  it("cannot set a hidden parameter", async () => {
    const argumentsFor: CodeModeOptions["argumentsFor"] = () => ({
      hidden: ["tenant"],
      defaults: { tenant: "host's" },
    });
    const { client } = await connected({ argumentsFor });
    expect(JSON.parse(textOf(await client.callTool(drop)))).toEqual({ tenant: "host's", table: "t" });
  });
  it("are not shown a hidden parameter", async () => {
    const argumentsFor: CodeModeOptions["argumentsFor"] = () => ({
      hidden: ["tenant"],
      defaults: { tenant: "host's" },
    });
    const tools = await listed({ argumentsFor, directTools: ["drop"] });
    const shown = tools.find(({ name }) => name === "drop")?.inputSchema;
    expect(shown).toMatchObject({ required: ["table"] });
    expect(Object.keys(shown?.properties ?? {})).toEqual(["table"]);
  });
});

describe("sources", () => {
  it("are called beside the server's own tools", async () => {
    const other = fakeSource({ far: () => "from afar" });
    const { client } = await connected({ sources: [other] });
    const code = 'return [await call_tool("ping", {}), await call_tool("far", {})]';
    const answer = await client.callTool({ name: "execute", arguments: { code } });
    expect(JSON.parse(textOf(answer))).toEqual(["pong", "from afar"]);
  });
});

describe("mcp-codemode/register", () => {
  it("gives every McpServer a use()", async () => {
    await import("../src/register.js");
    const server = demoServer();
    expect((server as unknown as { use(t: Transform): unknown }).use(codeMode({ sandboxProvider }))).toBe(server);
  });
  it("reaches the class of the SDK's CJS build, if that is loaded", async () => {
    const { McpServer: Cjs } = createRequire(import.meta.url)("@modelcontextprotocol/sdk/server/mcp.js") as {
      McpServer: typeof McpServer;
    };
    vi.resetModules();
    await import("../src/register.js");
    expect(Cjs).not.toBe(McpServer);
    expect("use" in Cjs.prototype).toBe(true);
  });
});
