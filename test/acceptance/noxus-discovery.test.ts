import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { CallContext, Tool, ToolSource } from "../../src/catalog/tool.js";
import type { CodeMode } from "../../src/meta-tools/meta-tool.js";
import { presets } from "../../src/presets.js";
import { fakeSource, type FakeTool } from "../../src/testing.js";
import { callMeta, engineOf, execute, textOf } from "../meta-tools/engine.js";

const run = {
  type: "object",
  properties: {
    id: { type: "string", description: "Id of the run" },
    status: { type: "string", enum: ["queued", "running", "done", "failed"] },
    started_at: { type: "string", format: "date-time" },
  },
  required: ["id", "status"],
};
const workflows: Record<string, FakeTool> = {
  workflows_list: {
    description: "List all workflows. Newest first.",
    inputSchema: { type: "object", properties: { page_size: { type: "integer" } } },
    outputSchema: {
      type: "object",
      properties: { result: { type: "array", items: { type: "object", properties: { id: { type: "string" } } } } },
      required: ["result"],
    },
    handler: () => ({ result: [{ id: "w1" }] }),
  },
  workflows_list_runs: {
    description: "List the runs of a workflow.",
    inputSchema: { type: "object", properties: { workflow_id: { type: "string" } }, required: ["workflow_id"] },
    outputSchema: {
      type: "object",
      properties: { runs: { type: "array", items: { $ref: "#/$defs/Run" } }, last: { $ref: "#/$defs/Run" } },
      $defs: { Run: run },
    },
    handler: () => ({ runs: [] }),
  },
  runs_wait: {
    description: "Wait until a run has ended.",
    inputSchema: { type: "object", properties: { run_id: { type: "string" } }, required: ["run_id"] },
    outputSchema: {
      type: "object",
      properties: { run: { $ref: "#/$defs/Run" }, previous: { $ref: "#/$defs/Run" } },
      $defs: { Run: run },
    },
    handler: () => ({ run: {} }),
  },
  select: { description: "Choose one of several options.", handler: () => "chosen" },
};

const engine = (source: ToolSource = fakeSource(workflows), options = {}): CodeMode =>
  engineOf(source, presets.noxus(options));
const search = async (query: string, one = engine(), args: Record<string, unknown> = {}) =>
  textOf(await callMeta(one, "search", { query, ...args }));
const anybody: CallContext = { signal: new AbortController().signal };
const listedBy = async (one: CodeMode, context = anybody): Promise<Tool[]> =>
  Promise.all(one.metaTools.map(async (metaTool) => metaTool.listed?.(context) ?? metaTool.tool));
const describedBy = async (one: CodeMode, context = anybody): Promise<string> =>
  (await listedBy(one, context)).find(({ name }) => name === "execute")?.description ?? "";

const many = (count: number, words = 12): Record<string, FakeTool> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `tool_number_${String(index).padStart(4, "0")}`,
      { description: `${"word ".repeat(words)}number ${index}. More.`, handler: () => "" },
    ]),
  );

describe("the catalog in the description (noxus)", () => {
  const catalog = new URL("../../../shared/catalogs/github.json", import.meta.url);
  it.skipIf(!existsSync(catalog))(
    "3: 117 tools with all their names cost at most about 3,300 tokens (skipped where ../shared is missing)",
    async () => {
      const tools = JSON.parse(readFileSync(catalog, "utf8")) as Tool[];
      const source: ToolSource = { listTools: async () => tools, callTool: async () => ({}) };
      const one = engine(source);
      const cost = encode(JSON.stringify(await listedBy(one))).length;
      process.stdout.write(`tools/list ${encode(JSON.stringify(tools)).length} tokens, with code mode ${cost}\n`);
      expect(cost).toBeLessThan(3_300);
      const visible = await one.listTools();
      const text = await describedBy(one);
      expect(visible.filter(({ name }) => !text.includes(`- ${name}`))).toEqual([]);
    },
  );

  it("4: summaries name every tool with one line that says what it does", async () => {
    expect(await describedBy(engine())).toMatch(
      /COMPLETE, 4:\n- runs_wait: Wait until a run has ended\.\n- select: Choose.*\n- workflows_list: List all workflows\.\n- workflows_list_runs: List the runs of a workflow\.$/,
    );
  });

  it("5: falls back to names, then to some names and a count, and never cuts a line", async () => {
    const summaries = await describedBy(engine(fakeSource(many(50))));
    expect(summaries.match(/^- tool_number_\d{4}: .*number \d+\.$/gm)).toHaveLength(50);
    const names = await describedBy(engine(fakeSource(many(400))));
    expect(names).toMatch(/Tools, COMPLETE, 400:\ntool_number_0000, .*tool_number_0399$/);
    const some = await describedBy(engine(fakeSource(many(3_000))));
    const [, count] = /Tools, (\d+) of 3000; search finds the others:\n/.exec(some) ?? [];
    expect(some.match(/tool_number_\d{4}(?=, |$)/g)).toHaveLength(Number(count));
    expect(Number(count)).toBeGreaterThan(500);
    expect(await describedBy(engine(fakeSource(many(3_000)), { catalogInDescription: { tokens: 12 } }))).toContain(
      "3000 tools: search finds them.",
    );
  });

  it("6: follows the tools, and names what this caller may use", async () => {
    const source = fakeSource(workflows);
    const one = engine(source);
    const before = await describedBy(one);
    expect(await describedBy(one)).toBe(before);
    source.set("added_later", { description: "New.", handler: () => "" });
    expect(await describedBy(one)).toContain("- added_later: New.");
    source.remove("added_later");
    expect(await describedBy(one)).toBe(before);
    const secret: Tool = { name: "secret", inputSchema: { type: "object" } };
    const open: Tool = { name: "open", inputSchema: { type: "object" } };
    const byCaller: ToolSource = {
      listTools: async ({ authInfo }) => (authInfo === undefined ? [open] : [open, secret]),
      callTool: async () => ({}),
    };
    const two = engine(byCaller);
    expect(await describedBy(two)).not.toContain("secret");
    expect(await describedBy(two, { ...anybody, authInfo: { clientId: "admin" } })).toContain("- secret");
    expect(await describedBy(two)).not.toContain("secret");
  });
});

