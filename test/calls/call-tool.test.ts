import { describe, expect, it, vi } from "vitest";
import type { ToolSource } from "../../src/catalog/tool.js";
import { fakeSource } from "../../src/testing.js";
import { runCalls, thrownBy } from "./run-calls.js";

const NUMBERS = {
  type: "object" as const,
  properties: { a: { type: "number" }, b: { type: "number" } },
  required: ["a", "b"],
};
const add = {
  inputSchema: NUMBERS,
  handler: ({ a, b }: Record<string, unknown>) => ({ result: Number(a) + Number(b) }),
};
const fails = (message: string) => () => {
  throw new Error(message);
};

/** A source that rejects, as a client of a remote server does. */
function rejecting(reason: unknown): ToolSource {
  return {
    listTools: async () => [{ name: "remote", inputSchema: { type: "object", properties: { q: { type: "string" } } } }],
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors
    callTool: () => Promise.reject(reason),
  };
}

describe("a call", () => {
  it("gives the structured content, by name and by identifier, and is recorded in order", async () => {
    const source = fakeSource({ add, "list-pages": () => "a page" }, { name: "demo" });
    const calls = runCalls(source);
    expect(await calls.callTool("add", { a: 3, b: 4 })).toEqual({ result: 7 });
    expect(await calls.callTool("list_pages")).toBe("a page");
    expect(await calls.callTool("demo.add", { a: 1, b: 1 })).toEqual({ result: 2 });
    expect(calls.records.map(({ tool, server, ok }) => [tool, server, ok])).toEqual([
      ["add", "demo", true],
      ["list-pages", "demo", true],
      ["add", "demo", true],
    ]);
    expect(calls.records.every(({ ms }) => ms >= 0 && ms < 1000)).toBe(true);
  });

  it("lists the tools once per run, again after a change, and once more before a name is unknown", async () => {
    const source = fakeSource({ add });
    const listTools = vi.spyOn(source, "listTools");
    const calls = runCalls(source);
    expect(listTools).toHaveBeenCalledTimes(0);
    for (let call = 0; call < 5; call++) await calls.callTool("add", { a: 1, b: 1 });
    expect(listTools).toHaveBeenCalledTimes(1);
    source.set("late", () => "42");
    expect(await calls.callTool("late")).toBe("42");
    expect(listTools).toHaveBeenCalledTimes(2);
    await Promise.allSettled([calls.callTool("no"), calls.callTool("nope")]);
    expect(listTools).toHaveBeenCalledTimes(3);
    source.remove("late");
    expect(await thrownBy(calls.callTool("late"))).toMatchObject({ kind: "tool" });
  });

  it("finds a tool that a source added without telling", async () => {
    const tools = [{ name: "first", inputSchema: { type: "object" as const } }];
    const source: ToolSource = {
      listTools: async () => [...tools],
      callTool: async (name) => ({ content: [{ type: "text", text: name }] }),
    };
    const calls = runCalls(source);
    await calls.callTool("first");
    tools.push({ name: "second", inputSchema: { type: "object" } });
    expect(await calls.callTool("second")).toBe("second");
  });

  it.each(["__proto__", "constructor", "toString", "hasOwnProperty"])("reaches a tool named %s", async (name) => {
    const source = fakeSource(JSON.parse("{}") as Record<string, never>);
    source.set(name, () => name);
    expect(await runCalls(source).callTool(name)).toBe(name);
  });
});

describe("a result that is no plain JSON", () => {
  it("is what a client would get over the wire", async () => {
    const source = fakeSource({ now: () => ({ at: new Date(0), left: undefined, n: Number.NaN }) });
    expect(await runCalls(source).callTool("now")).toEqual({ at: "1970-01-01T00:00:00.000Z", n: null });
  });

  it("and cannot be made JSON is an error, not a crash", async () => {
    const big: ToolSource = {
      listTools: async () => [{ name: "big", inputSchema: { type: "object" } }],
      callTool: async () => ({ structuredContent: { n: 1n } }),
    };
    expect((await thrownBy(runCalls(big).callTool("big"))).message).toContain("cannot be sent as JSON");
  });
});

describe("48: an unknown tool", () => {
  it("is said so in the first words, with the nearest names after them", async () => {
    const calls = runCalls(fakeSource({ list_flows: () => "", delete_flow: () => "" }));
    const { kind, message } = await thrownBy(calls.callTool("list_flow"));
    expect(kind).toBe("tool");
    expect(message).toMatch(/^Unknown tool: list_flow\. Did you mean "list_flows"/);
  });

  it.each(["constructor", "toString", "valueOf", "__proto__", "isPrototypeOf"])("is what %s is", async (name) => {
    expect((await thrownBy(runCalls(fakeSource({ add })).callTool(name))).message).toMatch(/^Unknown tool: /);
  });

  it("is never called by a name that is only like it", async () => {
    const source = fakeSource({ "list-pages": () => "called" });
    const { message } = await thrownBy(runCalls(source).callTool("listPages"));
    expect(message).toContain('"list-pages"');
    expect(source.calls).toEqual([]);
  });

  it("that is a meta-tool says that it exists only outside", async () => {
    const calls = runCalls(fakeSource({ add }), { metaToolNames: ["search"] });
    expect((await thrownBy(calls.callTool("search"))).message).toMatch(/only outside scripts/);
  });

  it("of the host with the name of a meta-tool is called all the same", async () => {
    const calls = runCalls(fakeSource({ search: () => "wiki" }), { metaToolNames: ["search"] });
    expect(await calls.callTool("search")).toBe("wiki");
  });
});

