import { describe, expect, it } from "vitest";
import { inProcessSandbox } from "../../src/sandbox/quickjs/in-process.js";
import type { SandboxResult } from "../../src/sandbox/provider.js";

const sandbox = inProcessSandbox();

/** Scripts one after the other in the same memory. */
class Session {
  #memory: Uint8Array | undefined;

  async run(code: string, inputs?: Record<string, unknown>): Promise<SandboxResult> {
    const result = await sandbox.run(code, {
      keepSnapshot: true,
      externalFunctions: { call_tool: async (name: unknown) => ({ name }) },
      ...(this.#memory === undefined ? {} : { from: this.#memory }),
      ...(inputs === undefined ? {} : { inputs: { inputs } }),
    });
    if (result.status !== "suspended") this.#memory = result.snapshot ?? this.#memory;
    return result;
  }

  get bytes(): number {
    return this.#memory?.length ?? 0;
  }

  async value(code: string): Promise<unknown> {
    const result = await this.run(code);
    return result.status === "completed" ? result.value : result;
  }
}

/** Each declares, at the top level, names that the expression reads. */
const DECLARATIONS: readonly (readonly [string, string, unknown])[] = [
  ["let x = 1", "x", 1],
  ["const x = 1, y = 2", "x + y", 3],
  ["let x, y = 2", "String(x) + y", "undefined2"],
  ["var x = 1", "x", 1],
  ["const { a, b: [c, ...d], ...rest } = { a: 1, b: [2, 3, 4], e: 5 }", "[a, c, d, rest]", [1, 2, [3, 4], { e: 5 }]],
  ["let { a = 7, [`b`]: b = a } = {}", "[a, b]", [7, 7]],
  ["function f(n) { return n + 1 }", "f(1)", 2],
  ["async function f(n) { return n + 1 }", "await f(1)", 2],
  ["function* g() { yield 1 }", "[...g()]", [1]],
  ["class A { #n = 5; get n() { return this.#n } static s = 1 }", "new A().n + A.s", 6],
  ["class A { a() { return 1 } }\nclass B extends A { b() { return this.a() + 1 } }", "new B().b()", 2],
  ["let n = 0; const add = () => ++n; add()", "add() + n", 4],
  ["'use strict'; let s = 1; function t() { return s }", "s + t()", 2],
  ["let a = 1\nlet b = 2\n;[a, b] = [b, a]", "[a, b]", [2, 1]],
  ["const f = function () { return 1 }\nlet g", "f() + String(g)", "1undefined"],
  ["const rows: number[] = [1, 2]; interface R { a: string }", "rows.length", 2],
  ["enum E { A = 4 }", "E.A", 4],
  ["const { name } = await call_tool('x')", "name", "x"],
  ["let RESULT1 = 1, async = 2, of = 3", "async + of", 5],
];

describe.each([
  ["with a last expression", ""],
  ["with a top-level return", "\nif (false) return 1;"],
])("declarations of a session's script %s", (_kind, end) => {
  it.each(DECLARATIONS)("%s stays for the next one", async (declaration, expression, expected) => {
    const session = new Session();
    expect(await session.run(declaration + end)).toMatchObject({ status: "completed" });
    expect(await session.value(`return ${expression}`)).toEqual(expected);
  });

  it.each(DECLARATIONS)("%s can be declared again", async (declaration, expression, expected) => {
    const session = new Session();
    await session.run(declaration + end);
    expect(await session.run(declaration + end)).toMatchObject({ status: "completed" });
    expect(await session.value(`return ${expression}`)).toEqual(expected);
  });

  it("stay after a failure: those before it, with what they were", async () => {
    const session = new Session();
    expect(await session.run(`const rows = [1, 2, 3]; const next = rows.nothing.at; ${end}`)).toMatchObject({
      status: "failed",
      error: { kind: "runtime" },
    });
    expect(await session.value("return [rows.length, typeof next]")).toEqual([3, "undefined"]);
    expect(await session.run(`const next = 5; ${end}`)).toMatchObject({ status: "completed" });
    expect(await session.value("next")).toBe(5);
  });

  it("say where they failed in the text that was sent", async () => {
    const session = new Session();
    const result = await session.run(`const a = 1, b = 2;\nlet c = a + b, d = c.x.y;${end}`);
    expect(result).toMatchObject({ error: { line: 2, column: 23 } });
    const first = await session.run(`const a = null.x;${end}`);
    expect(first).toMatchObject({ error: { line: 1, column: 15 } });
  });

  it("give way to a declaration of another kind", async () => {
    const session = new Session();
    await session.run(`let x = 1${end}`);
    await session.run(`function x() { return 2 }${end}`);
    expect(await session.value("x()")).toBe(2);
    await session.run(`class x { static y = 3 }${end}`);
    expect(await session.value("x.y")).toBe(3);
    await session.run(`const x = 4${end}`);
    expect(await session.value("return x")).toBe(4);
  });
});

describe("a session's script", () => {
  it("has the value of its last expression, and none when it ends in a declaration", async () => {
    const session = new Session();
    expect(await session.value("const a = [1]; a.length")).toBe(1);
    expect(await session.value("const b = [1];")).toBeUndefined();
    expect(await session.value("RESULT = 5; const c = 1")).toBe(5);
  });

  it("shares one variable between closures of several scripts", async () => {
    const session = new Session();
    await session.run("let count = 0; const inc = () => ++count; return inc()");
    await session.run("count = 10; return inc()");
    expect(await session.value("return [inc(), count]")).toEqual([12, 12]);
  });

  it("keeps block scopes to themselves", async () => {
    const session = new Session();
    await session.run("{ let inner = 1; const also = 2 } for (let i = 0; i < 3; i++); if (true) { class C {} }");
    expect(await session.value("[typeof inner, typeof also, typeof i, typeof C].join()")).toBe(
      "undefined,undefined,undefined,undefined",
    );
  });

  it("may declare RESULT and inputs, and the next one has its own again", async () => {
    const session = new Session();
    expect(await session.value("const RESULT = 1")).toBe(1);
    expect(await session.value("2")).toBe(2);
    await session.run("var inputs = 'mine'");
    expect(await session.run("return inputs.n", { n: 5 })).toMatchObject({ status: "completed", value: 5 });
  });

  it("finds its host's functions whatever an earlier one declared in their place", async () => {
    const session = new Session();
    await session.run("const call_tool = () => 'fake'; let tools = 1; function search_tools() {}; return 1");
    expect(await session.value("return await call_tool('x')")).toEqual({ name: "x" });
    expect(await session.value("return await tools.x()")).toEqual({ name: "x" });
  });

  it("reports text that is no script as every script does", async () => {
    const session = new Session();
    expect(await session.run("let a = 1; let a = 2;")).toMatchObject({ error: { kind: "syntax" } });
    expect(await session.run("const = 1")).toMatchObject({ error: { kind: "syntax", line: 1 } });
  });

  it("calls a function that is all there is", async () => {
    const session = new Session();
    expect(await session.value("async () => { return 5 }")).toBe(5);
    expect(await session.value("```js\nconst z = 6;\nreturn z\n```")).toBe(6);
    expect(await session.value("z")).toBe(6);
  });

  it.each(["let x = 1; return x", "const x = await call_tool('x'); x", "null.x", "return ("])(
    "leaves nothing else behind, so that memory does not grow: %s",
    async (code) => {
      const session = new Session();
      for (let count = 0; count < 20; count++) await session.run(code);
      const before = session.bytes;
      for (let count = 0; count < 60; count++) await session.run(code);
      expect(session.bytes).toBeLessThan(before + 400);
    },
  );
});