describe("search (noxus)", () => {
  it("7: a comma list gives description, full signature and types, each shared type once", async () => {
    const text = await search("workflows_list, workflows_list_runs, runs_wait");
    expect(text).toContain("// List all workflows. Newest first.\ntools.workflows_list(args?: { page_size?: number })");
    expect(text).toContain("tools.runs_wait(args: { run_id: string }): Promise<{ run?: Run; previous?: Run }>");
    expect(text.match(/^type Run = /gm)).toHaveLength(1);
  });

  it("8: an unknown name among others is named with close matches", async () => {
    const text = await search("workflows_list, runs_wiat");
    expect(text).toContain("tools.workflows_list(");
    expect(text).toContain('No tool is named "runs_wiat". Nearest: runs_wait');
  });

  it("9: a single exact name is a name", async () => {
    const text = await search("workflows_list");
    expect(text).toMatch(/^1 of 4 tools:/);
    expect(text).not.toContain("workflows_list_runs");
  });

  it("10: words are a search over names and descriptions", async () => {
    expect(await search("workflow runs")).toContain("tools.workflows_list_runs(");
  });

  it("11: code that calls spec() runs, and only what it returns comes back", async () => {
    expect(await search('Object.keys(spec()).filter((n) => n.includes("workflow"))')).toBe(
      '["workflows_list","workflows_list_runs"]',
    );
    const text = await search(
      "const { description, signature, inputSchema, outputSchema } = spec().runs_wait; return [description, signature, inputSchema.required, typeof outputSchema]",
    );
    expect(JSON.parse(text)).toEqual([
      "Wait until a run has ended.",
      expect.stringMatching(/^tools\.runs_wait\(/),
      ["run_id"],
      "object",
    ]);
    expect(await search("```js\nspec().select.description\n```")).toBe("Choose one of several options.");
    const failed = await callMeta(engine(), "search", { query: "spec().nothing.description" });
    expect(failed.isError).toBe(true);
    expect(textOf(failed)).toMatch(/TypeError: .*\n {2}at line 1, column \d+ of the query/);
  });

  it("12: code that calls a tool fails and says where tools can be called", async () => {
    const source = fakeSource(workflows);
    for (const code of [
      "await call_tool('select', spec())",
      "await tools.select(spec())",
      "await search_tools(String(spec()))",
    ]) {
      const reply = await callMeta(engine(source), "search", { query: code });
      expect(reply.isError).toBe(true);
      expect(textOf(reply)).toContain("Tools can be called only in execute: search has no side effects.");
    }
    expect(source.calls).toEqual([]);
  });

  it("13: exact names come first, then words; code only where spec( is called", async () => {
    expect(await search("select")).toContain("tools.select(");
    expect(await search("list.runs")).toContain("tools.workflows_list_runs(");
    expect(await search("wait")).toContain("tools.runs_wait(");
    expect(await search("specification of runs")).toContain("tools.");
    const named = fakeSource({ ...workflows, "spec()": { description: "Odd.", handler: () => "" } });
    expect(await search("spec()", engine(named))).toContain("Odd.");
    const words = engineOf(fakeSource(workflows));
    expect(await search("Object.keys(spec())", words)).not.toBe("[]");
    expect(await search("Object.keys(spec())", words)).not.toContain('"workflows_list"');
  });

  it("14: one call is enough: no cap below the number of names, within the size of a reply", async () => {
    const one = engine(fakeSource(many(60, 2)));
    const names = Array.from({ length: 60 }, (_, index) => `tool_number_${String(index).padStart(4, "0")}`);
    const text = await search(names.join(", "), one, { limit: 5 });
    expect(names.filter((name) => !text.includes(`tools.${name}(`))).toEqual([]);
  });

  it("15: any tool is called by its name as an async function below tools, with no module to reach through", async () => {
    expect(
      textOf(
        await execute(
          engine(),
          "const flows = await tools.workflows_list({ page_size: 100 }); flows.map((flow) => flow.id)",
        ),
      ),
    ).toBe('["w1"]');
  });
});
