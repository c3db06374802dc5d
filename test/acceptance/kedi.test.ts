import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { functionSource, type FunctionTool } from "../../src/catalog/functions.js";
import type { CallContext } from "../../src/catalog/tool.js";
import { codeMode } from "../../src/code-mode.js";
import type { CodeMode } from "../../src/meta-tools/meta-tool.js";
import { resumeTool } from "../../src/meta-tools/resume.js";
import type { CodeModeOptions } from "../../src/options.js";
import { presets } from "../../src/presets.js";
import { memoryStore } from "../../src/session/memory-store.js";
import { callMeta, engineOf, markOf, textOf, textsOf } from "../meta-tools/engine.js";

/** The profile, as a host with these tools would set it up. The lines about the control tools are in kedi-discovery.test.ts. */

const names = ["list_records", "slow", "alone", "fails", "write", "big", "strange"];

interface World {
  engine: CodeMode;
  context: CallContext;
  calls: string[];
  most(): number;
}

function world(overrides: CodeModeOptions = {}): World {
  const calls: string[] = [];
  let [active, most, alone] = [0, 0, 0];
  const timed = async (name: string): Promise<string> => {
    calls.push(name);
    most = Math.max(most, ++active);
    if (active > 1 && (name === "alone" || alone > 0)) calls.push("not alone");
    if (name === "alone") alone++;
    await new Promise((resolve) => setTimeout(resolve, 20));
    if (name === "alone") alone--;
    active--;
    return name;
  };
  const tools: Record<string, FunctionTool> = {
    list_records: {
      input: { type: "object", properties: { project: { type: "string" } }, required: ["project"] },
      run: ({ project }: { project: string }) => {
        calls.push(`list_records ${project}`);
        return [{ id: 1 }, { id: 2 }, { id: 3 }];
      },
    },
    slow: { run: () => timed("slow") },
    alone: { run: () => timed("alone"), _meta: { "mcp-codemode/sequential": true } } as FunctionTool,
    fails: {
      run: () => {
        throw new Error("out of order");
      },
    },
    write: {
      input: { type: "object", properties: { text: { type: "string" } } },
      run: ({ text }: { text: string }) => `wrote ${text} (${calls.push("write")})`,
    },
    big: { run: ({ bytes }: { bytes: number }) => "x".repeat(bytes) },
    strange: { run: () => 10n ** 30n },
    other: { run: () => "other" },
  };
  const engine = engineOf(functionSource(tools, { name: "app" }), presets.kedi({ store: memoryStore(), ...overrides }));
  return { engine, context: session("s1"), calls, most: () => most };
}

const session = (sessionId: string, callerId = "me"): CallContext => ({
  signal: new AbortController().signal,
  sessionId,
  callerId,
});
const schemas = (engine: CodeMode, tools: readonly string[], context: CallContext) =>
  callMeta(engine, "get_tool_schema", { tools }, context);
const run = (engine: CodeMode, code: string, context: CallContext, more: object = {}) =>
  callMeta(engine, "execute_code", { code, ...more }, context);

/** A world whose first session knows all tools but one. */
async function hydrated(overrides: CodeModeOptions = {}): Promise<World> {
  const made = world(overrides);
  expect((await schemas(made.engine, names, made.context)).isError).toBeUndefined();
  return made;
}

const value = async ({ engine, context }: World, code: string): Promise<string> =>
  textsOf(await run(engine, code, context))[0] ?? "";

describe("hydration (kedi)", () => {
  it("9: a tool joins the list of its session when its schema was read, up to the maximum", async () => {
    const { engine, context } = world({ limits: { maxHydratedTools: 2 } });
    expect((await schemas(engine, ["slow", "write"], context)).isError).toBeUndefined();
    expect((await schemas(engine, ["slow"], context)).isError).toBeUndefined();
    const third = await schemas(engine, ["big"], context);
    expect(markOf(third).kind).toBe("limit");
    expect(textOf(third)).toContain("at most 2 tools (limits.maxHydratedTools)");
    expect(textOf(await run(engine, "await tools.write({ text: 'a' })", context))).toContain("wrote a");
    expect(textOf(await run(engine, "await tools.write({})", session("s2")))).toContain("cannot be called yet");
    expect(textOf(await run(engine, "await tools.write({})", session("s1", "you")))).toContain("cannot be called yet");
  });

  it.each(["await call_tool('other', {})", "await tools.other({})", "await call_tool('list_records', {})"])(
    "10: a tool that is not hydrated says to ask for its schema, and does not run: %s",
    async (code) => {
      const { engine, context, calls } = world();
      const reply = await run(engine, code, context);
      expect(reply.isError).toBe(true);
      expect(textOf(reply)).toMatch(/cannot be called yet: ask for its schema with get_tool_schema first/);
      expect(calls).toEqual([]);
    },
  );
});

