import { once } from "node:events";
import { describe, expect, it, vi } from "vitest";
import { Catalog, type CatalogOptions } from "../../src/catalog/catalog.js";
import { withoutParameters } from "../../src/catalog/hidden-parameters.js";
import type { CallContext, Tool, ToolSource } from "../../src/catalog/tool.js";
import { fakeSource } from "../../src/testing.js";

const context: CallContext = { signal: new AbortController().signal };
const sourceOf = (names: readonly string[], name?: string): ToolSource => ({
  ...(name === undefined ? {} : { name }),
  listTools: async () => names.map((tool) => ({ name: tool, inputSchema: { type: "object" } })),
  callTool: async () => ({ content: [] }),
});
const namesOf = async (options: CatalogOptions): Promise<string[]> => [
  ...(await new Catalog(options).list(context)).entries.keys(),
];

describe("a catalog", () => {
  it("holds the server's own tools and then those of further sources, marked with their server", async () => {
    const { entries } = await new Catalog({
      source: sourceOf(["add"]),
      sources: [sourceOf(["list"], "github"), sourceOf(["read"])],
    }).list(context);
    expect([...entries.values()].map(({ tool }) => [tool.name, tool._meta?.["mcp-codemode/server"]])).toEqual([
      ["add", undefined],
      ["list", "github"],
      ["read", undefined],
    ]);
  });

  it("keeps a mark that is there already", async () => {
    const tool: Tool = { name: "t", inputSchema: { type: "object" }, _meta: { "mcp-codemode/server": "inner" } };
    const source: ToolSource = { ...sourceOf([], "outer"), listTools: async () => [tool] };
    expect((await new Catalog({ source }).list(context)).entries.get("t")?.tool).toBe(tool);
  });

  it("leaves out what is not included and what only an app may see", async () => {
    const app: Tool = { name: "app", inputSchema: { type: "object" }, _meta: { ui: { visibility: ["app"] } } };
    const source: ToolSource = {
      ...sourceOf([]),
      listTools: async () => [...(await sourceOf(["addPet", "addpet"]).listTools(context)), app],
    };
    expect(await namesOf({ source })).toEqual(["addPet", "addpet"]);
    expect(await namesOf({ source, include: ({ name }) => name === "addPet" })).toEqual(["addPet"]);
  });

  it("shows tools without hidden parameters, and keeps the full ones for calling", async () => {
    const source = fakeSource({
      todo: {
        inputSchema: { type: "object", properties: { uid: {}, text: {} }, required: ["uid", "text"] },
        handler: () => "",
      },
    });
    const catalog = new Catalog({ source, show: (tool) => withoutParameters(tool, new Set(["uid"])) });
    const entry = (await catalog.list(context)).entries.get("todo");
    expect(entry?.shown.inputSchema).toEqual({ type: "object", properties: { text: {} }, required: ["text"] });
    expect(entry?.tool.inputSchema["required"]).toEqual(["uid", "text"]);
  });

  it("is what each caller may see", async () => {
    const source: ToolSource = {
      ...sourceOf([]),
      listTools: async ({ callerId }) =>
        sourceOf(callerId === "admin" ? ["wipe", "read"] : ["read"]).listTools(context),
    };
    const catalog = new Catalog({ source });
    expect([...(await catalog.list({ ...context, callerId: "admin" })).entries.keys()]).toEqual(["wipe", "read"]);
    expect([...(await catalog.list({ ...context, callerId: "user" })).entries.keys()]).toEqual(["read"]);
  });

  it("gives the same snapshot while the sources list the same tools, also when an array was changed in place", async () => {
    const tools: Tool[] = [{ name: "a", inputSchema: { type: "object" } }];
    const catalog = new Catalog({ source: { ...sourceOf([]), listTools: async () => tools } });
    const first = await catalog.list(context);
    expect(await catalog.list(context)).toBe(first);
    tools.push({ name: "b", inputSchema: { type: "object" } });
    expect([...(await catalog.list(context)).entries.keys()]).toEqual(["a", "b"]);
  });
});

describe("one name in two sources", () => {
  it("is a configuration error that names the tool and both sources, when it is there from the start", async () => {
    const catalog = new Catalog({ source: sourceOf(["x"]), sources: [sourceOf(["x"], "github")] });
    await expect(catalog.list(context)).rejects.toMatchObject({
      name: "ConfigurationError",
      message: expect.stringMatching(/"x".*the server itself and "github"/) as string,
    });
  });

  it("that comes later is left out with one warning", async () => {
    const late = fakeSource({ y: () => "" }, { name: "late" });
    const catalog = new Catalog({ source: sourceOf(["x"], "first"), sources: [late] });
    await catalog.list(context);
    late.set("x", () => "");
    const warned = vi.fn<(warning: Error) => void>();
    process.on("warning", warned);
    const warning = once(process, "warning");
    const { entries } = await catalog.list(context);
    await catalog.list(context);
    await warning;
    process.off("warning", warned);
    expect(entries.get("x")?.tool._meta?.["mcp-codemode/server"]).toBe("first");
    expect(warned.mock.calls.map(([{ message }]) => message)).toEqual([
      'Tool "x" is in two sources: "first" and "late". The one of "late" is left out.',
    ]);
  });
});

describe("a source that cannot list", () => {
  const broken: ToolSource = {
    ...sourceOf([], "broken"),
    listTools: () => Promise.reject(new Error("connection refused")),
  };

  it("fails the list when it is the server's own", async () => {
    await expect(new Catalog({ source: broken }).list(context)).rejects.toThrow("connection refused");
  });

  it("takes no other source down with it", async () => {
    const warning = once(process, "warning");
    expect(await namesOf({ source: sourceOf(["a"]), sources: [broken] })).toEqual(["a"]);
    expect(String(await warning)).toMatch(/"broken" could not be listed.*connection refused/);
  });
});

describe("a path", () => {
  const view = new Catalog({
    source: sourceOf(["list-pages", "a.b", "a"], "Sales Force"),
    sources: [sourceOf(["delete", "search_code"], "github")],
  }).view(context);
  const find = async (path: string): Promise<string | undefined> => (await view.find(path))?.tool.name;

  it.each([
    ["list-pages", "list-pages"],
    ["list_pages", "list-pages"],
    ["a.b", "a.b"],
    ["a", "a"],
    ["github.search_code", "search_code"],
    ["github.delete_", "delete"],
    ["Sales_Force.list_pages", "list-pages"],
    ["Sales Force.list-pages", "list-pages"],
    ["listPages", undefined],
    ["github.list_pages", undefined],
    ["constructor", undefined],
    ["github.__proto__", undefined],
  ])("%s means %s", async (path, name) => {
    expect(await find(path)).toBe(name);
  });
});

describe("changes of a source", () => {
  it("reach the listeners until the catalog is closed", () => {
    const source = fakeSource({});
    const catalog = new Catalog({ source });
    const heard = vi.fn<() => void>();
    catalog.onChange(heard);
    source.set("a", () => "");
    expect(heard).toHaveBeenCalledTimes(1);
    catalog.close();
    source.set("b", () => "");
    expect(heard).toHaveBeenCalledTimes(1);
  });

  it("while a list is under way make it stale", async () => {
    const source = fakeSource({ a: () => "" });
    const listTools = vi.spyOn(source, "listTools");
    const view = new Catalog({ source }).view(context);
    const listing = view.snapshot();
    source.set("b", () => "");
    await listing;
    expect((await view.snapshot()).entries.has("b")).toBe(true);
    expect(listTools).toHaveBeenCalledTimes(2);
  });
});
