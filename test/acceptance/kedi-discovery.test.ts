import { describe, expect, it } from "vitest";
import type { CodeMode } from "../../src/meta-tools/meta-tool.js";
import { presets } from "../../src/presets.js";
import { fakeSource, type FakeTool } from "../../src/testing.js";
import { callMeta, engineOf, textOf } from "../meta-tools/engine.js";

const tool = (description: string, more: Partial<FakeTool> = {}): FakeTool => ({
  description,
  handler: () => "",
  ...more,
});
const records = () =>
  fakeSource({
    list_records: tool("Lists the records of a project", {
      inputSchema: { type: "object", properties: { project: { type: "string" } }, required: ["project"] },
      outputSchema: { type: "object", properties: { records: { type: "array" } } },
    }),
    "delete-record": tool("Deletes a record", { _meta: { "mcp-codemode/sequential": true } }),
    ...Object.fromEntries(
      Array.from({ length: 58 }, (_, index) => [`tool_${String(index).padStart(2, "0")}`, tool("record")]),
    ),
  });

interface Page {
  tool_names: string[];
  next_cursor: string | null;
}

const search = async (engine: CodeMode, args: Record<string, unknown>): Promise<Page> => {
  const reply = await callMeta(engine, "search_tools", args);
  const page: unknown = JSON.parse(textOf(reply));
  expect(reply.structuredContent).toEqual(page);
  expect(Object.keys(page as object)).toEqual(["tool_names", "next_cursor"]);
  return page as Page;
};

describe("control tools (kedi)", () => {
  const engine = (source = records()): CodeMode => engineOf(source, presets.kedi());
  const refusal = async (one: CodeMode, name: string, args: Record<string, unknown>): Promise<string> => {
    const reply = await callMeta(one, name, args);
    expect(reply.isError).toBe(true);
    return textOf(reply);
  };

  it("1: are exactly search_tools, get_tool_schema and execute_code", () => {
    const names = engine().metaTools.map(({ tool: { name } }) => name);
    expect(names).toEqual(["search_tools", "get_tool_schema", "execute_code"]);
  });

  it("3: without a query search_tools gives all names page by page, in name order, and nothing else", async () => {
    const one = engine();
    const first = await search(one, {});
    expect(first.tool_names).toHaveLength(10);
    const names = [...first.tool_names];
    for (let cursor = first.next_cursor; cursor !== null;) {
      const page = await search(one, { cursor });
      names.push(...page.tool_names);
      cursor = page.next_cursor;
    }
    expect(names).toHaveLength(60);
    expect(names).toEqual(names.toSorted());
  });

  it("4: a query searches names only, in the same form", async () => {
    expect((await search(engine(), { query: "records" })).tool_names).toContain("list_records");
    expect((await search(engine(), { query: "project lists" })).tool_names).not.toContain("tool_01");
    expect((await search(engine(), { query: "deletes" })).tool_names).toEqual(["delete-record"]);
    expect(await search(engine(), { query: "xylophone" })).toEqual({ tool_names: [], next_cursor: null });
  });

  it("5: a limit above the maximum is taken as the maximum of 50", async () => {
    expect((await search(engine(), { limit: 500 })).tool_names).toHaveLength(50);
    expect((await search(engine(), { limit: 3 })).tool_names).toHaveLength(3);
    expect(await refusal(engine(), "search_tools", { limit: 0 })).toContain("limit must be");
  });

  it("6: a cursor of another search, a changed one, or one of an older catalog is refused", async () => {
    const source = records();
    const one = engine(source);
    const { next_cursor: cursor } = await search(one, { query: "tool" });
    expect(cursor).toMatch(/^[\w-]+$/);
    await search(one, { query: "tool", cursor });
    expect(await refusal(one, "search_tools", { query: "other", cursor })).toMatch(/^Invalid cursor: .*another query/);
    expect(await refusal(one, "search_tools", { query: "tool", limit: 5, cursor })).toMatch(
      /^Invalid cursor: .*pages of 10/,
    );
    expect(await refusal(one, "search_tools", { query: "tool", cursor: `x${cursor}` })).toMatch(/^Invalid cursor/);
    expect(await refusal(one, "search_tools", { query: "tool", cursor: "" })).toMatch(/^Invalid cursor/);
    const tampered = Buffer.from(String(Buffer.from(String(cursor), "base64url")).replace(/^10/, "20")).toString(
      "base64url",
    );
    expect(tampered).not.toBe(cursor);
    expect(await refusal(one, "search_tools", { query: "tool", cursor: tampered })).toMatch(/^Invalid cursor/);
    source.set("one_more", { handler: () => "" });
    expect(await refusal(one, "search_tools", { query: "tool", cursor })).toMatch(/^Stale cursor: .*Search again/);
  });

  it("7: exact names give description, schemas, the sequential mark and the callable name", async () => {
    const context = { signal: new AbortController().signal, sessionId: "s1" };
    const tools = ["list_records", "delete-record"];
    const text = textOf(await callMeta(engine(), "get_tool_schema", { tools }, context));
    expect(JSON.parse(text)).toMatchObject([
      {
        name: "list_records",
        description: "Lists the records of a project",
        inputSchema: { required: ["project"] },
        outputSchema: { type: "object" },
        callable: "list_records",
        sequential: false,
      },
      { name: "delete-record", callable: "delete_record", sequential: true },
    ]);
  });

  it("8: an unknown or repeated name fails and is named; nothing is guessed", async () => {
    const one = engine();
    expect(await refusal(one, "get_tool_schema", { tools: ["list_records", "list_record"] })).toMatch(
      /not found: list_record \(nearest: list_records\)\. Nothing was read/,
    );
    expect(await refusal(one, "get_tool_schema", { tools: ["listRecords"] })).toContain("not found: listRecords");
    expect(await refusal(one, "get_tool_schema", { tools: ["tool_01", "tool_01"] })).toContain("Given twice: tool_01");
  });

  it("31: limits that are passed are errors that a model can correct from their text", async () => {
    const one = engineOf(records(), presets.kedi({ limits: { maxDiscoveryBytes: 300 } }));
    expect(await refusal(one, "get_tool_schema", { tools: ["list_records"] })).toContain("Ask for fewer tools");
    expect(presets.kedi({ limits: { maxToolCalls: 3 } }).limits).toMatchObject({ maxToolCalls: 3, timeoutMs: 60_000 });
  });
});