describe("execution (kedi)", () => {
  it("11: hydrated tools are async functions of one object, and the last line is the result", async () => {
    const one = await hydrated();
    expect(
      await value(
        one,
        "const records = await tools.list_records({ project: 'kedi' });\nrecords.filter((r) => r.id > 1).length",
      ),
    ).toBe("2");
    expect(one.calls).toEqual(["list_records kedi"]);
  });

  it("12: independent calls run at the same time, at most 8 at once", async () => {
    const one = await hydrated();
    await value(one, "await Promise.all(Array.from({ length: 20 }, () => tools.slow({})))");
    expect(one.most()).toBe(8);
    expect(one.calls).toHaveLength(20);
  });

  it("13: a sequential tool runs alone", async () => {
    const one = await hydrated();
    await value(one, "await Promise.all([tools.slow({}), tools.alone({}), tools.slow({}), tools.slow({})])");
    expect(one.calls).toEqual(["slow", "alone", "slow", "slow"]);
  });

  it("14: variables are there in the next execute_code of the session, with what earlier calls gave", async () => {
    const one = await hydrated();
    await value(one, "const records = await tools.list_records({ project: 'a' })");
    expect(await value(one, "records.length")).toBe("3");
    expect(one.calls).toHaveLength(1);
  });

  it("15: restart forgets the variables of this session, and keeps what is hydrated", async () => {
    const one = await hydrated();
    const other = session("s2");
    await value(one, "const x = 1");
    await run(one.engine, "const x = 2", other);
    expect(textOf(await run(one.engine, "typeof x", one.context, { restart: true }))).toBe("undefined");
    expect(textOf(await run(one.engine, "x", other))).toBe("2");
    expect(await value(one, "await tools.write({ text: 'b' })")).toContain("wrote b");
  });

  it("16: two sessions see neither variables nor hydrated tools of each other", async () => {
    const one = await hydrated();
    await value(one, "const x = 1");
    const other = session("s2");
    expect(textOf(await run(one.engine, "typeof x", other))).toBe("undefined");
    expect((await run(one.engine, "await tools.slow({})", other)).isError).toBe(true);
  });

  it("17: a script that fails gives what it had printed and its error as separate fields", async () => {
    const one = await hydrated();
    const reply = await run(
      one.engine,
      "console.log('loaded', 1 + 2, 'rows');\nnull.x;\nconsole.log('never')",
      one.context,
    );
    const { output, error } = JSON.parse(textsOf(reply)[0] ?? "") as { output: string; error: string };
    expect(output).toBe("loaded 3 rows");
    expect(error).toMatch(/^TypeError/);
    expect(error).not.toContain("loaded 3 rows");
  });

  it("18: after that failure its variables are there; after a stop the reply says that they are lost", async () => {
    const one = await hydrated({ limits: { timeoutMs: 3_000 } });
    await run(one.engine, "const rows = await tools.list_records({ project: 'a' }); rows.nothing.at(0)", one.context);
    expect(await value(one, "rows.length")).toBe("3");
    const stopped = await run(one.engine, "rows.length = 0; for (;;);", one.context);
    expect(markOf(stopped).kind).toBe("timeout");
    expect(textOf(stopped)).toContain("was lost");
    expect(await value(one, "rows.length")).toBe("3");
  });

  it.each([
    ["a tool that fails", "await tools.fails({})", "tool"],
    ["a limit", "for (let i = 0; i < 60; i++) await tools.write({ text: '' })", "limit"],
  ])("19: %s that nobody catches is a failed reply", async (_what, code, kind) => {
    const one = await hydrated();
    const reply = await run(one.engine, code, one.context);
    expect(reply.isError).toBe(true);
    expect(markOf(reply).kind).toBe(kind);
  });

  it("19: a refused approval that nobody catches is a failed reply", async () => {
    const one = await hydrated({ policy: () => ({ action: "deny", reason: "no" }) });
    const reply = await run(one.engine, "await tools.write({})", one.context);
    expect(reply.isError).toBe(true);
    expect(markOf(reply).kind).toBe("approval");
  });
});

