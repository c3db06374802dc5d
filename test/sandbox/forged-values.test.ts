import { describe, expect, it } from "vitest";
import { inProcessSandbox } from "../../src/sandbox/quickjs/in-process.js";
import { decodeValue, reviveValue } from "../../src/sandbox/values/decode.js";
import { encodeValue, TAG } from "../../src/sandbox/values/encode.js";
import { isPlainJson } from "../../src/sandbox/values/plain.js";
import type { SandboxRunOptions } from "../../src/sandbox/provider.js";

const sandbox = inProcessSandbox({ limits: { timeoutMs: 2_000 } });
const run = (code: string, options: SandboxRunOptions = {}) => sandbox.run(code, options);

/** Source of an object that gives its keys when they are listed, and denies the tag when it is asked for that alone. */
const forging = (tag: string, v: string): string => `(() => { let asked = 0;
  return new Proxy({}, {
    ownKeys: () => ["${TAG}", "v"],
    get: (_, key) => (key === "${TAG}" ? "${tag}" : key === "v" ? ${v} : undefined),
    getOwnPropertyDescriptor: (_, key) => key === "${TAG}" && asked++ > 0 ? undefined : { value: 1, enumerable: true, configurable: true },
  }) })()`;

/** Source of a length that is a number where it is compared, and JSON of ours where it is written. */
const twoFaced = (most: string): string =>
  `({ [Symbol.toPrimitive]: (hint) => (hint === "number" ? ${most} : ']",{"${TAG}":"bigint","v":"12"},"') })`;

describe("a tag in a script's own text", () => {
  it.each([
    ["bigint", '"12"'],
    ["Set", "{ length: 1e300 }"],
    ["Map", '"abc"'],
    ["RegExp", "null"],
  ])("is not made by a Proxy that tells two lists of keys: %s", async (tag, v) => {
    const result = await run(`return ${forging(tag, v)}`);
    expect(result).toMatchObject({ status: "completed", value: { [TAG]: tag } });
    const args: unknown[] = [];
    await run(`await take(${forging(tag, v)})`, { externalFunctions: { take: (value: unknown) => args.push(value) } });
    expect(args).toMatchObject([{ [TAG]: tag }]);
  });

  it("is not made by a length that is no number", async () => {
    const bytes = `Object.defineProperty(Object.getPrototypeOf(Uint8Array.prototype), "length", { get: () => ${twoFaced("1e9")} });
      return [new Uint8Array(3), "z".repeat(40000)]`;
    const array = `let deep = new Proxy([1], { get: (target, key) => (key === "length" ? ${twoFaced("1")} : target[key]) });
      for (let i = 0; i < 20; i++) deep = [deep];
      return [deep, "z".repeat(400000)]`;
    for (const code of [bytes, array]) {
      const result = await run(code, { resultOverflow: "truncate" });
      expect(JSON.stringify(result)).not.toContain("12n");
      expect(result).toMatchObject({ status: "completed" });
      expect((result as { value: unknown[] }).value).toHaveLength(2);
    }
  });
});

