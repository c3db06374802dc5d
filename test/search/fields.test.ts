import { describe, expect, it } from "vitest";
import type { Tool } from "../../src/catalog/tool.js";
import { bareName, FIELD_CHARACTERS, fieldsOf } from "../../src/search/fields.js";
import { tool } from "./tools.js";

describe("fieldsOf", () => {
  it("reads what a tool is found by", () => {
    const shown: Tool = {
      ...tool("github__create_issue", "Opens one", { title: "Headline" }),
      title: "Create issue",
      _meta: { "mcp-codemode/server": "github", "mcp-codemode/tags": ["write"], "mcp-codemode/aliases": ["ticket", 1] },
    };
    expect(fieldsOf(shown)).toEqual({
      name: "create_issue",
      server: "github",
      title: "Create issue",
      description: "Opens one",
      parameterNames: "title",
      parameterDocs: "Headline",
      enumValues: "",
      tags: "write",
      aliases: "ticket",
    });
  });

  it("reads nested, alternative and referenced schemas, each once", () => {
    const nested: Tool = {
      name: "x",
      inputSchema: {
        type: "object",
        properties: {
          rows: { type: "array", items: { $ref: "#/$defs/Row" } },
          other: { anyOf: [{ $ref: "#/$defs/Row" }, { const: "fixed", description: "Or this" }] },
        },
        $defs: {
          Row: { description: "A row", properties: { cell: { enum: ["a", "b", 3] } } },
          Unused: { description: "no" },
        },
      },
    };
    const fields = fieldsOf(nested);
    expect(fields.parameterNames.split("\n")).toEqual(["rows", "other", "cell"]);
    expect(fields.parameterDocs.split("\n").toSorted()).toEqual(["A row", "Or this"]);
    expect(fields.enumValues.split("\n").toSorted()).toEqual(["a", "b", "fixed"]);
  });

  it("reads no more of a field than its bound", () => {
    const properties = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, at) => [`p${at}`, { description: "d".repeat(50) }]),
    );
    const huge: Tool = {
      name: "n".repeat(1e6),
      description: "d".repeat(1e6),
      inputSchema: { type: "object", properties },
    };
    for (const [field, text] of Object.entries(fieldsOf(huge))) {
      expect(text.length).toBeLessThanOrEqual(FIELD_CHARACTERS[field as keyof typeof FIELD_CHARACTERS]);
    }
  });

  it("does not throw for schemas that are none", () => {
    const strange = [
      null,
      7,
      "x",
      [],
      { properties: [] },
      { properties: { a: null, b: 1 }, items: 3, enum: "x", $ref: 5 },
    ];
    for (const inputSchema of strange) {
      expect(() => fieldsOf({ name: "x", inputSchema } as unknown as Tool)).not.toThrow();
    }
  });
});

describe("bareName", () => {
  it("takes off the server, and nothing else", () => {
    expect(bareName("github__create", "github")).toBe("create");
    expect(bareName("github.create", "github")).toBe("create");
    expect(bareName("github_create", "github")).toBe("github_create");
    expect(bareName("github__", "github")).toBe("github__");
    expect(bareName("create", undefined)).toBe("create");
  });
});
