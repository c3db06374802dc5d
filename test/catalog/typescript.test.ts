import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { propertyKey, stringLiteral } from "../../src/catalog/identifiers.js";
import { listOf, membersOf, pruneDefinitions, schemaObject } from "../../src/catalog/json-schema.js";
import type { Tool } from "../../src/catalog/tool.js";
import { valueText } from "../../src/catalog/type-docs.js";
import {
  declarations,
  MAX_DECLARATION_CHARACTERS,
  MAX_SIGNATURE_CHARACTERS,
  signature,
  signatures,
} from "../../src/catalog/typescript.js";
import { commentText } from "../../src/catalog/untrusted-text.js";
import { THEN } from "./random-schemas.js";

const toolOf = (inputSchema: unknown, outputSchema?: unknown): Tool => ({
  name: "tool",
  inputSchema: inputSchema as Tool["inputSchema"],
  ...(outputSchema === undefined ? {} : { outputSchema: outputSchema as Record<string, unknown> }),
});

/** The type of one property, as the signature shows it. */
function typeOf(property: unknown, rest: Record<string, unknown> = {}): string {
  const text = signature(toolOf({ type: "object", properties: { p: property }, ...rest }));
  return text.replace(/^tools\.tool\(args\?: \{ p\?: (.*) \}\): Promise<unknown>/, "$1");
}

describe("the signature of a tool", () => {
  it("is one line that a script can copy", () => {
    const tool: Tool = {
      name: "create_issue",
      inputSchema: {
        type: "object",
        properties: {
          owner: { type: "string" },
          labels: { type: "array", items: { type: "string" } },
          priority: { type: "integer", default: 3 },
        },
        required: ["owner"],
      },
      outputSchema: { type: "object", properties: { number: { type: "integer" } }, required: ["number"] },
    };
    expect(signature(tool)).toBe(
      "tools.create_issue(args: { owner: string; labels?: string[]; priority?: number /* = 3 */ }): Promise<{ number: number }>",
    );
  });

  it("tells the exact name where scripts use another one", () => {
    const tool = { ...toolOf({ type: "object" }), name: 'list-"pages"' };
    expect(signature(tool)).toBe('tools.list_pages_(): Promise<unknown> // call_tool("list-\\"pages\\"", args)');
    expect(signature(tool, "web.list")).toMatch(/^tools\.web\.list\(\)/);
  });

  it("takes no arguments for schemas without parameters, missing or of another type", () => {
    for (const schema of [
      { type: "object" },
      { type: "object", properties: {} },
      {},
      null,
      undefined,
      { type: "string" },
      7,
    ]) {
      expect(signature(toolOf(schema))).toBe("tools.tool(): Promise<unknown>");
    }
    expect(signature(toolOf({ type: "object", additionalProperties: true }))).toContain(
      "args?: Record<string, unknown>",
    );
  });

  it("unwraps a result that is only { result }, as tools.x() does, and no other", () => {
    const result = { type: "object", properties: { result: { type: "number" } }, required: ["result"] };
    expect(signature(toolOf({}, result))).toBe("tools.tool(): Promise<number>");
    expect(signature(toolOf({}, { ...result, required: [] }))).toContain("Promise<{ result?: number }>");
    expect(signature(toolOf({}, { description: "no type" }))).toBe("tools.tool(): Promise<unknown>");
  });

  it("counts alternatives at the top as arguments", () => {
    const schema = {
      type: "object",
      anyOf: [
        { properties: { content: { type: "string" } }, required: ["content"] },
        { properties: { url: { type: "string" } }, required: ["url"] },
      ],
    };
    expect(signature(toolOf(schema))).toContain("(args: { content: string } | { url: string })");
    const either = {
      type: "object",
      properties: { a: { type: "string" }, b: {} },
      anyOf: [{ required: ["a"] }, { required: ["b"] }],
    };
    expect(signature(toolOf(either))).toContain(
      "(args: { a?: string; b?: unknown } & ({ a: unknown } | { b: unknown }))",
    );
  });
});

