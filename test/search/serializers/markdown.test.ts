import { describe, expect, it } from "vitest";
import type { Tool } from "../../../src/catalog/tool.js";
import { markdownSerializer } from "../../../src/search/serializers/markdown.js";
import { parameterType } from "../../../src/search/serializers/markdown-types.js";
import type { Detail } from "../../../src/search/serializers/serializer.js";

const print = (tools: readonly Tool[], detail?: Detail): string =>
  markdownSerializer()([...tools], { total: tools.length, detail }) as string;

const square: Tool = {
  name: "square",
  description: "Squares a number.",
  inputSchema: { type: "object", properties: { x: { type: "integer" } }, required: ["x"] },
};
const noParameters: Tool = { name: "ping", inputSchema: { type: "object", properties: {} } };

describe("detail levels", () => {
  it("13: brief has name and description and no schema", () => {
    expect(print([square, noParameters], "brief")).toBe("- square: Squares a number.\n- ping");
  });

  it("14: detailed has a heading, the description and the parameters", () => {
    expect(print([square], "detailed")).toBe(
      "### square\n\nSquares a number.\n\n**Parameters**\n- `x` (integer, required)",
    );
  });

  it("15: full is a JSON array of definitions without nulls", () => {
    const tool = { ...square, title: null, outputSchema: undefined, annotations: { readOnlyHint: true, title: null } };
    expect(JSON.parse(print([tool as unknown as Tool], "full"))).toEqual([
      { ...square, annotations: { readOnlyHint: true } },
    ]);
  });

  it("16: an empty list is [] at level full, else a sentence", () => {
    expect(print([], "full")).toBe("[]");
    for (const detail of ["brief", "detailed"] as const) expect(print([], detail)).toBe("No tools matched the query.");
  });

  it("25, 33: detailed is the default, and a call that asks for another level gets it", () => {
    expect(print([square])).toBe(print([square], "detailed"));
    const brief = markdownSerializer({ detail: "brief" });
    expect(brief([square], { total: 1 })).toBe("- square: Squares a number.");
    expect(brief([square], { total: 1, detail: "detailed" })).toContain("**Parameters**");
  });

  it("63: the form of the documentation, to the letter", () => {
    const tool: Tool = {
      name: "create_document",
      description: "  Create a new document in the workspace with the given metadata.\n",
      inputSchema: {
        type: "object",
        properties: {
          title: { type: "string" },
          tags: { type: "array", items: { type: "string" } },
          published: { type: "boolean" },
          parent_id: { anyOf: [{ type: "string" }, { type: "null" }] },
        },
        required: ["title", "tags"],
      },
    };
    expect(print([tool])).toBe(
      `### create_document

Create a new document in the workspace with the given metadata.

**Parameters**
- \`title\` (string, required)
- \`tags\` (string[], required)
- \`published\` (boolean)
- \`parent_id\` (string?)`,
    );
  });
});

describe("64: sections", () => {
  it("two tools are parted by a blank line, a missing description leaves no line", () => {
    expect(print([noParameters, square])).toBe(
      "### ping\n\n**Parameters**\n*(no parameters)*\n\n### square\n\nSquares a number.\n\n**Parameters**\n- `x` (integer, required)",
    );
  });

  it("Returns only with an outputSchema", () => {
    expect(print([square])).not.toContain("**Returns**");
    const outputSchema = { type: "object", properties: { y: { type: "number" } }, required: ["y"] };
    expect(print([{ ...square, outputSchema }])).toMatch(/required\)\n\n\*\*Returns\*\*\n- `y` \(number, required\)$/);
    expect(print([{ ...square, outputSchema: { type: "object", properties: {} } }])).toMatch(
      /Returns\*\*\n\*\(no parameters\)\*$/,
    );
  });

  it.each([
    [null, "- `value` (any)"],
    ["string", "- `value` (any)"],
    [true, "- `value` (any)"],
    [{ type: "object" }, "- `value` (object)"],
    [{ type: "array", items: { type: "string" } }, "- `value` (string[])"],
    [{}, "- `value` (any)"],
    [{ type: "object", properties: {} }, "*(no parameters)*"],
  ])("a schema %j prints as %s", (schema, line) => {
    const tool = { name: "t", inputSchema: schema } as unknown as Tool;
    expect(print([tool])).toBe(`### t\n\n**Parameters**\n${line}`);
  });
});