describe("a tool that fails", () => {
  it("49: gives its own text behind the name", async () => {
    const error = await thrownBy(runCalls(fakeSource({ boom: fails("quota used up") })).callTool("boom"));
    expect(error).toMatchObject({ kind: "tool", message: "call_tool('boom') failed: quota used up" });
  });

  it("gives its structured content as data, and never an empty message", async () => {
    const limited = { isError: true, content: [], structuredContent: { code: "RATE_LIMITED", retry_after: 30 } };
    const error = await thrownBy(runCalls(fakeSource({ rl: () => limited })).callTool("rl"));
    expect(error.details).toEqual({ tool: "rl", data: { code: "RATE_LIMITED", retry_after: 30 } });
    expect(error.message).toContain("RATE_LIMITED");
    const silent = await thrownBy(runCalls(fakeSource({ no: () => ({ isError: true }) })).callTool("no"));
    expect(silent.message.length).toBeGreaterThan("call_tool('no') failed: ".length);
  });

  it("says a piled up prefix once, and keeps one of another code", async () => {
    const text = "MCP error -32602: MCP error -32602: MCP error -32000: bad date";
    const { message } = await thrownBy(runCalls(fakeSource({ proxy: fails(text) })).callTool("proxy"));
    expect(message).toBe("call_tool('proxy') failed: MCP error -32602: MCP error -32000: bad date");
  });

  it("that begins its text with Error is no failure", async () => {
    expect(await runCalls(fakeSource({ log: () => "Error: 0 found" })).callTool("log")).toBe("Error: 0 found");
  });
});

describe("a source that rejects", () => {
  it("gives message, code and data, and nothing of its stack or cause", async () => {
    const reason = Object.assign(new Error("MCP error -32001: need login", { cause: "password=hunter2" }), {
      code: -32001,
      data: { url: "https://auth.example.test" },
      stack: "Error\n    at /srv/app/secret/keys.ts:42",
    });
    const error = await thrownBy(runCalls(rejecting(reason)).callTool("remote"));
    expect(error.message).toBe("call_tool('remote') failed: need login");
    expect(error.details).toEqual({ tool: "remote", code: -32001, data: { url: "https://auth.example.test" } });
    expect(JSON.stringify(error)).not.toMatch(/hunter2|srv/);
  });

  it("with -32602 is of kind validation, and lists the parameters", async () => {
    const reason = Object.assign(new Error("MCP error -32602: bad q"), { code: -32602 });
    const error = await thrownBy(runCalls(rejecting(reason)).callTool("remote", { q: "x" }));
    expect(error.kind).toBe("validation");
    expect(error.message).toBe("call_tool('remote') failed: bad q. Parameters of remote (* = required): q (string).");
  });

  it("with -32042 is remembered, so that the client gets to see it", async () => {
    const reason = Object.assign(new Error("open a URL"), { code: -32042, data: { url: "https://x.test" } });
    const calls = runCalls(rejecting(reason));
    const error = await thrownBy(calls.callTool("remote"));
    expect(error.details).toMatchObject({ code: -32042, data: { url: "https://x.test" } });
    expect(calls.protocolError).toBe(reason);
  });

  it.each([null, undefined, "text", 5, {}, new Error("")])(
    "with %o still gives an error with a message",
    async (reason) => {
      const error = await thrownBy(runCalls(rejecting(reason)).callTool("remote"));
      expect(error.message).toMatch(/^call_tool\('remote'\) failed: ./);
    },
  );
});

describe("51: arguments that do not fit", () => {
  it("never reach a source that leaves checking to us; every fault and every parameter is named", async () => {
    const source = fakeSource({ add });
    const error = await thrownBy(runCalls(source).callTool("add", { a: "one" }));
    expect(error).toMatchObject({ kind: "validation" });
    expect(error.message).toContain("a: expected number, got string");
    expect(error.message).toContain("b is missing (required)");
    expect(error.message).toContain("Parameters of add (* = required): a* (number), b* (number).");
    expect(source.calls).toEqual([]);
  });

  it("are told by the arguments that were sent when the host's own check answered, never by its text", async () => {
    const base = fakeSource({
      add: { inputSchema: NUMBERS, handler: fails("zod says no") },
      odd: { inputSchema: NUMBERS, handler: fails("MCP error -32602: Invalid arguments") },
    });
    const host: ToolSource = { ...base, validatesArguments: true };
    const wrong = await thrownBy(runCalls(host).callTool("add", { a: 1, c: 2 }));
    expect(wrong).toMatchObject({ kind: "validation" });
    expect(wrong.message).toMatch(/zod says no.*unknown parameter "c".*Parameters of add/);
    expect(await thrownBy(runCalls(host).callTool("odd", { a: 1, b: 2 }))).toMatchObject({ kind: "tool" });
  });
});

