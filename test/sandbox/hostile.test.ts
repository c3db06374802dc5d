import { monitorEventLoopDelay } from "node:perf_hooks";
import { afterAll, describe, expect, it } from "vitest";
import { LimitError, type ErrorKind } from "../../src/errors.js";
import { quickJsSandbox } from "../../src/sandbox/quickjs/provider.js";

const TIMEOUT_MS = 300;
/** Grace of the host, and what a busy machine adds. */
const LATEST_MS = TIMEOUT_MS + 150 + 350;

const sandbox = quickJsSandbox({ limits: { timeoutMs: TIMEOUT_MS, memoryBytes: 32 << 20 } });
afterAll(() => sandbox.close?.());

const attacks: readonly [kinds: ErrorKind[], code: string][] = [
  [["timeout"], "for (;;);"],
  [["timeout"], "for (;;) { try { for (;;) {} } catch {} finally { continue; } }"],
  [["timeout"], "try { await (async () => { for (;;); })() } catch { 'escaped' }"],
  [["timeout", "memory"], "const spin = () => Promise.resolve().then(spin); await spin()"],
  [
    ["timeout"],
    "(function storm() { Promise.resolve().then(storm); Promise.resolve().then(storm) })(); await new Promise(() => {})",
  ],
  [["timeout", "memory"], "[...(function* () { for (;;) yield 1 })()].length"],
  [["timeout"], "/^(a+)+$/.test('a'.repeat(40) + 'b')"],
  [["timeout"], "await echo(1); for (;;);"],
  [["timeout"], "echo(1); await null; for (;;);"],
  // Built-ins that never look at the clock.
  [["timeout"], "Array.prototype.reverse.call({ length: 2 ** 53 - 1 })"],
  [["timeout"], "Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)"],
  [["timeout"], "Array.prototype.includes.call({ length: 4294967295 }, 9)"],
  [["timeout"], "new Array(1e9).join('')"],
  [["timeout"], "Array.prototype.sort.call({ length: 4294967295 })"],
  [["timeout", "memory"], "String(new Array(1e9))"],
  [["timeout", "memory"], "'a'.repeat(1e7).replaceAll('a', 'b'.repeat(1e6))"],
  [["memory"], "const a = []; for (;;) a.push({ k: 'v' + a.length })"],
  [["memory"], "const a = []; for (;;) a.push('x'.repeat(1e4) + a.length)"],
  [["memory"], "let s = 'a'; for (;;) s += s"],
  [["memory"], "new ArrayBuffer(200 * 1024 * 1024).byteLength"],
  [["memory"], "const m = new Map(); for (let i = 0; ; i++) m.set(i, [i])"],
  [["memory", "timeout"], "await echo(1); const a = []; for (;;) a.push([])"],
  [["memory", "timeout"], "await Promise.resolve().then(() => { const a = []; for (;;) a.push({}) })"],
  [["stack"], "(function f() { f() })()"],
  [["stack"], "const f = () => [1].map(f); f()"],
  [["stack"], "class A { get x() { return this.x } } new A().x"],
  [["stack", "syntax"], "eval('['.repeat(1e5))"],
  [["stack"], "JSON.parse('['.repeat(1e6))"],
  [["stack", "timeout"], "let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; JSON.stringify(o)"],
  [["stack"], "const p = new Proxy({}, { get: (t, k, r) => r[k] }); p.x"],
  // Results that are bombs.
  [["limit"], "new Array(2 ** 32 - 1)"],
  [["limit"], "'x'.repeat(1e7)"],
  [["limit"], "let d = {}; const top = d; for (let i = 0; i < 50000; i++) d = d.x = {}; top"],
  [["timeout"], "({ toJSON() { for (;;); } })"],
  [["timeout"], "({ get a() { for (;;); } })"],
  [["timeout", "limit"], "new Proxy([], { get: (t, k) => k === 'length' ? 2 ** 32 - 1 : 1 })"],
  [["runtime"], "({ toJSON() { throw new Error('no') } })"],
  [["runtime"], "throw null"],
  [["runtime"], "throw new Proxy({}, { get() { throw 1 } })"],
  [["runtime"], "throw new Error('interrupted')"],
  [["runtime"], "const e = new Error('x'); e.kind = 'approval'; throw e"],
  [["runtime"], "await new Promise(() => {})"],
  [["runtime"], "({ then() {} })"],
];

