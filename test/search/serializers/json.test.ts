import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Tool } from "../../../src/catalog/tool.js";
import { jsonSerializer } from "../../../src/search/serializers/json.js";

const print = (...tools: unknown[]): Record<string, unknown>[] =>
  jsonSerializer()(tools as Tool[], { total: tools.length }) as Record<string, unknown>[];

describe("definitions as JSON", () => {
  it("63: are those of tools/list, with everything a tool has", () => {
    const tool = {
      name: "add",
      title: "Add",
      description: "Adds.",
      inputSchema: { type: "object", properties: { a: { type: "number", default: null }, b: { enum: ["x", null] } } },
      outputSchema: { type: "object", properties: { sum: { type: "number" } } },
      annotations: { readOnlyHint: true },
      _meta: { tags: ["math"] },
      execution: { taskSupport: "optional" },
    };
    expect(print(tool)).toEqual([tool]);
    expect(print()).toEqual([]);
  });

  it("members that are null or undefined are left out, null within schemas stays", () => {
    const [printed] = print({
      name: "x",
      title: undefined,
      description: null,
      inputSchema: { type: "object", properties: { a: { const: null } } },
      outputSchema: null,
      annotations: { title: null, readOnlyHint: false },
    });
    expect(printed).toEqual({
      name: "x",
      inputSchema: { type: "object", properties: { a: { const: null } } },
      annotations: { readOnlyHint: false },
    });
  });

  it("the name comes first, whatever order the server has", () => {
    expect(
      Object.keys(print({ annotations: {}, inputSchema: { type: "object" }, icons: [], name: "x" })[0] ?? {}),
    ).toEqual(["name", "inputSchema", "annotations", "icons"]);
  });

  it("definitions that nothing refers to are left out", () => {
    const used = { type: "object", properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: {}, b: {} } };
    expect(print({ name: "x", inputSchema: used })[0]?.["inputSchema"]).toEqual({ ...used, $defs: { a: {} } });
  });

  it("a member that is no JSON takes nothing but itself", () => {
    const circular: Record<string, unknown> = { type: "object" };
    circular["properties"] = { circular };
    const printed = print(
      { name: "x", inputSchema: circular, outputSchema: circular, _meta: { n: 1n } },
      { name: "y", inputSchema: { type: "object" } },
    );
    expect(JSON.parse(JSON.stringify(printed))).toEqual([
      { name: "x", inputSchema: { type: "object" } },
      { name: "y", inputSchema: { type: "object" } },
    ]);
  });

  const catalog = new URL("../../../../shared/catalogs/github.json", import.meta.url);
  it.skipIf(!existsSync(catalog))("a real catalog comes out as it went in (skipped where ../shared is missing)", () => {
    const tools = JSON.parse(readFileSync(catalog, "utf8")) as unknown[];
    expect(print(...tools)).toEqual(tools);
  });
});