describe("text with tags that no encoder made", () => {
  const odd: unknown[] = [
    ..."undefined number bigint ref Date RegExp Error Map Set Object Uint8Array ArrayBuffer BigInt64Array constructor __proto__".split(
      " ",
    ),
    null,
    7,
    {},
    [],
  ];
  const contents: unknown[] = [
    undefined,
    null,
    "abc",
    "99999999999999999999x",
    -1,
    1e300,
    true,
    [],
    {},
    { length: 1e300 },
    ["(", "g"],
    ["a", "gg"],
    [null, null],
    [["__proto__", { polluted: 1 }]],
    [[{}, 1]],
    [1, [2]],
    ["a".repeat(3)],
  ];

  it("is read without an exception, an endless loop or a changed prototype", () => {
    for (const tag of odd) {
      for (const v of contents) {
        const text = JSON.stringify({ list: [{ [TAG]: tag, v }], after: 1 });
        expect(decodeValue(text)).toMatchObject({ after: 1 });
      }
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it("keeps its other parts: what a bad tag stands for is null or empty", () => {
    const read = (tag: string, v: unknown): unknown => reviveValue({ [TAG]: tag, v });
    expect([read("bigint", "x"), read("Set", { length: 3 }), read("Map", 5), read("nobody", 1)]).toEqual([
      null,
      new Set(),
      new Map(),
      null,
    ]);
  });
});

describe("a regular expression that only the script's engine knows", () => {
  it.each(["/(?i:a)b/", "/(?<n>x)|(?<n>y)/", "Object.defineProperty(/a/u, 'unicodeSets', { value: true })"])(
    "comes out as one or as text, never as a failure: %s",
    async (source) => {
      const result = await run(`return [${source}, 1]`);
      expect(result).toMatchObject({ status: "completed", value: [expect.anything(), 1] });
      const taken = await run(`return await take(${source})`, { externalFunctions: { take: () => "taken" } });
      expect(taken).toMatchObject({ status: "completed", value: "taken" });
    },
  );
});

describe("values that would keep the host busy", () => {
  it.each<[string, string]>([
    ["shared parts of shared parts", "let a = [1]; for (let i = 0; i < 60; i++) a = [a, a]; return a"],
    ["a text in many places", "const b = ['x'.repeat(9000)], c = Array(200).fill(b); return Array(200).fill(c)"],
    [
      "objects that all hold each other",
      "const n = Array.from({ length: 30 }, () => []); for (const x of n) x.push(...n); return n",
    ],
  ])("count as they are written out: %s", async (_what, code) => {
    expect(await run(code)).toMatchObject({ status: "failed", error: { kind: "limit" } });
  });

  it("are cut like any other where that was asked for", async () => {
    const code = "let a = [1]; for (let i = 0; i < 60; i++) a = [a, a]; return a";
    const result = await run(code, { resultOverflow: "truncate" });
    expect(result).toMatchObject({ status: "completed", notes: [expect.stringContaining("truncated")] });
    expect(JSON.stringify((result as { value: unknown }).value).length).toBeLessThan(32_768);
  });

  it("do so no longer than it takes to count them, in the host's own look at a value", () => {
    let dag: unknown = [1];
    for (let index = 0; index < 60; index++) dag = [dag, dag];
    const started = performance.now();
    expect(isPlainJson(dag)).toBe(false);
    expect(performance.now() - started).toBeLessThan(1_000);
  });

  it("do not come in as collections of keys that V8 hashes alike, or as endless digits", async () => {
    const taken: unknown[] = [];
    const take = (value: unknown): void => void taken.push(value);
    const message = async (expression: string): Promise<unknown> => {
      const code = `try { await take(${expression}); return "taken" } catch (e) { return e.kind + ": " + e.message }`;
      const result = await run(code, { externalFunctions: { take } });
      return result.status === "completed" ? result.value : result;
    };
    expect(await message("new Set(Array.from({ length: 5000 }, (_, i) => i))")).toMatch(/^limit: .*array/);
    expect(await message("new Map(Array.from({ length: 5000 }, (_, i) => [BigInt(i), 1]))")).toMatch(/^limit: /);
    expect(await message("10n ** 20000n")).toMatch(/^limit: .*text/);
    expect(taken).toEqual([]);
    expect(await message("new Set(Array.from({ length: 5000 }, (_, i) => 'k' + i))")).toBe("taken");
    expect(await message("new Set(Array.from({ length: 4000 }, (_, i) => i))")).toBe("taken");
  });

  it("encode shared parts once where nothing limits their size", () => {
    const part = { text: "x".repeat(100) };
    const { text } = encodeValue([part, part, part], Infinity);
    expect(text?.match(/x{100}/g)).toHaveLength(1);
  });
});
