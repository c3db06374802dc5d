import { describe, expect, it } from "vitest";
import { functionSource } from "../../src/catalog/functions.js";
import type { CallContext } from "../../src/catalog/tool.js";
import type { CodeMode } from "../../src/meta-tools/meta-tool.js";
import type { CodeModeOptions } from "../../src/options.js";
import { inProcessSandbox } from "../../src/sandbox/quickjs/in-process.js";
import { memoryStore } from "../../src/session/memory-store.js";
import type { SessionStore } from "../../src/session/store.js";
import { callMeta, engineOf, markOf, textOf } from "./engine.js";

const source = functionSource(
  {
    slow: { run: () => new Promise((resolve) => setTimeout(() => resolve("late"), 30)) },
    write: { run: () => "written" },
    fails: {
      run: () => {
        throw new Error("no");
      },
    },
  },
  { name: "sessions" },
);

const engineWith = (options: CodeModeOptions = {}): CodeMode =>
  engineOf(source, { session: { variables: true }, store: memoryStore(), ...options });

const as = (sessionId: string | undefined, callerId?: string): CallContext => ({
  signal: new AbortController().signal,
  sessionId,
  callerId,
});

const run = (engine: CodeMode, code: string, context: CallContext, more: Record<string, unknown> = {}) =>
  callMeta(engine, "execute", { code, ...more }, context);
const text = async (engine: CodeMode, code: string, context: CallContext, more?: Record<string, unknown>) =>
  textOf(await run(engine, code, context, more));

