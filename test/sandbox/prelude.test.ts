import { describe, expect, it } from "vitest";
import { inProcessSandbox } from "../../src/sandbox/quickjs/in-process.js";
import type { SandboxRunOptions } from "../../src/sandbox/provider.js";

const sandbox = inProcessSandbox();

async function valueOf(code: string, options: SandboxRunOptions = {}): Promise<unknown> {
  const result = await sandbox.run(code, options);
  if (result.status !== "completed") throw new Error(JSON.stringify(result));
  return result.value;
}

/** Of the language itself. */
const LANGUAGE =
  "AggregateError Array ArrayBuffer BigInt BigInt64Array BigUint64Array Boolean DataView Date Error EvalError Float16Array Float32Array Float64Array Function Infinity Int16Array Int32Array Int8Array InternalError Iterator JSON Map Math NaN Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set String Symbol SyntaxError TypeError URIError Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakSet decodeURI decodeURIComponent encodeURI encodeURIComponent escape eval globalThis isFinite isNaN parseFloat parseInt undefined unescape";
/** Of the prelude. */
const PRELUDE =
  "AbortController AbortSignal DOMException TextDecoder TextEncoder URL URLSearchParams atob btoa clearImmediate clearInterval clearTimeout console crypto performance queueMicrotask setImmediate setInterval setTimeout sleep structuredClone";

describe("a script", () => {
  it("exposes only the reviewed global surface", async () => {
    const names = (await valueOf("return Object.getOwnPropertyNames(globalThis)")) as string[];
    expect(names.sort()).toEqual(`${LANGUAGE} ${PRELUDE}`.split(" ").sort());
  });

  it("finds besides it its functions, its inputs, and tools where there is call_tool", async () => {
    const names = async (options: SandboxRunOptions): Promise<string[]> => {
      const all = (await valueOf("return Object.getOwnPropertyNames(globalThis)", options)) as string[];
      const known = new Set(`${LANGUAGE} ${PRELUDE}`.split(" "));
      return all.filter((name) => !known.has(name)).sort();
    };
    expect(await names({ externalFunctions: { call_tool: () => 1, emit: () => 1 } })).toEqual([
      "call_tool",
      "emit",
      "tools",
    ]);
    expect(await names({ inputs: { rows: [1] } })).toEqual(["inputs", "rows"]);
  });

  it("sees no global in a loop over the global object, and can replace each", async () => {
    expect(await valueOf("const seen = []; for (const name in globalThis) seen.push(name); return seen")).toEqual([]);
    const code = `for (const name of ${JSON.stringify(PRELUDE.split(" "))}) globalThis[name] = name;
      return ${JSON.stringify(PRELUDE.split(" "))}.every((name) => globalThis[name] === name)`;
    expect(await valueOf(code)).toBe(true);
  });

  it("gets its inputs as globals and as one object", async () => {
    const inputs = { rows: [1, 2], name: "x", constructor: 3 };
    expect(
      await valueOf("return [rows, name, inputs.rows === rows, inputs.constructor, Object.keys(inputs)]", { inputs }),
    ).toEqual([[1, 2], "x", true, 3, ["rows", "name", "constructor"]]);
    expect(await valueOf("return inputs", { inputs: { inputs: { a: 1 } } })).toEqual({ a: 1 });
  });

  it("emits content by a function of that name", async () => {
    const emitted: unknown[] = [];
    const code = 'await emit({ type: "text", text: "a" }); await emit("b"); return 1';
    await valueOf(code, { externalFunctions: { emit: (content: unknown) => void emitted.push(content) } });
    expect(emitted).toEqual([{ type: "text", text: "a" }, "b"]);
  });
});

describe("progress", () => {
  async function reportsOf(
    code: string,
    answer: () => unknown = () => undefined,
  ): Promise<{ reports: unknown[][]; result: unknown }> {
    const reports: unknown[][] = [];
    const progress = (...report: unknown[]): unknown => {
      reports.push(report);
      return answer();
    };
    const result = await sandbox.run(code, { externalFunctions: { progress } });
    return { reports, result };
  }

  it("reaches the host at once, with what was given", async () => {
    const { reports } = await reportsOf("progress(1); return 1");
    expect(reports).toEqual([[1]]);
    expect((await reportsOf("progress(1, 2, 'half'); return 1")).reports).toEqual([[1, 2, "half"]]);
  });

  it("is sent at most four times a second, and the last one always", async () => {
    const code = "for (let i = 1; i <= 60; i++) { progress(i, 60); await sleep(10) } return 1";
    const { reports } = await reportsOf(code);
    expect(reports.length).toBeGreaterThanOrEqual(3);
    expect(reports.length).toBeLessThanOrEqual(6);
    expect(reports.at(-1)).toEqual([60, 60]);
    expect((await reportsOf("for (let i = 1; i <= 1000; i++) progress(i); return 1")).reports).toEqual([[1], [1000]]);
  });

  it("is sent also while the script waits", async () => {
    const { reports } = await reportsOf("progress(1); progress(2); await sleep(400); progress(3); return 1");
    expect(reports).toEqual([[1], [2], [3]].slice(0, reports.length));
    expect(reports).toContainEqual([2]);
  });

  it("never makes a script fail, and is no call that had to be awaited", async () => {
    const { result } = await reportsOf("progress(1); await progress(2); return 'done'", () => {
      throw new Error("nobody listens");
    });
    expect(result).toMatchObject({ status: "completed", value: "done" });
    const failed = await reportsOf("progress(1); null.x", () => new Promise(() => {}));
    expect(failed.result).toMatchObject({ status: "failed" });
    expect((failed.result as { error: { hint?: string } }).error.hint).toBeUndefined();
  });
});