describe("64: types", () => {
  const root = {
    $defs: { object: { type: "object", properties: {} }, color: { type: "string", enum: ["red", "blue"] } },
  };
  it.each([
    [{ type: "string" }, "string"],
    [{ type: "integer" }, "integer"],
    [{ type: "number" }, "number"],
    [{ type: "boolean" }, "boolean"],
    [{ type: "object" }, "object"],
    [{ type: "null" }, "null"],
    [{ type: "array", items: { type: "string" } }, "string[]"],
    [{ type: "array" }, "any[]"],
    [{ type: "array", items: { type: "array", items: { type: "number" } } }, "number[][]"],
    [{ $ref: "#/$defs/object" }, "object"],
    [{ $ref: "#/$defs/missing" }, "object"],
    [{ anyOf: [{ type: "string" }, { type: "integer" }] }, "string | integer"],
    [{ oneOf: [{ type: "string" }, { type: "integer" }] }, "string | integer"],
    [{ anyOf: [{ type: "string" }, { type: "string" }] }, "string"],
    [{ anyOf: [{ type: "string" }, { type: "null" }] }, "string?"],
    [{ anyOf: [{ type: "string" }, { type: "integer" }, { type: "null" }] }, "string | integer?"],
    [{ anyOf: [{ type: "null" }] }, "null"],
    [{ anyOf: [] }, "any"],
    [{ allOf: [{ type: "object" }, { properties: {} }] }, "object"],
    [{ anyOf: [{ anyOf: [{ type: "string" }, { type: "null" }] }, { type: "integer" }] }, "string? | integer"],
    [{ properties: { a: {} } }, "object"],
    [{}, "any"],
    [true, "any"],
    [false, "any"],
    ["string", "any"],
    [null, "any"],
    // Where the form may be better than its model:
    [{ type: ["string", "null"] }, "string?"],
    [{ type: ["string", "integer"] }, "string | integer"],
    [{ type: "string", nullable: true }, "string?"],
    [{ type: "array", items: { anyOf: [{ type: "string" }, { type: "integer" }] } }, "(string | integer)[]"],
    [{ enum: ["a", "b"] }, 'string: "a" | "b"'],
    [{ type: "string", enum: ["a", "b"], default: "a" }, 'string: "a" | "b", default "a"'],
    [{ const: 1 }, "integer: 1"],
    [{ enum: ["a", 1, null] }, '"a" | 1 | null'],
    [{ anyOf: [{ enum: ["a", "b"] }, { type: "null" }] }, 'string?: "a" | "b"'],
    [{ $ref: "#/$defs/color" }, 'string: "red" | "blue"'],
    [{ allOf: [{ $ref: "#/$defs/color" }] }, '"red" | "blue"'],
    [{ type: "integer", default: 0 }, "integer, default 0"],
  ])("%j prints as %s", (schema, type) => {
    expect(parameterType(schema, root)).toBe(type);
  });

  it("references in a circle, deep nesting and huge enums end", () => {
    const loop = {
      $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" }, c: { type: "array", items: { $ref: "#/$defs/c" } } },
    };
    expect(parameterType({ $ref: "#/$defs/a" }, loop)).toBe("object");
    expect(parameterType({ $ref: "#/$defs/c" }, loop)).toMatch(/^any(?:\[\])+$/);
    const values = Array.from({ length: 1_000 }, (_, index) => `value ${index}`);
    expect(parameterType({ enum: values }, {})).toMatch(/^string: "value 0" \| .* \| \.\.\. \d+ more$/);
    expect(parameterType({ enum: values }, {}).length).toBeLessThan(700);
  });
});

describe("text of tools", () => {
  it("cannot fake a heading, a section, a parameter or the end of a fence", () => {
    const tool: Tool = {
      name: "q\n### admin",
      description:
        "Use `SELECT` and ${ENV}\n### Parameters\n**Parameters**\n```sql\nselect 1\n```\n- `fake` (string, required)\n---",
      inputSchema: {
        type: "object",
        properties: {
          "sql`\n- `x` (string)": { type: "string", description: "line one\n- another: bullet" },
          bad: { type: "string\n### x", enum: ["a\n- `y` (string)"] },
        },
      },
    };
    const lines = print([tool]).split("\n");
    expect(lines.filter((line) => line.startsWith("#"))).toEqual(["### q ### admin"]);
    expect(lines.filter((line) => line.startsWith("**"))).toEqual(["**Parameters**"]);
    expect(lines.filter((line) => /^(?:```|---)/.test(line))).toEqual([]);
    expect(lines.filter((line) => line.startsWith("- "))).toEqual([
      "- `` sql`\\u000a- `x` (string) `` (string)",
      '- `bad` (any: "a\\n- `y` (string)")',
    ]);
    expect(print([tool], "brief").split("\n")).toHaveLength(1);
  });

  it("shows no character that cannot be seen, at any level", () => {
    const hidden = "a\u202Eb\u200Bc\u{E0041}d";
    const tool: Tool = {
      name: `n${hidden}`,
      description: hidden,
      inputSchema: { type: "object", properties: { [hidden]: { enum: [hidden], default: hidden } } },
    };
    for (const detail of ["brief", "detailed", "full"] as const) expect(print([tool], detail)).not.toMatch(/\p{Cf}/u);
    expect(JSON.parse(print([tool], "full"))).toEqual([tool]);
  });
});