describe("types", () => {
  it.each([
    [{ type: "string" }, "string"],
    [{ type: "integer" }, "number"],
    [{ type: ["integer", "number", "null"] }, "number | null"],
    [{ type: "array", items: { type: ["string", "null"] } }, "(string | null)[]"],
    [{ type: "array", items: { anyOf: [{ type: "string" }, { type: "number" }] } }, "(string | number)[]"],
    [{ type: "array", items: { type: "array", items: { type: "boolean" } } }, "boolean[][]"],
    [{ type: "array" }, "unknown[]"],
    [{ type: "array", items: true }, "unknown[]"],
    [{ type: "array", prefixItems: [{ type: "number" }, { type: "number" }], items: false }, "[number, number]"],
    [{ type: "array", items: [{ type: "string" }, { type: "boolean" }] }, "[string, boolean]"],
    [
      { type: "array", prefixItems: [{ type: "string" }, {}], minItems: 1, items: { enum: [1, 2] } },
      "[string, unknown?, ...(1 | 2)[]]",
    ],
    [{ enum: ["b", "a", "b", null, 1, true] }, '"b" | "a" | 1 | true | null'],
    [{ type: "string", enum: ["a"], nullable: true }, '"a" | null'],
    [{ enum: [{ a: [1] }, [], -1] }, "{ a: [1] } | [] | -1"],
    [{ enum: [] }, "never"],
    [{ const: "*/" }, '"*\\/"'],
    [true, "unknown"],
    [{}, "unknown"],
    [false, "never"],
    [{ not: {} }, "never"],
    [{ type: "object" }, "Record<string, unknown>"],
    [{ type: "object", additionalProperties: false }, "Record<string, never>"],
    [{ type: "object", additionalProperties: { type: "number" } }, "Record<string, number>"],
    [
      { type: "object", patternProperties: { "^x-": { type: "string" } }, additionalProperties: false },
      "Record<string, string>",
    ],
    [
      { type: "object", properties: { a: { type: "number" } }, additionalProperties: { type: "string" } },
      "{ a?: number; [key: string]: unknown /* string */ }",
    ],
    [{ properties: { a: {} }, required: ["a", "b"] }, "{ a: unknown; b: unknown }"],
    [{ type: "string", anyOf: [{ enum: ["a"] }, { pattern: "^b" }] }, '"a" | string'],
    [
      { type: "object", properties: { a: {} }, oneOf: [{ properties: { b: {} } }, { properties: { c: {} } }] },
      "{ a?: unknown } & ({ b?: unknown } | { c?: unknown })",
    ],
    [{ allOf: [{ properties: { a: {} } }, { properties: { b: {} } }] }, "{ a?: unknown } & { b?: unknown }"],
    [{ type: "string", allOf: [{ minLength: 1 }] }, "string"],
    [
      {
        if: { properties: { k: { const: 1 } } },
        [THEN]: { properties: { u: { type: "string" } } },
        else: { properties: { u: { type: "number" } } },
      },
      "{ u?: string | number }",
    ],
    [{ type: "not-a-type" }, 'unknown /* unknown type "not-a-type" */'],
    [{ $ref: "https://example.test/a.json" }, 'unknown /* unresolved $ref "https://example.test/a.json" */'],
    [{ $ref: "#/$defs/none" }, 'unknown /* unresolved $ref "#/$defs/none" */'],
    [{ $ref: "#/properties/p" }, "unknown /* refers only to itself */"],
    [7, "unknown /* not a schema */"],
  ])("%j", (schema, type) => {
    expect(typeOf(schema)).toBe(type);
  });

  it("nullable stands beside a reference, and null is told once", () => {
    const defs = { $defs: { o: { type: "object", properties: { q: { type: "number" } } } } };
    expect(typeOf({ nullable: true, allOf: [{ $ref: "#/$defs/o" }] }, defs)).toBe("{ q?: number } | null");
    expect(typeOf({ nullable: true, $ref: "#/$defs/o" }, defs)).toBe("{ q?: number } | null");
    expect(typeOf({ nullable: true, type: ["string", "null"] })).toBe("string | null");
  });

  it("a condition adds what it declares, and narrows nothing that is declared already", () => {
    const schema = {
      type: "object",
      properties: { mode: { enum: ["s", "l"] } },
      allOf: [{ if: {}, [THEN]: { properties: { mode: { const: "s" }, size: { type: "integer" } } } }],
    };
    expect(typeOf(schema)).toBe('{ mode?: "s" | "l" } & { size?: number }');
  });

  it("recursion goes by name, declared once beside the signature", () => {
    const any = {
      anyOf: [
        { type: ["string", "null"] },
        { type: "array", items: { $ref: "#/$defs/any" } },
        { type: "object", additionalProperties: { $ref: "#/$defs/any" } },
      ],
    };
    expect(signature(toolOf({ type: "object", properties: { v: { $ref: "#/$defs/any" } }, $defs: { any } }))).toBe(
      "tools.tool(args?: { v?: Any }): Promise<unknown>\ntype Any = string | null | Any[] | { [key: string]: Any }",
    );
    expect(signature(toolOf({ type: "object", properties: { not: { $ref: "#" } } }))).toBe(
      "tools.tool(args?: Tool_args): Promise<unknown>\ntype Tool_args = { not?: Tool_args }",
    );
  });

  it("enum values evaluate to what they were", () => {
    const values = [
      "user.created",
      "2fa",
      "it's",
      'say "hi"',
      "back\\slash",
      "new\nline",
      "\u2028",
      "\u202E",
      "*/",
      1,
      true,
      null,
    ];
    const literals = typeOf({ enum: values }).split(" | ");
    expect(literals).toHaveLength(values.length);
    expect(new Set(literals.map((literal): unknown => JSON.parse(literal)))).toEqual(new Set(values));
  });
});

