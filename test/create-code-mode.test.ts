import { describe, expect, it } from "vitest";
import { policies } from "../src/calls/policies.js";
import type { CallInfo } from "../src/calls/policy.js";
import { createCodeMode } from "../src/create-code-mode.js";
import { executeTool } from "../src/meta-tools/execute.js";
import type { MetaToolFactory } from "../src/meta-tools/meta-tool.js";
import { searchTool } from "../src/meta-tools/search.js";
import type { CodeModeOptions } from "../src/options.js";
import { fakeSource } from "../src/testing.js";
import { callMeta, engineOf, textOf } from "./meta-tools/engine.js";

const demo = () => fakeSource({ add: ({ a, b }) => ({ result: Number(a) + Number(b) }), ping: () => "pong" });
const namesOf = (options: CodeModeOptions): string[] =>
  engineOf(demo(), options).metaTools.map(({ tool }) => tool.name);

describe("the meta-tools", () => {
  it("1: are search and execute", () => {
    expect(namesOf({})).toEqual(["search", "execute"]);
  });

  it("2: are execute alone when only that was asked for", () => {
    expect(namesOf({ metaTools: [executeTool()] })).toEqual(["execute"]);
  });

  it("3, 4: have the names that were given", () => {
    expect(namesOf({ metaTools: [searchTool({ name: "find" }), executeTool()] })).toEqual(["find", "execute"]);
    expect(namesOf({ executeToolName: "run_code" })).toEqual(["search", "run_code"]);
    expect(namesOf({ searchToolName: "find_tools" })).toEqual(["find_tools", "execute"]);
  });

  it("7: cannot have the name of execute", () => {
    expect(() => namesOf({ metaTools: [searchTool({ name: "execute" }), executeTool()] })).toThrow(/collides/);
  });

  it("8: cannot have one name twice", () => {
    expect(() => namesOf({ metaTools: [searchTool(), searchTool(), executeTool()] })).toThrow(/unique/);
  });

  it("10: can be one's own, and read the real catalog at each request", async () => {
    const count: MetaToolFactory = (engine) => ({
      tool: { name: "count", inputSchema: { type: "object" } },
      call: async (_args, context) => ({
        content: [{ type: "text", text: String((await engine.listTools(context)).length) }],
      }),
    });
    const source = demo();
    const engine = engineOf(source, { metaTools: [count, executeTool()] });
    expect(textOf(await callMeta(engine, "count", {}))).toBe("2");
    source.set("late", () => "");
    expect(textOf(await callMeta(engine, "count", {}))).toBe("3");
  });

  it("12: shadow a tool of the host outside; scripts reach it", async () => {
    const source = fakeSource({ search: () => "wiki" });
    const outcome = await engineOf(source).execute({ code: "return await call_tool('search')" });
    expect(outcome).toMatchObject({ status: "completed", value: "wiki" });
    const inside = await engineOf(demo()).execute({ code: "await call_tool('search', { query: 'x' })" });
    expect(inside).toMatchObject({
      status: "failed",
      error: { message: expect.stringMatching(/only outside/) as string },
    });
  });
});