describe("console", () => {
  async function logged(code: string): Promise<string[]> {
    const result = await sandbox.run(code, {});
    return (result.logs ?? []).map(({ level, text }) => (level === "log" ? text : `${level}: ${text}`));
  }

  it.each<[string, string[]]>([
    ["console.log('a', 1, { b: [1, 'x'] }, null)", ["a 1 { b: [ 1, 'x' ] } null"]],
    ["console.log('%s is %d%%', 'x', 5)", ["x is 5%"]],
    [
      "console.info(1); console.debug(2); console.warn(3); console.error(4)",
      ["info: 1", "debug: 2", "warn: 3", "error: 4"],
    ],
    [
      "console.group('g'); console.log('a\\nb'); console.group(); console.log('c'); console.groupEnd(); console.groupEnd(); console.groupEnd(); console.log('d')",
      ["g", "  a\n  b", "    c", "d"],
    ],
    [
      "console.count(); console.count('x'); console.count('x'); console.countReset('x'); console.count('x'); console.count('__proto__')",
      ["default: 1", "x: 1", "x: 2", "x: 1", "__proto__: 1"],
    ],
    [
      "console.assert(1 === 1, 'no'); console.assert(false); console.assert(0, 'rows: %d', 3)",
      ["error: Assertion failed", "error: Assertion failed: rows: 3"],
    ],
    [
      "console.dir({ a: 1 }); console.dirxml('x'); console.trace('here'); console.clear()",
      ["{ a: 1 }", "x", "debug: Trace: here"],
    ],
    ["console.timeEnd('none')", ["warn: There is no timer none for console.time"]],
    [
      "console.table([{ id: 1, name: 'Ada' }, { id: 22, name: 'Grace', paid: true }])",
      ["(index) | id | name  | paid\n0       | 1  | Ada   | \n1       | 22 | Grace | true"],
    ],
    ["console.table([{ a: 1, b: 2 }], ['b'])", ["(index) | b\n0       | 2"]],
    ["console.table(['x', 2])", ["(index) | Values\n0       | x\n1       | 2"]],
    [
      "console.table({ r: { __proto__: null, __proto: 1 } }); console.table(5)",
      ["(index) | __proto\nr       | 1", "5"],
    ],
  ])("%s", async (code, lines) => {
    expect(await logged(code)).toEqual(lines);
  });

  it("measures time", async () => {
    const [between = "", end = "", again] = await logged(
      "console.time('t'); await sleep(15); console.timeLog('t', 'rows', 3); console.timeEnd('t'); console.timeEnd('t')",
    );
    expect(between).toMatch(/^t: \d+ms rows 3$/);
    expect(Number.parseInt(end.slice(3), 10)).toBeGreaterThanOrEqual(14);
    expect(again).toMatch(/^warn: There is no timer t/);
  });

  it("keeps tables small, and within the limit of the log", async () => {
    const code = "console.table(Array.from({ length: 5000 }, (_, i) => ({ i, text: 'x'.repeat(500) })))";
    const table = (await logged(code))[0] ?? "";
    expect(table.split("\n").at(-1)).toBe("... 4900 more rows");
    expect(table.length).toBeLessThan(8192);
    const limited = await sandbox.run(code, { limits: { maxLogBytes: 1000 } });
    expect(limited.logs?.map(({ text }) => text)).toEqual([
      "[log limit of 1000 bytes reached: further output is dropped]",
    ]);
  });
});

describe("a script that replaces everything", () => {
  it("still ends, logs, reports progress and gives its result", async () => {
    const reports: unknown[] = [];
    const code = `
      const stolen = () => { throw new Error("stolen") };
      const { defineProperty } = Object, { ownKeys } = Reflect, types = [Array, Object, String, Map, Promise, Function, Number];
      for (let t = 0; t < types.length; t++) {
        const type = types[t].prototype, keys = ownKeys(type);
        for (let k = 0; k < keys.length; k++) if (keys[k] !== "constructor") try { defineProperty(type, keys[k], { get: stolen, set: stolen }) } catch {}
      }
      console.group("g"); console.table([{ a: 1 }]); console.count(); console.log({ b: 2 });
      progress(1, 2);
      return { list: [1], promise: ask() };`;
    const result = await sandbox.run(code, {
      externalFunctions: { ask: () => "answer", progress: (...report: unknown[]) => void reports.push(report) },
    });
    expect(result).toMatchObject({ status: "completed", value: { list: [1], promise: "answer" } });
    expect(result.logs?.map(({ text }) => text)).toEqual([
      "g",
      "  (index) | a\n  0       | 1",
      "  default: 1",
      "  { b: 2 }",
    ]);
    expect(reports).toEqual([[1, 2]]);
  });
});