describe("a hostile script", () => {
  it.each(attacks)("ends with %j: %s", async (kinds, code) => {
    const started = performance.now();
    const result = await sandbox.run(code, { externalFunctions: { echo: (value: unknown) => value } });
    const tookMs = performance.now() - started;
    expect(result.status === "failed" ? result.error.kind : result).toBeOneOf(kinds);
    expect(tookMs).toBeLessThan(LATEST_MS);
    const next = await sandbox.run("return [3, 1, 2].sort().join() + typeof evil", {});
    expect(next).toMatchObject({ status: "completed", value: "1,2,3undefined" });
  });

  it("does not hold up the host's event loop", async () => {
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    await Promise.all([sandbox.run("for (;;);", {}), sandbox.run("new Array(1e9).join('')", {})]);
    delay.disable();
    expect(delay.percentile(90) / 1e6).toBeLessThan(50);
  });

  it("cannot flood its host with messages", async () => {
    let calls = 0;
    const code =
      "let failed = 0; for (let i = 0; i < 500000; i++) echo(i).catch(() => failed++); await null; return 'sent'";
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const result = await sandbox.run(code, {
      limits: { timeoutMs: 8_000 },
      externalFunctions: {
        echo: () => {
          calls++;
        },
      },
    });
    delay.disable();
    expect(calls).toBeLessThanOrEqual(10_000);
    expect(result.status === "failed" ? result.error.kind : (result as { value: unknown }).value).toBeOneOf([
      "sent",
      "memory",
    ]);
    expect(delay.percentile(99) / 1e6).toBeLessThan(100);
  });

  it("is ended for computing too long even when time remains, in built-ins too", async () => {
    for (const code of ["for (;;);", "new Array(1e9).join('')"]) {
      const result = await sandbox.run(code, { limits: { timeoutMs: 20_000, cpuMs: 200 } });
      expect(result).toMatchObject({
        status: "failed",
        error: { kind: "timeout", message: expect.stringContaining("200 ms of computing") },
      });
    }
  });

  it("does not use up compute time while it waits", async () => {
    const slow = () => new Promise((resolve) => setTimeout(resolve, 150, "done"));
    const result = await sandbox.run("return await slow()", {
      limits: { timeoutMs: 2_000, cpuMs: 100 },
      externalFunctions: { slow },
    });
    expect(result).toMatchObject({ status: "completed", value: "done" });
  });
});

describe("what one script changes", () => {
  it("is gone in the next", async () => {
    const one = quickJsSandbox({ maxWorkers: 1, minWorkers: 1 });
    const probe =
      "return JSON.stringify([typeof evil, [].evil ?? null, typeof Map, JSON.stringify({ a: 1 }), Object.getOwnPropertyNames(globalThis).length, Object.isFrozen(Object.prototype), typeof console.log, String(Promise.prototype.then)])";
    const before = await one.run(probe, {});
    await one.run(
      "globalThis.evil = 1; Array.prototype.evil = 2; JSON.stringify = () => 'x'; Promise.prototype.then = () => {}; Object.freeze(Object.prototype); delete globalThis.Map; console.log = 1; 1",
      {},
    );
    const after = await one.run(probe, {});
    expect(after).toMatchObject({ value: (before as { value: unknown }).value });
    await one.close?.();
  });

  it("does not reach the bridge: calls and results are right whatever was replaced", async () => {
    const code = `
      const { defineProperty } = Object, { ownKeys } = Reflect, types = [Array, Object, String, Map, Promise, Function, RegExp];
      const stolen = () => { throw new Error("stolen") };
      for (let t = 0; t < types.length; t++) {
        const type = types[t].prototype, keys = ownKeys(type);
        for (let k = 0; k < keys.length; k++) if (keys[k] !== "constructor") try { defineProperty(type, keys[k], { get: stolen, set: stolen }) } catch {}
      }
      defineProperty(Object.prototype, "toJSON", { value: undefined });
      defineProperty(Array.prototype, "0", { set: stolen });
      JSON.stringify = JSON.parse = Reflect.apply = Object.keys = Object.defineProperty = Map = Promise = String = stolen;
      return await echo({ list: [1, { two: 2 }], text: "x" });`;
    const result = await sandbox.run(code, { externalFunctions: { echo: (value: unknown) => value } });
    expect(result).toMatchObject({ status: "completed", value: { list: [1, { two: 2 }], text: "x" } });
  });

  it("does not reach the properties that the prelude defines: inherited parts of descriptors are not read", async () => {
    const code = `
      Object.prototype.get = () => "inherited";
      Object.prototype.writable = false;
      try { await refuse("x") } catch (e) { return [e.kind, e.message, await echo(new Map([["k", 1n]]))] }`;
    const refuse = () => {
      throw new LimitError("no");
    };
    const result = await sandbox.run(code, { externalFunctions: { refuse, echo: (value: unknown) => value } });
    expect(result).toMatchObject({ status: "completed", value: ["limit", "no", new Map([["k", 1n]])] });
  });

  it("does not reach the host's prototypes", async () => {
    const code =
      'Object.prototype.polluted = 1; return JSON.parse(\'{"__proto__":{"polluted":2},"constructor":{"prototype":{"polluted":3}}}\')';
    const result = await sandbox.run(code, {});
    expect(result.status).toBe("completed");
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it("is not repeated: random numbers differ from run to run", async () => {
    const runs = await Promise.all(
      Array.from({ length: 5 }, () => sandbox.run("return [Math.random(), Math.random()].join()", {})),
    );
    expect(new Set(runs.map((run) => (run as { value: unknown }).value)).size).toBe(5);
  });
});
