import { describe, expect, it } from "vitest";
import { argumentCheck } from "../../src/calls/validate.js";
import type { Tool } from "../../src/catalog/tool.js";

const toolOf = (inputSchema: object): Tool => ({ name: "t", inputSchema: { type: "object", ...inputSchema } });
const faults = async (schema: object, args: unknown): Promise<string[] | undefined> =>
  (await argumentCheck(toolOf(schema)))(args);

const ADD = { properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] };

describe("arguments", () => {
  it("that fit have no faults", async () => {
    expect(await faults(ADD, { a: 1, b: 2 })).toBeUndefined();
  });

  it("are told every fault at once, with the path and without the value", async () => {
    expect(await faults(ADD, { a: "secret" })).toEqual(["b is missing (required)", "a: expected number, got string"]);
  });

  it.each(["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema", undefined])(
    "are checked by the words of dialect %s",
    async ($schema) => {
      const schema = {
        ...($schema ? { $schema } : {}),
        $defs: { n: { type: "integer" } },
        properties: { n: { $ref: "#/$defs/n" } },
      };
      expect(await faults(schema, { n: 1.5 })).toEqual(["n: expected integer, got number"]);
      expect(await faults(schema, { n: 1 })).toBeUndefined();
    },
  );

  it("that are unknown get the nearest name", async () => {
    const schema = { properties: { page_size: {} }, additionalProperties: false };
    expect(await faults(schema, { pageSize: 1 })).toEqual(['unknown parameter "pageSize"; did you mean "page_size"?']);
  });

  it("name the values of an enum and the index in a list", async () => {
    const schema = { properties: { rows: { type: "array", items: { enum: ["a", "b"] } } } };
    expect(await faults(schema, { rows: ["a", "x"] })).toEqual(['rows[1]: expected one of "a", "b"']);
  });

  it("are left as they were sent", async () => {
    const args = { a: 1, b: 2, extra: "x" };
    await faults({ ...ADD, properties: { ...ADD.properties, c: { default: 3 } } }, args);
    expect(args).toEqual({ a: 1, b: 2, extra: "x" });
  });
});

describe("a schema that cannot be judged admits everything:", () => {
  it.each([
    ["a foreign reference", { properties: { a: { $ref: "https://example.test/x.json" } } }],
    ["nonsense", { properties: { a: { type: "banana" } } }],
    ["an asynchronous one", { $async: true, ...ADD }],
    ["a pattern that needs backtracking", { properties: { a: { type: "string", pattern: "(a)\\1" } } }],
  ])("%s", async (_what, schema) => {
    expect(await faults(schema, { a: "x" })).toBeUndefined();
  });
});

describe("hostile input", () => {
  it("cannot make a pattern of a schema hang the host", async () => {
    const schema = { properties: { a: { type: "string", pattern: "^(a+)+$" } } };
    const start = performance.now();
    expect(await faults(schema, { a: `${"a".repeat(50_000)}!` })).toEqual([expect.stringContaining("pattern")]);
    expect(performance.now() - start).toBeLessThan(2000);
  });

  it("cannot make a list of a hundred thousand faults", async () => {
    const schema = { properties: { a: { type: "array", items: { type: "string" }, uniqueItems: true } } };
    const start = performance.now();
    const found = await faults(schema, { a: Array.from({ length: 200_000 }, (_, id) => ({ id })) });
    expect(found).toHaveLength(1);
    expect(performance.now() - start).toBeLessThan(1000);
  });

  it("with the names of prototypes is data", async () => {
    const schema = {
      properties: { constructor: { type: "string" } },
      additionalProperties: false,
      required: ["toString"],
    };
    const args: unknown = JSON.parse('{"__proto__": 1, "constructor": "x"}');
    expect(await faults(schema, args)).toEqual([
      "toString is missing (required)",
      expect.stringContaining('unknown parameter "__proto__"'),
    ]);
  });

  it("of two tools with one $id is checked by each tool's own schema", async () => {
    expect(await faults({ $id: "https://x.test/s", ...ADD }, { a: 1, b: 2 })).toBeUndefined();
    expect(await faults({ $id: "https://x.test/s", required: ["z"] }, { a: 1 })).toEqual(["z is missing (required)"]);
  });
});

describe("compiled checks", () => {
  it("hold every pattern apart, in one schema and across schemas", async () => {
    const schema = (a: string, b: string) => ({
      properties: { a: { type: "string", pattern: a }, b: { type: "string", pattern: b } },
    });
    expect(await faults(schema("^x+$", "^y+$"), { a: "xx", b: "xx" })).toEqual([
      expect.stringMatching(/^b: .*\^y\+\$/),
    ]);
    expect(await faults(schema("^z+$", "^x+$"), { a: "xx", b: "xx" })).toEqual([
      expect.stringMatching(/^a: .*\^z\+\$/),
    ]);
  });

  it("are kept by the text of the schema, not by the object alone", async () => {
    const first = await argumentCheck(toolOf(ADD));
    expect(await argumentCheck(toolOf(structuredClone(ADD)))).toBe(first);
  });
});