describe("a session", () => {
  it("keeps what scripts declare for the next one", async () => {
    const engine = engineWith();
    const me = as("s1");
    expect(await text(engine, "const rows = [1, 2, 3]; function total() { return rows.length }", me)).toContain(
      "Nothing",
    );
    expect(await text(engine, "return total()", me)).toBe("3");
    expect(await text(engine, "rows.push(4); const rows2 = rows; rows2.length", me)).toBe("4");
  });

  it("keeps it after a failure of the script or of a tool, but not after a stop", async () => {
    const engine = engineWith({ limits: { timeoutMs: 2_000 } });
    const me = as("s1");
    expect(markOf(await run(engine, "const a = 1; await call_tool('fails')", me)).kind).toBe("tool");
    expect(markOf(await run(engine, "const b = a + 1; null.x", me)).kind).toBe("runtime");
    expect(await text(engine, "return a + b", me)).toBe("3");
    const stopped = await run(engine, "a = 100; for (;;);", me);
    expect(markOf(stopped).kind).toBe("timeout");
    expect(textOf(stopped)).toContain("was lost, they are as before it");
    expect(await text(engine, "return a + b", me)).toBe("3");
  });

  it("begins anew with restart, and only this one", async () => {
    const engine = engineWith();
    const [me, other] = [as("s1"), as("s2")];
    await run(engine, "let x = 1", me);
    await run(engine, "let x = 2", other);
    expect(await text(engine, "return typeof x", me, { restart: true })).toBe("undefined");
    expect(await text(engine, "return typeof x", me)).toBe("undefined");
    expect(await text(engine, "return x", other)).toBe("2");
  });

  it("is of one server, caller and MCP session: none of them sees another's", async () => {
    const store = memoryStore();
    const engine = engineWith({ store });
    await run(engine, "let secret = 'mine'", as("s1", "alice"));
    const look = "return typeof secret";
    expect(await text(engine, look, as("s1", "bob"))).toBe("undefined");
    expect(await text(engine, look, as("s2", "alice"))).toBe("undefined");
    expect(await text(engine, look, as("s1"))).toBe("undefined");
    const elsewhere = engineOf(functionSource({}, { name: "elsewhere" }), { session: { variables: true }, store });
    expect(await text(elsewhere, look, as("s1", "alice"))).toBe("undefined");
    expect(await text(engine, look, as("s1", "alice"))).toBe("string");
  });

  it("does not exist where nothing tells clients apart, which is said once", async () => {
    const own = functionSource({}, { name: "stateless" });
    const engine = engineOf(own, { session: { variables: true }, store: memoryStore() });
    expect(await text(engine, "let x = 1; x", as(undefined, "alice"))).toMatch(
      /^1\nNote: Nothing is kept between executes/,
    );
    expect(await text(engine, "let y = 1; typeof x", as(undefined, "alice"))).toBe("undefined");
  });

  it("is named by the host's own key", async () => {
    const engine = engineWith({ session: { variables: true, key: ({ sessionId }) => sessionId?.slice(0, 1) } });
    await run(engine, "let x = 1", as("a1"));
    expect(await text(engine, "return x", as("a2"))).toBe("1");
    expect(await text(engine, "return typeof x", as("b1"))).toBe("undefined");
  });

  it("is at rest in the store, sealed, and goes on in another engine with the same secret", async () => {
    const store = memoryStore();
    const secret = "s".repeat(32);
    const me = as("s1", "alice");
    await run(engineWith({ store, secret }), "let word = 'needle-in-memory'", me);
    for await (const key of store.list("")) {
      expect(key).not.toContain("alice");
      expect(Buffer.from((await store.get(key))?.bytes ?? []).toString("latin1")).not.toContain("needle");
    }
    expect(await text(engineWith({ store, secret }), "return word", me)).toBe("needle-in-memory");
    const stranger = await run(engineWith({ store, secret: "t".repeat(32) }), "return typeof word", me);
    expect(textOf(stranger)).toMatch(/^undefined\nNote: The variables of this session are gone/);
  });

  it("lets two scripts at once wait for each other: none loses what the other did", async () => {
    const engine = engineWith();
    const me = as("s1");
    await run(engine, "let n = 0", me);
    const code = "const before = n; await call_tool('slow'); n = before + 1; return n";
    const replies = await Promise.all(Array.from({ length: 5 }, () => text(engine, code, { ...me })));
    expect(replies.toSorted()).toEqual(["1", "2", "3", "4", "5"]);
  });

  it("does not overwrite what a script in another process left meanwhile", async () => {
    const store = memoryStore();
    // Two stores over one, as two processes have: their engines do not know of each other's turns.
    const view = (): SessionStore => ({
      get: (key) => store.get(key),
      put: (key, bytes, options) => store.put(key, bytes, options),
      delete: (key, options) => store.delete(key, options),
      list: (prefix) => store.list(prefix),
    });
    const [one, two] = [
      engineWith({ store: view(), sandboxProvider: inProcessSandbox() }),
      engineWith({ store: view() }),
    ];
    const me = as("s1");
    await run(one, "let x = 0", me);
    const late = run(one, "await call_tool('slow'); x = 1; return x", me);
    expect(await text(two, "x = 2; return x", me)).toBe("2");
    expect(textOf(await late)).toMatch(/^1\nNote: .*another script of this session ended meanwhile/);
    expect(await text(one, "return x", me)).toBe("2");
  });

  it("ends after ttlMs without an execute", async () => {
    const engine = engineWith({ session: { variables: true, ttlMs: 80 } });
    const me = as("s1");
    await run(engine, "let x = 1", me);
    await new Promise((resolve) => setTimeout(resolve, 120));
    expect(await text(engine, "return typeof x", me)).toBe("undefined");
  });

  it("has bounds, and says so when they are reached", async () => {
    const engine = engineWith({ session: { variables: true, maxSessions: 2, maxBytes: 60_000 } });
    await run(engine, "let x = 1", as("s1"));
    await run(engine, "let x = 1", as("s2"));
    expect(await text(engine, "let x = 1; x", as("s3"))).toMatch(/^1\nNote: .*session\.maxSessions/);
    expect(await text(engine, "x = 2; x", as("s2"))).toBe("2");
    const noise = "let noise = Array.from({ length: 2e4 }, () => Math.random()); x = 3; return noise.length";
    expect(await text(engine, noise, as("s2"))).toMatch(/^20000\nNote: .*session\.maxBytes/);
    expect(await text(engine, "return [x, typeof noise]", as("s2"))).toBe('[2,"undefined"]');
  });

  it("gets what a script leaves that was paused for a person", async () => {
    const engine = engineWith({ policy: ({ name }) => ({ action: name === "write" ? "ask" : "allow" }) });
    const me = as("s1", "alice");
    await run(engine, "let log = ['begin']", me);
    const paused = await run(engine, "const answer = await call_tool('write', {}); log.push(answer); return log", me);
    const { run: id = "" } = markOf(paused);
    expect(await text(engine, "return log", me)).toBe('["begin"]');
    await engine.decide(id, 1, { action: "allow" });
    const end = await callMeta(engine, "resume", { run: id }, me);
    // The script in between has left something newer.
    expect(textOf(end)).toMatch(/^\["begin","written"\]\nNote: .*ended meanwhile/);
    const { run: next = "" } = markOf(
      await run(engine, "const answer = await call_tool('write', {}); log.push(answer); return log", me),
    );
    await engine.decide(next, 1, { action: "allow" });
    expect(textOf(await callMeta(engine, "resume", { run: next }, me))).toBe('["begin","written"]');
    expect(await text(engine, "return [log, answer]", me)).toBe('[["begin","written"],"written"]');
  });

  it("offers restart only where there are sessions", () => {
    const properties = (engine: CodeMode) =>
      Object.keys(
        engine.metaTools.find(({ tool }) => tool.name === "execute")?.tool.inputSchema["properties"] as object,
      );
    expect(properties(engineWith())).toEqual(["code", "restart"]);
    expect(properties(engineOf(source))).toEqual(["code"]);
  });

  it.each([
    [{ variables: false }, /variables: true/],
    [true, /must be false or/],
    [{ variables: true, ttlms: 1 }, /Unknown option session\.ttlms\. Did you mean ttlMs/],
    [{ variables: true, ttlMs: 0 }, /session\.ttlMs must be a number above 0/],
    [{ variables: true, maxSessions: 1.5 }, /session\.maxSessions/],
    [{ variables: true, key: "x" }, /session\.key must be a function/],
  ])("refuses the option %j", (session, message) => {
    expect(() => engineOf(source, { session: session as never })).toThrow(message);
  });

  it("needs a sandbox that can keep memory, and names the one that cannot", () => {
    const sandboxProvider = { name: "mine", run: async () => ({ status: "completed" as const, value: 1 }) };
    expect(() => engineOf(source, { session: { variables: true }, sandboxProvider })).toThrow(/"mine" has none/);
  });
});