describe("an engine", () => {
  it("serves a host without an MCP server", async () => {
    const engine = engineOf(demo());
    expect(await engine.execute({ code: 'return await call_tool("add", { a: 3, b: 4 })' })).toMatchObject({
      status: "completed",
      value: { result: 7 },
      calls: [{ tool: "add", ok: true }],
      stdout: "",
      stderr: "",
    });
    expect(await engine.execute({ code: "return inputs.rows.length", inputs: { rows: [1, 2] } })).toMatchObject({
      value: 2,
    });
    expect((await engine.listTools()).map(({ name }) => name)).toEqual(["add", "ping"]);
    expect(textOf(await engine.search({ query: "add" }))).toContain("# add\n");
    expect(await engine.search({ limit: 0 })).toMatchObject({ isError: true });
    await engine.close();
  });

  it("never rejects for what a script did, and resolves to what went wrong", async () => {
    expect(await engineOf(demo()).execute({ code: "return (;" })).toMatchObject({
      status: "failed",
      error: { kind: "syntax", line: 1 },
    });
  });

  it("merges further sources, and says which tool is in two of them", async () => {
    const other = fakeSource({ list: () => "[]" }, { name: "github" });
    const engine = engineOf(demo(), { sources: [other] });
    expect(await engine.execute({ code: "return await tools.github.list()" })).toMatchObject({ value: [] });
    const twice = engineOf(demo(), { sources: [fakeSource({ add: () => "" }, { name: "other" })] });
    expect(textOf(await twice.search({ query: "add" }))).toMatch(/"add" is in two sources: "fake" and "other"/);
  });

  it("reaches nothing that is not included", async () => {
    const engine = engineOf(demo(), { include: ({ name }) => name === "ping" });
    expect(await engine.execute({ code: "return await call_tool('add', {})" })).toMatchObject({
      error: { kind: "tool", message: expect.stringMatching(/^Unknown tool: add/) as string },
    });
  });

  it("38: sees a tool that a script unlocks", async () => {
    const source = fakeSource({ unlock: () => source.set("secret", () => "42") });
    const code = "await call_tool('unlock'); return await call_tool('secret')";
    expect(await engineOf(source).execute({ code })).toMatchObject({ value: "42" });
  });

  it("lets a policy decide, which a script can take note of and go on", async () => {
    const source = fakeSource({
      read: { annotations: { readOnlyHint: true }, handler: () => "r" },
      wipe: { annotations: { destructiveHint: true }, handler: () => "wiped" },
    });
    const engine = engineOf(source, { policy: policies.denyDestructive });
    const code = `const a = await call_tool("read");
      try { await call_tool("wipe"); return "wiped" } catch (e) { return [a, e.kind, /not allowed/.test(e.message)] }`;
    expect(await engine.execute({ code })).toMatchObject({ value: ["r", "approval", true] });
    expect(source.calls.map(({ name }) => name)).toEqual(["read"]);
  });

  it("keeps the limits of the sandbox that was given, and replaces those named", async () => {
    const long = "for (;;) {}";
    const engine = engineOf(demo(), { limits: { timeoutMs: 100 } });
    expect(await engine.execute({ code: long })).toMatchObject({ error: { kind: "timeout" } });
  });

  it("can be frozen nowhere else than where it was made: settings cannot be changed", () => {
    const { settings } = engineOf(demo());
    expect(() => {
      (settings.limits as { maxToolCalls: number }).maxToolCalls = 1e9;
    }).toThrow(TypeError);
  });
});

describe("the caller", () => {
  const callersOf = async (context: object, options: CodeModeOptions = {}): Promise<unknown> => {
    const seen: CallInfo[] = [];
    const policy = (call: CallInfo) => (seen.push(call), { action: "allow" as const });
    await engineOf(demo(), { policy, ...options }).execute({ code: "await call_tool('ping')" }, context);
    return seen[0]?.callerId;
  };

  it("is client id and subject, else a hash of the token, else what the adapter knows", async () => {
    expect(await callersOf({ authInfo: { clientId: "c1", token: "t" } })).toBe('client:["c1"]');
    expect(await callersOf({ authInfo: { clientId: "c1", extra: { sub: "ada" } } })).toBe('client:["c1","ada"]');
    const hashed = await callersOf({ authInfo: { token: "secret-token" } });
    expect(hashed).toMatch(/^token:[0-9a-f]{64}$/);
    expect(await callersOf({ callerId: "connection:7" })).toBe("connection:7");
    expect(await callersOf({ sessionId: "s1" })).toBeUndefined();
  });

  it("cannot be made to read like another one", async () => {
    expect(await callersOf({ authInfo: { clientId: 'c1","ada' } })).not.toBe(
      await callersOf({ authInfo: { clientId: "c1", extra: { sub: "ada" } } }),
    );
  });

  it("is what the host says, before anything else", async () => {
    const callerId = ({ authInfo }: { authInfo?: unknown }) => (authInfo as { user: string }).user;
    expect(await callersOf({ authInfo: { user: "grace", clientId: "c1" } }, { callerId })).toBe("grace");
  });
});

describe("createCodeMode", () => {
  it("refuses options that it does not know", () => {
    expect(() => createCodeMode(demo(), { searchTool: "x" } as CodeModeOptions)).toThrow(/Did you mean searchToolName/);
  });
});