describe("several tools", () => {
  const using = (name: string, definition: unknown): Tool => ({
    name,
    inputSchema: {
      type: "object",
      properties: { a: { $ref: "#/$defs/item" }, b: { $ref: "#/$defs/item" } },
      $defs: { item: definition },
    },
  });
  const large = { type: "object", properties: { identifier: { type: "string" }, description: { type: "string" } } };
  const other = { type: "object", properties: { identifier: { type: "number" }, description: { type: "string" } } };

  it("share equal types, and number different ones of one name", () => {
    const { lines, types } = signatures([using("x", large), using("y", large), using("z", other)]);
    expect(lines.map((line) => /a\?: (\w+)/.exec(line)?.[1])).toEqual(["Item", "Item", "Item2"]);
    expect(types).toHaveLength(2);
  });

  it("one bad schema takes nothing from the others", () => {
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    const bad = Object.defineProperty({ ...toolOf(revoked.proxy), name: "bad" }, "outputSchema", {
      get: () => {
        throw new Error("no");
      },
    });
    const tools = [using("x", large), bad, using("y", large)];
    expect(signatures(tools).lines[1]).toBe("tools.bad(): Promise<unknown>");
    expect(signatures(tools).lines[2]).toContain("tools.y(args?: { a?: Item; b?: Item })");
  });

  it("are told apart by the identifiers of the whole catalog", () => {
    const identifiers = new Map([["a-b", "a_b_2"]]);
    expect(signatures([{ ...toolOf({}), name: "a-b" }], { identifiers }).lines[0]).toMatch(/^tools\.a_b_2\(/);
    const nested = new Map([["web__go", "web.go"]]);
    expect(declarations([{ ...toolOf({}), name: "web__go" }], { identifiers: nested })).toContain(
      'declare namespace tools.web {\n  /** @name "web__go" */\n  function go(): Promise<unknown>;',
    );
  });
});

describe("declarations", () => {
  it("carry documentation, defaults and constraints in comments", () => {
    const text = declarations([
      {
        name: "create-issue",
        description: "Create an issue.\nSecond line.",
        annotations: { readOnlyHint: false },
        inputSchema: {
          type: "object",
          properties: {
            title: { type: "string", description: "Shown */ in lists", minLength: 1, maxLength: 256 },
            priority: { type: "integer", minimum: 1, maximum: 5, default: 3 },
            labels: { type: "array", items: { type: "string", maxLength: 50 }, maxItems: 10 },
          },
          required: ["title"],
        },
      },
    ]);
    expect(text).toBe(`declare namespace tools {
  /** Create an issue. Second line. @name "create-issue" @annotations {"readOnlyHint":false} */
  function create_issue(args: {
    /** Shown *\\/ in lists @minLength 1 @maxLength 256 */
    title: string;
    /** @integer @default 3 @minimum 1 @maximum 5 */
    priority?: number;
    /** @maxItems 10 */
    labels?: (/** @maxLength 50 */ string)[];
  }): Promise<unknown>;
}
`);
  });

  const catalogs = new URL("../../../shared/catalogs/", import.meta.url);
  it.skipIf(!existsSync(catalogs))(
    "lose nothing of the real catalogs (skipped where ../shared is missing)",
    () => {
      const lost: string[] = [];
      let facts = 0;
      for (const file of readdirSync(catalogs).filter((name) => name.endsWith(".json"))) {
        for (const tool of JSON.parse(readFileSync(new URL(file, catalogs), "utf8")) as Tool[]) {
          const text = declarations([tool]);
          for (const fact of [...factsOf(tool.inputSchema), ...factsOf(tool.outputSchema)]) {
            facts++;
            if (!text.includes(fact)) lost.push(`${file} ${tool.name}: ${fact.slice(0, 100)}`);
          }
        }
      }
      expect(lost).toEqual([]);
      expect(facts).toBeGreaterThan(10_000);
    },
    60_000,
  );
});

/** What a script needs to know of a schema, as the declarations must spell it. */
function factsOf(root: unknown): string[] {
  const object = schemaObject(root);
  const facts: string[] = [];
  const open: unknown[] = object === undefined ? [] : [pruneDefinitions(object)];
  const named = new Set(["properties", "$defs", "definitions", "patternProperties"]);
  for (let schema = open.pop(); schema !== undefined; schema = open.pop()) {
    for (const [name, value] of membersOf(schema)) {
      if (named.has(name)) open.push(...membersOf(value).map(([, member]) => member));
      else if (!["enum", "default", "const", "examples"].includes(name)) open.push(...listOf(value), value);
      if (name === "properties") facts.push(...membersOf(value).map(([key]) => propertyKey(key)));
      if (name === "enum")
        facts.push(...listOf(value).map((item) => (typeof item === "string" ? stringLiteral(item) : String(item))));
      if (name === "description" && typeof value === "string") facts.push(commentText(value, 4_000));
      if (["default", "minimum", "maxLength", "pattern", "format", "minItems"].includes(name) && value !== false) {
        if (Math.abs(Number(value)) !== Number.MAX_SAFE_INTEGER)
          facts.push(`@${name} ${valueText(value)}`.replace(/ true$/, ""));
      }
    }
  }
  return facts;
}

describe("bounds", () => {
  const wide = Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [`w${index}`, { type: "string" }]));

  it("a wide schema is cut with a mark, its required parameters first", () => {
    const text = signature(toolOf({ type: "object", properties: wide, required: ["w2999"] }));
    expect(text.length).toBeLessThan(MAX_SIGNATURE_CHARACTERS * 1.2);
    expect(text).toMatch(/^tools\.tool\(args: \{ w2999: string; w0\?: string/);
    expect(text).toMatch(/unknown \/\* cut: \d+ more properties \*\/ \}\)/);
  });

  it("a schema of shared references grows with its definitions, not with its paths", () => {
    const definitions: Record<string, unknown> = {};
    for (let level = 0; level < 12; level++) {
      for (let place = 0; place < 6; place++) {
        const properties: Record<string, unknown> = { id: { type: "string" } };
        for (let child = 0; level < 11 && child < 6; child++)
          properties[`c${child}`] = { $ref: `#/$defs/L${level + 1}_${child}` };
        definitions[`L${level}_${place}`] = { type: "object", properties };
      }
    }
    const tool = toolOf({ type: "object", properties: { root: { $ref: "#/$defs/L0_0" } }, $defs: definitions });
    expect(signature(tool).length).toBeLessThan(MAX_SIGNATURE_CHARACTERS * 1.2);
    expect(declarations([tool]).length).toBeLessThan(50_000);
    expect(declarations([tool])).not.toContain("/* cut");
  });

  it("the largest enum, literal, name and description are cut too", () => {
    const huge = "x".repeat(2_000_000);
    const tool = toolOf({
      type: "object",
      description: huge,
      properties: {
        a: { enum: Array.from({ length: 100_000 }, (_, index) => `value ${index}`) },
        b: { const: huge, description: huge, default: huge },
        [huge]: { type: "string" },
      },
    });
    expect(signature(tool).length).toBeLessThan(MAX_SIGNATURE_CHARACTERS * 1.2);
    expect(signature(tool)).toContain("/* cut");
    expect(declarations([tool]).length).toBeLessThan(MAX_DECLARATION_CHARACTERS * 1.5);
  });
});
