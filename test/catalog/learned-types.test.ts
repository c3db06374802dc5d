import { describe, expect, it } from "vitest";
import { LearnedTypes, learnedResult } from "../../src/catalog/learned-types.js";
import type { Tool } from "../../src/catalog/tool.js";
import { fakeSource } from "../../src/testing.js";
import { callMeta, engineOf, execute, textOf } from "../meta-tools/engine.js";

const tool: Tool = { name: "list", inputSchema: { type: "object" } };

function learn(values: readonly unknown[], types = new LearnedTypes(), caller?: string): unknown {
  for (const value of values) types.observe(tool, caller, value);
  return types.of(tool, caller)?.schema;
}
const thrice = (value: unknown): unknown[] => [value, value, value];

describe("a learned type", () => {
  it("tells the keys that every one of three results or more had", () => {
    const rows = [[{ id: 1, name: "a", note: null }], [{ id: 2, name: "b" }], [{ id: "x", name: "c", extra: true }]];
    expect(learn(rows)).toEqual({
      type: "array",
      items: {
        type: "object",
        properties: { id: { anyOf: [{ type: "number" }, { type: "string" }] }, name: { type: "string" } },
        required: ["id", "name"],
        additionalProperties: true,
      },
    });
  });

  it("tells no keys before the third result", () => {
    const value = { id: 1 };
    expect(learn([value, value])).toEqual({ type: "object", additionalProperties: { type: "number" } });
    expect(learn(thrice(value))).toMatchObject({ properties: { id: { type: "number" } } });
  });

  it("of a map keyed by e-mail addresses is a map, and holds no address", () => {
    const users = (...names: string[]) =>
      Object.fromEntries(names.map((name) => [`${name}@example.com`, { role: "admin", age: 7 }]));
    const schema = learn([users("ada", "bob"), users("ada", "bob"), users("ada", "bob"), users("eve")]);
    expect(schema).toMatchObject({ type: "object", additionalProperties: { type: "object" } });
    expect(JSON.stringify(schema)).not.toContain("@");
    expect(schema).toMatchObject({ additionalProperties: { properties: { role: { type: "string" } } } });
  });

  it.each([
    ["ids", ["u_1", "u_2", "u_3"].map((id) => ({ [id]: 1 }))],
    ["dates", thrice({ "2026-01-01": 1 })],
    ["numbers", thrice({ 1: true, 2: false })],
    ["long keys", thrice({ ["k".repeat(41)]: 1 })],
    ["very many keys", thrice(Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`k${at}`, at])))],
  ])("of a map keyed by %s is a map", (_what, values) => {
    const schema = learn(values) as Record<string, unknown>;
    expect(schema["properties"]).toBeUndefined();
    expect(schema["additionalProperties"]).toBeDefined();
  });

  it("holds types only, never values", () => {
    const schema = learn(thrice({ token: "sk-secret-value", pin: 4711, nested: { list: ["hidden-word", 3] } }));
    expect(JSON.stringify(schema)).not.toMatch(/sk-secret|4711|hidden-word/);
  });

  it("reads JSON in a text as scripts do, and other text as text", () => {
    expect(learn(thrice('{"id":1}'))).toMatchObject({ properties: { id: { type: "number" } } });
    expect(learn(thrice("{ not json"))).toEqual({ type: "string" });
    expect(learn(thrice("hello"))).toEqual({ type: "string" });
    expect(learn([null, "a", 2])).toEqual({ anyOf: [{ type: "null" }, { type: "number" }, { type: "string" }] });
  });

  it("ends for huge, deep and hostile results", () => {
    let deep: object = { end: true };
    for (let level = 0; level < 5_000; level++) deep = { deep };
    const start = performance.now();
    learn(thrice(deep));
    learn(thrice(Array.from({ length: 100_000 }, (_, id) => ({ id, tags: [id, String(id)] }))));
    learn(thrice(JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1}')));
    expect(performance.now() - start).toBeLessThan(1_000);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    const schema = learn(thrice(JSON.parse('{"__proto__": 1}'))) as { properties: object };
    expect(Object.keys(schema.properties)).toEqual(["__proto__"]);
  });

  it("is each caller's own, unless shared", () => {
    const own = new LearnedTypes();
    learn(thrice({ id: 1 }), own, "ada");
    expect(own.of(tool, "ada")?.times).toBe(3);
    expect(own.of(tool, "bob")).toBeUndefined();
    expect(own.of(tool, undefined)).toBeUndefined();
    const shared = new LearnedTypes({ shared: true });
    learn(thrice({ id: 1 }), shared, "ada");
    expect(shared.of(tool, "bob")?.times).toBe(3);
  });

  it("is not learned for a tool that declares one, nor put on it", () => {
    const types = new LearnedTypes();
    const declared = { ...tool, outputSchema: { type: "object" } };
    types.observe(declared, undefined, { id: 1 });
    expect(types.decorate(declared, undefined)).toBe(declared);
    expect(types.decorate(tool, undefined)).toBe(tool);
    learn([{ id: 1 }], types);
    expect(learnedResult(types.decorate(tool, undefined))?.times).toBe(1);
    expect(learnedResult({ ...types.decorate(tool, undefined), outputSchema: {} })).toBeUndefined();
  });
});

describe("an engine that learns", () => {
  const source = () =>
    fakeSource({
      list_users: { description: "Lists users", handler: () => JSON.stringify([{ id: 1, email: "ada@example.com" }]) },
    });
  const call = "await tools.list_users(); await tools.list_users(); return await tools.list_users();";

  it("shows types in later searches and schemas, marked, and in no description", async () => {
    const engine = engineOf(source());
    const search = async (args: object) => textOf(await callMeta(engine, "search", { query: "list_users", ...args }));
    expect(await search({})).not.toContain("observed");
    await execute(engine, call);
    expect(await search({})).toContain("-> (observed 3 times) {id: number, email: string}[]");
    expect(await search({ detail: "signature" })).toContain(
      "Promise<{ id: number; email: string }[]> // result type observed 3 times",
    );
    expect(await search({})).not.toContain("ada@");
    const schema = textOf(await execute(engine, 'return (await get_schema("list_users")).observed'));
    expect(JSON.parse(schema)).toMatchObject({ times: 3, schema: { type: "array" } });
    const context = { signal: new AbortController().signal };
    for (const metaTool of engine.metaTools) {
      expect(JSON.stringify((await metaTool.listed?.(context)) ?? metaTool.tool)).not.toContain("email");
    }
    expect(JSON.stringify(await engine.listTools())).not.toContain("email");
  });

  it("keeps what one caller taught from another", async () => {
    const engine = engineOf(source());
    const as = (clientId: string) => ({ signal: new AbortController().signal, authInfo: { clientId } });
    await execute(engine, call, as("ada"));
    const search = async (clientId: string) =>
      textOf(await callMeta(engine, "search", { query: "list_users" }, as(clientId)));
    expect(await search("ada")).toContain("observed 3 times");
    expect(await search("bob")).not.toContain("observed");
    const sharing = engineOf(source(), { learnedTypes: { share: true } });
    await execute(sharing, call, as("ada"));
    expect(textOf(await callMeta(sharing, "search", { query: "list_users" }, as("bob")))).toContain("observed 3 times");
  });

  it("learns nothing when it is told not to", async () => {
    const engine = engineOf(source(), { learnedTypes: false });
    await execute(engine, call);
    expect(textOf(await callMeta(engine, "search", { query: "list_users" }))).not.toContain("observed");
  });
});
