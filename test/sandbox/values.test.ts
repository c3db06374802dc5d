import { describe, expect, it } from "vitest";
import { decodeValue } from "../../src/sandbox/values/decode.js";
import { encodeValue, MAX_VALUE_DEPTH, TAG, ValueLimit } from "../../src/sandbox/values/encode.js";
import { isPlainJson, toPlainJson } from "../../src/sandbox/values/plain.js";
import { base64ToBytes, bytesToBase64 } from "../../src/sandbox/values/base64.js";

const roundTrip = (value: unknown): unknown => decodeValue(encodeValue(value, 1e6).text as string);

describe("values as text", () => {
  it.each<[string, unknown]>([
    ["null", null],
    ["text with NUL and a lone surrogate", "a\0b\ud800"],
    ["numbers", [0, -1.5, 1e300, Number.MIN_VALUE]],
    ["NaN and infinities", [Number.NaN, Infinity, -Infinity]],
    ["a BigInt", 2n ** 80n],
    ["a Date", new Date(12345)],
    [
      "a Map with object keys",
      new Map<unknown, unknown>([
        [{ a: 1 }, new Set([1])],
        ["k", undefined],
      ]),
    ],
    ["a Set", new Set(["x", null, 3n])],
    ["a RegExp", /a+\/"b/gi],
    ["typed arrays", [Uint8Array.of(0, 255), Float64Array.of(1.5, Number.NaN), BigInt64Array.of(-1n)]],
    ["an ArrayBuffer", Uint8Array.of(1, 2, 3).buffer],
    ["undefined inside", { a: undefined, b: [undefined] }],
    ["keys of prototypes", JSON.parse('{"__proto__":{"x":1},"constructor":2,"toString":null}')],
  ])("keep %s", (_name, value) => {
    expect(roundTrip(value)).toEqual(value);
  });

  it("keep the sign of zero", () => {
    expect(Object.is(roundTrip(-0), -0)).toBe(true);
    expect(Object.is(roundTrip(0), 0)).toBe(true);
  });

  it("keep an error's name and message", () => {
    const error = roundTrip(new RangeError("too far")) as Error;
    expect([error instanceof Error, error.name, error.message]).toEqual([true, "RangeError", "too far"]);
  });

  it("keep cycles and shared parts", () => {
    const shared = { n: 1 };
    const value: { self?: unknown; list: unknown[] } = { list: [shared, shared, new Map([["m", shared]])] };
    value.self = value;
    const back = roundTrip(value) as typeof value;
    expect(back.self).toBe(back);
    expect(back.list[0]).toBe(back.list[1]);
    expect((back.list[2] as Map<string, unknown>).get("m")).toBe(back.list[0]);
  });

  it("keep shared parts behind what toJSON or a cut has made something else of", () => {
    const shared = { n: 1 };
    const text = { toJSON: () => "as text" };
    const object = { toJSON: () => ({ made: shared }) };
    expect(roundTrip([text, text, shared, shared])).toEqual(["as text", "as text", shared, shared]);
    expect(roundTrip([object, object, shared])).toEqual([{ made: shared }, { made: shared }, shared]);
    const shrink = { string: 10, items: 10, keys: 10, depth: 10 };
    const cut = encodeValue([new Uint8Array(50), shared, shared], 1e6, shrink).text as string;
    expect(decodeValue(cut)).toEqual(["[Uint8Array of 50 bytes]", shared, shared]);
    const endless: { toJSON: () => unknown } = { toJSON: () => [endless] };
    expect(() => encodeValue(endless, 1e6)).toThrow(ValueLimit);
  });

  it("cannot be forged: data that looks like a tag comes back as data", () => {
    for (const forged of [
      { [TAG]: "bigint", v: "1" },
      { [TAG]: "ref", v: 0 },
      { [TAG]: "Object", v: [["a", 1]] },
      [{ x: { [TAG]: "Map", v: [] } }],
      `{"${TAG}":"undefined"}`,
    ]) {
      expect(roundTrip(forged)).toEqual(forged);
    }
  });

  it("do not pollute prototypes", () => {
    const back = roundTrip(
      JSON.parse(`{"__proto__":{"polluted":1},"${TAG}":"Object","m":{"__proto__":{"polluted":2}}}`),
    ) as object;
    expect(Object.getPrototypeOf(back)).toBe(Object.prototype);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it("leave functions and symbols out and count them", () => {
    expect(encodeValue({ f() {}, s: Symbol("x"), list: [() => 1, 2] }, 1000)).toEqual({
      text: '{"list":[null,2]}',
      dropped: 3,
      cut: false,
    });
    expect(encodeValue(() => 1, 1000).text).toBeUndefined();
  });

  it("stop at the size limit, also for values that grow without end", () => {
    const endless = new Proxy([], { get: (_target, key) => (key === "length" ? 1e9 : "x".repeat(100)) });
    expect(() => encodeValue(endless, 10_000)).toThrow(ValueLimit);
    expect(() => encodeValue("x".repeat(20), 21)).toThrow(ValueLimit);
    expect(encodeValue("x".repeat(20), 22).text).toHaveLength(22);
  });

  it("stop at the depth limit", () => {
    let deep: unknown = 1;
    for (let level = 0; level < MAX_VALUE_DEPTH; level++) deep = [deep];
    expect(() => encodeValue(deep, 1e6)).not.toThrow();
    expect(() => encodeValue([deep], 1e6)).toThrow(ValueLimit);
  });

  it("shrink to valid values that say what is missing", () => {
    const limits = { string: 5, items: 2, keys: 2, depth: 1 };
    const { text, cut } = encodeValue(
      { long: "x".repeat(9), list: [1, 2, 3, { deep: { er: 1 } }], c: 1, d: 2 },
      1000,
      limits,
    );
    expect(cut).toBe(true);
    expect(JSON.parse(text as string)).toEqual({
      long: "xxxxx… [4 more characters]",
      list: [1, 2, "… 2 more items"],
      "…": "2 more keys",
    });
  });

  it("never cut a character in two", () => {
    const { text } = encodeValue("😀😀😀", 1000, { string: 3, items: 9, keys: 9, depth: 9 });
    expect(JSON.parse(text as string)).toMatch(/^😀…/u);
  });
});

describe("base64", () => {
  it.each([0, 1, 2, 3, 4, 5, 255, 256])("is that of Buffer for %i bytes", (length) => {
    const bytes = Uint8Array.from({ length }, (_, index) => (index * 73) & 255);
    const text = Buffer.from(bytes).toString("base64");
    expect(bytesToBase64(bytes)).toBe(text);
    expect([...base64ToBytes(text)]).toEqual([...bytes]);
  });
});

describe("plain JSON of a value", () => {
  it("follows the rules for models", () => {
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    expect(
      toPlainJson({
        big: 10n,
        nan: [Number.NaN, Infinity, -Infinity, -0],
        date: new Date(0),
        bytes: Uint8Array.of(1, 2),
        floats: Float32Array.of(1.5),
        set: new Set([1]),
        map: new Map([["k", 1]]),
        pairs: new Map([[1, 2]]),
        error: new TypeError("bad"),
        regex: /a/g,
        und: undefined,
        hole: [1, undefined],
        cycle,
      }),
    ).toEqual({
      big: "10",
      nan: ["NaN", "Infinity", "-Infinity", 0],
      date: "1970-01-01T00:00:00.000Z",
      bytes: "AQI=",
      floats: [1.5],
      set: [1],
      map: { k: 1 },
      pairs: [[1, 2]],
      error: { name: "TypeError", message: "bad" },
      regex: "/a/g",
      hole: [1, null],
      cycle: { self: "[Circular]" },
    });
  });

  it("ends for a small value with endless shared parts", () => {
    let dag: unknown[] = [1];
    for (let level = 0; level < 60; level++) dag = [dag, dag];
    expect(() => toPlainJson(dag)).toThrow(RangeError);
  });

  it("keeps a key named __proto__ as a key", () => {
    const value = toPlainJson(JSON.parse('{"__proto__":{"a":1}}')) as object;
    expect(JSON.stringify(value)).toBe('{"__proto__":{"a":1}}');
  });

  it("is recognised", () => {
    expect([{ a: [1, "x", null, true] }, [], "x"].every((value) => isPlainJson(value))).toBe(true);
    for (const other of [
      -0,
      Number.NaN,
      1n,
      undefined,
      { a: undefined },
      new Date(),
      new Map(),
      { [TAG]: 1 },
      { toJSON: 1 },
    ])
      expect(isPlainJson(other)).toBe(false);
  });
});