describe("what a call may cost", () => {
  it("53: counts calls of unknown tools too", async () => {
    const calls = runCalls(fakeSource({ add }), { limits: { maxToolCalls: 3 } });
    for (let call = 0; call < 3; call++) await thrownBy(calls.callTool("nope"));
    expect(await thrownBy(calls.callTool("add", { a: 1, b: 1 }))).toMatchObject({
      kind: "limit",
      message: expect.stringContaining("at most 3") as string,
    });
    expect(calls.records).toHaveLength(3);
  });

  it("is bounded in the bytes of its arguments", async () => {
    const source = fakeSource({ echo: (args) => ({ args }) });
    const calls = runCalls(source, { limits: { maxArgumentBytes: 100 } });
    const most = "x".repeat(100 - '{"t":""}'.length);
    await calls.callTool("echo", { t: most });
    expect(await thrownBy(calls.callTool("echo", { t: `${most}x` }))).toMatchObject({ kind: "limit" });
    expect(source.calls).toHaveLength(1);
  });

  it("is bounded in the bytes of its result, which are not its characters", async () => {
    const most = "\u00fc".repeat((100 - '{"t":""}'.length) / 2);
    const calls = runCalls(fakeSource({ list: ({ more }) => ({ t: most + String(more) }) }), {
      limits: { maxCallResultBytes: 100 },
    });
    expect(await calls.callTool("list", { more: "" })).toEqual({ t: most });
    expect(await thrownBy(calls.callTool("list", { more: "x" }))).toMatchObject({ kind: "limit" });
  });

  it("is bounded in time; its handler sees its signal aborted", async () => {
    let aborted: Promise<void> | undefined;
    const source = fakeSource({
      stuck: (_args, { signal }) => {
        aborted = new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
        return new Promise(() => {});
      },
    });
    const error = await thrownBy(runCalls(source, { limits: { toolTimeoutMs: 20 } }).callTool("stuck"));
    expect(error).toMatchObject({ kind: "timeout", message: expect.stringContaining("20 ms") as string });
    await aborted;
  });

  it("is bounded in how many go at once; the others wait", async () => {
    let running = 0;
    let most = 0;
    const source = fakeSource({
      slow: async () => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setTimeout(resolve, 5));
        running--;
        return "ok";
      },
    });
    const calls = runCalls(source, { limits: { maxConcurrentCalls: 4 } });
    const all = await Promise.all(Array.from({ length: 20 }, () => calls.callTool("slow")));
    expect(all).toHaveLength(20);
    expect(most).toBe(4);
  });

  it("lets a tool marked sequential run alone", async () => {
    const log: string[] = [];
    const tool = (name: string) => async () => {
      log.push(`${name} in`);
      await new Promise((resolve) => setImmediate(resolve));
      log.push(`${name} out`);
      return name;
    };
    const write = { _meta: { "mcp-codemode/sequential": true }, handler: tool("write") };
    const calls = runCalls(fakeSource({ read: tool("read"), write }));
    await Promise.all(["read", "read", "write", "read"].map((name) => calls.callTool(name)));
    const at = log.indexOf("write in");
    expect(log[at + 1]).toBe("write out");
    expect(log.slice(0, at)).toEqual(["read in", "read in", "read out", "read out"]);
  });
});

describe("the end of a run", () => {
  it("aborts what is under way and what waits, and refuses further calls", async () => {
    const calls = runCalls(fakeSource({ stuck: () => new Promise(() => {}) }), { limits: { maxConcurrentCalls: 1 } });
    const running = calls.callTool("stuck");
    const waiting = calls.callTool("stuck");
    await new Promise((resolve) => setImmediate(resolve));
    const both = Promise.all([thrownBy(running), thrownBy(waiting)]);
    calls.end();
    expect(await both).toMatchObject([{ kind: "cancelled" }, { kind: "cancelled" }]);
    expect(await thrownBy(calls.callTool("stuck"))).toMatchObject({ kind: "cancelled" });
  });

  it("can wait for calls without an answer, and no longer than it was told to", async () => {
    const calls = runCalls(fakeSource({ soon: () => "ok", stuck: () => new Promise(() => {}) }));
    void calls.callTool("soon");
    expect(calls.unanswered.map(({ tool }) => tool)).toEqual(["soon"]);
    await calls.idle(5000);
    expect(calls.unanswered).toEqual([]);
    calls.callTool("stuck").catch(() => {});
    const start = performance.now();
    await calls.idle(20);
    expect(performance.now() - start).toBeGreaterThan(15);
    expect(calls.unanswered).toHaveLength(1);
    calls.end();
  });
});
