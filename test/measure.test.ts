import { describe, expect, it } from "vitest";
import type { Tool, ToolSource } from "../src/catalog/tool.js";
import { measure } from "../src/measure.js";
import { presets } from "../src/presets.js";
import { fakeSource } from "../src/testing.js";

const tools = Array.from({ length: 40 }, (_, index): Tool => ({
  name: `tool_${index}`,
  description: `Does thing ${index}. ${"More words about how to use it. ".repeat(6)}`,
  inputSchema: {
    type: "object",
    properties: {
      id: { type: "string", description: "Id of the thing", minLength: 1 },
      [`p${index}`]: { type: "integer" },
    },
    required: ["id"],
    additionalProperties: false,
  },
}));
const source: ToolSource = { listTools: async () => tools, callTool: async () => ({}) };

describe("measure", () => {
  it("tells what a catalog costs as it is, behind the meta-tools, and by the page in each form", async () => {
    const { page, ...rest } = await measure(source);
    expect(rest.tools).toBe(40);
    expect(rest.pageSize).toBe(5);
    expect(rest.toolsList).toBeGreaterThan(4 * rest.metaTools);
    expect(page.json).toBeGreaterThan(page.compact);
    expect(page.compact).toBeGreaterThan(page.brief);
    expect(page.json).toBeGreaterThan(page.graded);
    for (const tokens of Object.values(page)) expect(tokens).toBeGreaterThan(0);
  });

  it("counts with the tokenizer that it is given, and the meta-tools of the options that it is given", async () => {
    const countTokens = (text: string): number => text.length;
    const own = await measure(source, { countTokens });
    const summaries = await measure(source, { countTokens, options: presets.noxus() });
    expect(own.toolsList).toBe(JSON.stringify(tools.toSorted((a, b) => (a.name < b.name ? -1 : 1))).length);
    expect(summaries.metaTools).toBeGreaterThan(own.metaTools + 40 * 10);
  });

  it("measures an empty catalog, and a page larger than the catalog", async () => {
    expect(await measure(fakeSource({}))).toMatchObject({ tools: 0, pageSize: 0, page: { json: 0, graded: 0 } });
    const small = await measure(fakeSource({ ping: () => "" }), { pageSize: 10 });
    expect(small).toMatchObject({ tools: 1, pageSize: 1 });
  });
});

describe("presets", () => {
  it("are options that overrides win over, one level deep", () => {
    const limits = presets.kedi({ limits: { maxToolCalls: 3 } }).limits;
    expect(limits).toMatchObject({ maxToolCalls: 3, maxConcurrentCalls: 8 });
    expect(presets.fastmcp({ executeToolName: "run" }).executeToolName).toBe("run");
    expect(presets.noxus({ catalogInDescription: "names" }).catalogInDescription).toBe("names");
    expect("limits" in presets.noxus()).toBe(false);
  });
});