describe("tool semantics (kedi)", () => {
  it("21: arguments that an approval edited are validated again", async () => {
    const edits: unknown[] = ["ok", { no: "text" }];
    const one = await hydrated({ policy: () => ({ action: "allow", arguments: { text: edits.shift() } }) });
    expect(await value(one, "await tools.write({ text: 'mine' })")).toContain("wrote ok");
    const reply = await run(one.engine, "await tools.write({ text: 'mine' })", one.context);
    expect(markOf(reply).kind).toBe("validation");
    expect(one.calls).toEqual(["write"]);
  });

  it("22: a decision that comes inline is awaited", async () => {
    const one = await hydrated({ policy: () => ({ action: "ask" }) });
    const elicit = async () => ({ action: "accept" as const });
    const reply = await run(one.engine, "await tools.write({ text: 'c' })", { ...one.context, elicit });
    expect(textOf(reply)).toContain("wrote c");
  });

  it("22: one that comes later resumes the paused script exactly once", async () => {
    const profile = presets.kedi();
    const one = await hydrated({
      policy: () => ({ action: "ask" }),
      metaTools: [...(profile.metaTools ?? []), resumeTool()],
    });
    const { run: id = "" } = markOf(await run(one.engine, "await tools.write({ text: 'd' })", one.context));
    await one.engine.decide(id, 1, { action: "allow" });
    const resume = () => callMeta(one.engine, "resume", { run: id }, one.context);
    expect(textOf(await resume())).toContain("wrote d (1)");
    expect(textOf(await resume())).toContain("wrote d (1)");
    expect(one.calls).toEqual(["write"]);
  });

  it("22: without a channel and a way to keep the script the call is denied, and the reply says so", async () => {
    const sandboxProvider = {
      name: "body",
      run: async (code: string, { externalFunctions = {} }: { externalFunctions?: object }) => {
        const keys = Object.keys(externalFunctions);
        // oxlint-disable-next-line eslint/no-new-func, typescript/no-implied-eval -- a provider without `resume`, as small as one can be
        const script = new Function(...keys, `return (async () => {${code}\n})()`) as (...all: unknown[]) => unknown;
        return { status: "completed" as const, value: await script(...Object.values(externalFunctions)) };
      },
    };
    const one = await hydrated({ policy: () => ({ action: "ask" }), sandboxProvider, session: false });
    const code = "return await call_tool('write', {}).catch((error) => error.message)";
    expect(textOf(await run(one.engine, code, one.context))).toContain("nobody can be asked");
    expect(one.calls).toEqual([]);
  });

  it("23: cancelling the outer request aborts inner calls and stops the script", async () => {
    const one = await hydrated();
    const gone = new AbortController();
    const reply = run(one.engine, "await tools.slow({}); await tools.write({})", {
      ...one.context,
      signal: gone.signal,
    });
    gone.abort();
    expect(markOf(await reply).kind).toBe("cancelled");
    expect(one.calls).not.toContain("write");
  });
});

describe("artifact boundary and limits (kedi)", () => {
  it("26: inner results do not reach the model, only the final one does", async () => {
    const one = await hydrated();
    const reply = await run(one.engine, "(await tools.list_records({ project: 'a' })).length", one.context);
    expect(JSON.stringify(reply.content)).not.toContain("id");
  });

  it("28: an inner result over its limit, or all over theirs, is an explicit error that names it", async () => {
    const one = await hydrated();
    expect(textOf(await run(one.engine, "await tools.big({ bytes: 300000 })", one.context))).toMatch(
      /256000.*maxCallResultBytes/,
    );
    const many = "for (let i = 0; i < 5; i++) await tools.big({ bytes: 250000 })";
    expect(textOf(await run(one.engine, many, one.context))).toMatch(/1000000.*maxTotalResultBytes/);
  });

  it("31: the 49th call is an error that the model can correct from its text", async () => {
    const one = await hydrated();
    const reply = await run(one.engine, "for (let i = 0; i < 49; i++) await tools.write({})", one.context);
    expect(textOf(reply)).toMatch(/at most 48 tool calls \(limits\.maxToolCalls\)/);
    expect(one.calls).toHaveLength(48);
  });

  it("32: file system, environment, process, network and packages are absent", async () => {
    const one = await hydrated();
    const names = "['process', 'require', 'fetch', 'Deno', 'XMLHttpRequest', 'WebSocket', 'module']";
    expect(await value(one, `${names}.filter((name) => name in globalThis).length`)).toBe("0");
    expect((await run(one.engine, "await import('node:fs')", one.context)).isError ?? true).toBe(true);
  });
});

describe("a server with this profile (kedi)", () => {
  let close: (() => Promise<unknown>) | undefined;
  afterEach(() => close?.());

  it("1, 9, 14, 20: lists three tools, refuses direct calls, and does a task through the host's own validation", async () => {
    const server = new McpServer({ name: "app", version: "1" });
    server.registerTool("double", { inputSchema: { n: z.number() } }, async ({ n }) => ({
      content: [{ type: "text", text: String(n * 2) }],
    }));
    codeMode(presets.kedi({ store: memoryStore() })).apply(server);
    const [near, far] = InMemoryTransport.createLinkedPair();
    const client = new Client({ name: "c", version: "1" });
    await Promise.all([server.connect(far), client.connect(near)]);
    close = () => client.close();
    const call = async (name: string, args: object): Promise<{ isError?: boolean; content: { text: string }[] }> =>
      (await client.callTool({ name, arguments: args as Record<string, unknown> })) as never;
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
      "search_tools",
      "get_tool_schema",
      "execute_code",
    ]);
    expect(await call("double", { n: 1 })).toMatchObject({ isError: true });
    expect((await call("execute_code", { code: "await tools.double({ n: 2 })" })).isError).toBe(true);
    await call("get_tool_schema", { tools: ["double"] });
    expect((await call("execute_code", { code: "const four = await tools.double({ n: 2 })" })).isError).toBeUndefined();
    expect((await call("execute_code", { code: "four" })).content[0]?.text).toBe("4");
    expect((await call("execute_code", { code: "await tools.double({ n: 'x' })" })).isError).toBe(true);
  });
});
