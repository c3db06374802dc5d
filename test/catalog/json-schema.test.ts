import { describe, expect, it } from "vitest";
import {
  acceptsProperty,
  isNullable,
  keyword,
  membersOf,
  parametersOf,
  pruneDefinitions,
  resolveReference,
  type SchemaObject,
} from "../../src/catalog/json-schema.js";
import { THEN } from "./random-schemas.js";

describe("references", () => {
  const root = {
    $id: "https://example.test/root.json",
    $defs: {
      "a/b": { type: "string" },
      "x~y": { type: "number" },
      "sp ace": { type: "null" },
      named: { $anchor: "here" },
    },
    properties: { list: { items: [{ const: 1 }] } },
  };

  it.each([
    ["#", root],
    ["#/$defs/a~1b", { type: "string" }],
    ["#/$defs/x~0y", { type: "number" }],
    ["#/$defs/sp%20ace", { type: "null" }],
    ["#/properties/list/items/0", { const: 1 }],
    ["#here", { $anchor: "here" }],
    ["https://example.test/root.json#/$defs/a~1b", { type: "string" }],
  ])("%s is found", (reference, schema) => {
    expect(resolveReference(root, reference)).toEqual({ schema });
  });

  it.each([
    "#/$defs/none",
    "#/__proto__",
    "#/$defs/constructor",
    "https://else.test/x.json",
    "file:///etc/passwd",
    "x.json#/a",
  ])("%s is not, and nothing is fetched", (reference) => {
    expect(resolveReference(root, reference)).toBeUndefined();
  });
});

describe("parameters", () => {
  const schema = {
    properties: { id: { type: "string" }, refused: false },
    required: ["id", "undeclared"],
    allOf: [{ $ref: "#/$defs/paged" }, { if: {}, [THEN]: { properties: { unit: {} } } }],
    anyOf: [
      { properties: { url: {} }, required: ["url", "both"] },
      { properties: { text: {} }, required: ["text", "both"] },
    ],
    $defs: {
      paged: { properties: { page: { type: "integer" } }, required: ["page"], allOf: [{ $ref: "#/$defs/paged" }] },
    },
  };

  it("come from the schema, what it refers to and all of its branches", () => {
    const parameters = parametersOf(schema);
    expect(parameters.map(({ name }) => name).sort()).toEqual(
      ["id", "refused", "page", "unit", "url", "text", "both", "undeclared"].sort(),
    );
    expect(
      parameters
        .filter(({ required }) => required)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(["both", "id", "page", "undeclared"].sort());
  });

  it("are accepted where a schema says so, not where it is silent or refuses", () => {
    for (const name of ["id", "page", "url", "text", "unit"]) expect(acceptsProperty(schema, name)).toBe(true);
    for (const name of ["refused", "other", "__proto__", "toString"]) expect(acceptsProperty(schema, name)).toBe(false);
    expect(acceptsProperty({ type: "object" }, "x")).toBe(false);
    expect(acceptsProperty({ additionalProperties: true }, "x")).toBe(true);
    expect(acceptsProperty({ additionalProperties: { type: "string" } }, "x")).toBe(true);
    expect(acceptsProperty({ additionalProperties: false, properties: { x: true } }, "x")).toBe(true);
    expect(acceptsProperty(JSON.parse('{"properties":{"__proto__":{}}}'), "__proto__")).toBe(true);
  });

  it("hostile schemas have none, and never throw", () => {
    const circular: Record<string, unknown> = { allOf: [] };
    circular["allOf"] = [circular, { anyOf: [circular] }];
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    for (const value of [
      circular,
      revoked.proxy,
      null,
      7,
      "x",
      [],
      { properties: 7, required: {} },
      { allOf: [null] },
    ]) {
      expect(parametersOf(value)).toEqual([]);
      expect(acceptsProperty(value, "x")).toBe(false);
      expect(isNullable(value)).toBe(false);
    }
    expect(membersOf(revoked.proxy)).toEqual([]);
    expect(
      keyword(
        {
          get type(): unknown {
            throw new Error("no");
          },
        },
        "type",
      ),
    ).toBeUndefined();
  });
});

describe("null", () => {
  const root = { $defs: { maybe: { type: ["string", "null"] }, never: { type: "string" } } };
  it.each([
    [{ type: "string", nullable: true }, true],
    [{ type: ["integer", "null"] }, true],
    [{ enum: ["a", null] }, true],
    [{ const: null }, true],
    [{ anyOf: [{ type: "string" }, { type: "null" }] }, true],
    [{ oneOf: [{ $ref: "#/$defs/never" }, { $ref: "#/$defs/maybe" }] }, true],
    [{ allOf: [{ $ref: "#/$defs/maybe" }, {}] }, true],
    [{ allOf: [{ $ref: "#/$defs/maybe" }, { type: "string" }] }, false],
    [{ type: "string", enum: ["a", null] }, false],
    [{ $ref: "#/$defs/never" }, false],
    [{}, false],
    [true, false],
  ])("%j: %s", (schema, nullable) => {
    expect(isNullable(schema, root)).toBe(nullable);
  });
});

describe("unreachable definitions", () => {
  it("are left out, reached ones stay, also through each other", () => {
    const schema: SchemaObject = {
      type: "object",
      properties: { a: { $ref: "#/$defs/A" }, b: { $ref: "#/$defs/x~1y/properties/z" }, dead: { type: "null" } },
      $defs: { A: { $ref: "#/definitions/B" }, dead: { $ref: "#/$defs/deader" }, deader: {}, "x/y": {} },
      definitions: { B: { items: { $ref: "#/$defs/A" } }, gone: {} },
    };
    const pruned = pruneDefinitions(schema);
    expect(Object.keys(pruned["$defs"] as object)).toEqual(["A", "x/y"]);
    expect(Object.keys(pruned["definitions"] as object)).toEqual(["B"]);
    expect(pruned["properties"]).toBe(schema["properties"]);
    expect(Object.keys(schema["$defs"] as object)).toHaveLength(4);
  });

  it("a root that is only a reference keeps what it refers to", () => {
    const schema = { $ref: "#/$defs/Root", $defs: { Root: { type: "object" }, dead: {} } };
    expect(pruneDefinitions(schema)).toEqual({ $ref: "#/$defs/Root", $defs: { Root: { type: "object" } } });
  });

  it.each([
    [{ properties: { a: { $ref: "#anchor" } }, $defs: { x: { $anchor: "anchor" } } }],
    [{ properties: { a: { $id: "other.json", $ref: "#/$defs/x" } }, $defs: { x: {} } }],
    [{ properties: { a: { $ref: "other.json" } }, $defs: { x: {} } }],
    [{ properties: { a: { $ref: "#/$defs/x" } }, $defs: { x: {} } }],
    [{ properties: {} }],
  ])("the same object is given where nothing is dead for certain: %j", (schema) => {
    expect(pruneDefinitions(schema)).toBe(schema);
  });

  it("circular and very deep schemas are no trouble", () => {
    const circular: Record<string, unknown> = { $defs: { dead: {} } };
    circular["properties"] = { self: circular };
    expect(pruneDefinitions(circular)).not.toHaveProperty("$defs");
    let deep: unknown = { $ref: "#/$defs/x" };
    for (let level = 0; level < 50_000; level++) deep = { items: deep };
    expect(pruneDefinitions({ items: deep, $defs: { x: {}, dead: {} } })["$defs"]).toEqual({ x: {} });
  });
});
