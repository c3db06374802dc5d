import { describe, expect, it } from "vitest";
import type { CallContext, Tool } from "../../src/catalog/tool.js";
import type { CodeMode } from "../../src/meta-tools/meta-tool.js";
import { executeTool } from "../../src/meta-tools/execute.js";
import { listTool } from "../../src/meta-tools/list.js";
import { schemaTool } from "../../src/meta-tools/schema.js";
import { searchTool } from "../../src/meta-tools/search.js";
import { tagsTool } from "../../src/meta-tools/tags.js";
import type { CodeModeOptions } from "../../src/options.js";
import { presets } from "../../src/presets.js";
import { markdownSerializer } from "../../src/search/serializers/markdown.js";
import { regex } from "../../src/search/regex.js";
import { fakeSource, type FakeTool } from "../../src/testing.js";
import { callMeta, engineOf, execute, textOf, textsOf } from "../meta-tools/engine.js";

/** The example tools of the list. */
const square: FakeTool = {
  description: "Compute the square of a number.",
  inputSchema: { type: "object", properties: { x: { type: "integer" } }, required: ["x"] },
  _meta: { fastmcp: { tags: ["math"] } },
  handler: ({ x }) => ({ result: Number(x) ** 2 }),
};
const add: FakeTool = {
  description: "Add two numbers together.",
  inputSchema: {
    type: "object",
    properties: { x: { type: "integer" }, y: { type: "integer" } },
    required: ["x", "y"],
  },
  _meta: { fastmcp: { tags: ["math"] } },
  handler: ({ x, y }) => ({ result: Number(x) + Number(y) }),
};
const greet: FakeTool = {
  description: "Say hello to someone, by number of times.",
  inputSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  _meta: { fastmcp: { tags: ["text"] } },
  handler: ({ name }) => `Hello, ${String(name)}!`,
};
const plain: FakeTool = { description: "No tag on this number one.", handler: () => "plain" };

const three = () => fakeSource({ square, add, greet });
const four = () => fakeSource({ square, add, greet, plain });

const ALL = [searchTool(), schemaTool(), tagsTool(), listTool(), executeTool()];
const markdown = (options: CodeModeOptions = {}): CodeModeOptions => ({
  metaTools: ALL,
  searchResultSerializer: markdownSerializer(),
  ...options,
});
const engine = (options: CodeModeOptions = {}, source = three()): CodeMode => engineOf(source, markdown(options));

const namesOf = (one: CodeMode): string[] => one.metaTools.map(({ tool }) => tool.name);
const ask = async (one: CodeMode, name: string, args: Record<string, unknown>): Promise<string> =>
  textOf(await callMeta(one, name, args));
const search = (args: Record<string, unknown>, options?: CodeModeOptions, source = three()) =>
  ask(engine(options, source), "search", args);
const schema = (args: Record<string, unknown>) => ask(engine(), "get_schema", args);

describe("core (fastmcp)", () => {
  it("1: the default set of FastMCP is search, get_schema and execute; ours is search and execute", () => {
    expect(namesOf(engineOf(three(), { metaTools: [searchTool(), schemaTool(), executeTool()] }))).toEqual([
      "search",
      "get_schema",
      "execute",
    ]);
    expect(namesOf(engineOf(three(), presets.fastmcp()))).toEqual(["search", "get_schema", "execute"]);
    expect(namesOf(engineOf(three()))).toEqual(["search", "execute"]);
  });

  it("2: execute alone", () => {
    expect(namesOf(engineOf(three(), { metaTools: [executeTool()] }))).toEqual(["execute"]);
  });

  it("3: renamed discovery tools have those names and no default ones", async () => {
    const metaTools = [searchTool({ name: "find" }), schemaTool({ name: "describe" }), executeTool()];
    const one = engineOf(three(), markdown({ metaTools }));
    expect(namesOf(one)).toEqual(["find", "describe", "execute"]);
    expect(await ask(one, "find", { query: "square" })).toContain("### square");
    expect(await ask(one, "describe", { tools: ["square"] })).toContain("### square");
  });
});

describe("search (fastmcp)", () => {
  it("13: brief gives names and descriptions and no inputSchema", async () => {
    const text = await search({ query: "square number", detail: "brief" });
    expect(text).toContain("- square: Compute the square of a number.");
    expect(text).not.toContain("inputSchema");
    expect(text).not.toContain("**Parameters**");
  });

  it("14: detailed gives headings, descriptions and parameters", async () => {
    const text = await search({ query: "square", detail: "detailed" });
    expect(text).toContain(
      "### square\n\nCompute the square of a number.\n\n**Parameters**\n- `x` (integer, required)",
    );
  });

  it("15: with the default detail full gives a JSON list that parses", async () => {
    const text = await search({ query: "square" }, { metaTools: [searchTool({ detail: "full" }), executeTool()] });
    expect(JSON.parse(text)).toMatchObject([{ name: "square", inputSchema: { type: "object" } }]);
  });

  it("16: full without a match is []", async () => {
    expect(await search({ query: "xylophone", detail: "full" })).toBe("[]");
  });

  it("17: with tags excludes tools of other tags that match the query", async () => {
    const text = await search({ query: "number", tags: ["math"], detail: "brief" });
    expect(text).toContain("- square");
    expect(text).not.toContain("greet");
  });

  it("18: with an unknown tag says that nothing matched", async () => {
    expect(await search({ query: "number", tags: ["nope"] })).toContain("No tools matched");
  });

  it("19: without tags searches everything", async () => {
    const text = await search({ query: "number", detail: "brief" });
    for (const name of ["square", "add", "greet"]) expect(text).toContain(`- ${name}`);
  });

  it('20: with the tag "untagged" gives only tools without tags', async () => {
    const text = await search({ query: "number", tags: ["untagged"], detail: "brief" }, {}, four());
    expect(text).toContain("- plain");
    expect(text).not.toMatch(/- (?:square|add|greet)/);
  });

  it("21: with fewer hits than tools begins with N of M tools", async () => {
    expect(await search({ query: "square", detail: "brief" })).toMatch(/^1 of 3 tools:\n/);
  });

  it("22: with the whole catalog has no such beginning", async () => {
    expect(await search({ query: "number", detail: "brief" })).not.toMatch(/ of \d+ tools/);
  });

  it("23: limit 1 with three matches gives 1 of 3 and one bullet", async () => {
    const text = await search({ query: "number", limit: 1, detail: "brief" });
    expect(text).toMatch(/^1 of 3 tools:/);
    expect(text.match(/^- /gm)).toHaveLength(1);
  });

  it("24: a default limit may be exceeded by the caller; 0 and negative ones are refused", async () => {
    const options = { metaTools: [searchTool({ defaultLimit: 2 }), executeTool()] };
    expect(await search({ query: "number", detail: "brief" }, options)).toMatch(/^2 of 3 tools:/);
    expect(await search({ query: "number", limit: 3, detail: "brief" }, options)).not.toContain(" of 3 tools");
    for (const limit of [0, -1]) {
      expect(await callMeta(engine(), "search", { query: "number", limit })).toMatchObject({ isError: true });
    }
  });
});

describe("get_schema (fastmcp)", () => {
  it("25: is detailed by default; brief has no parameters; full parses as JSON", async () => {
    expect(await schema({ tools: ["square"] })).toContain("**Parameters**\n- `x` (integer, required)");
    expect(await schema({ tools: ["square"], detail: "brief" })).toBe("- square: Compute the square of a number.");
    expect(JSON.parse(await schema({ tools: ["square"], detail: "full" }))).toMatchObject([
      { name: "square", inputSchema: { properties: { x: { type: "integer" } } } },
    ]);
  });

  it("26: an unknown name is not found, and named", async () => {
    expect(await schema({ tools: ["nonexistent"] })).toMatch(/not found: nonexistent/);
  });

  it("27: known and unknown names give the block and the missing names", async () => {
    const text = await schema({ tools: ["square", "nonexistent"] });
    expect(text).toContain("### square");
    expect(text).toMatch(/not found: nonexistent/);
  });

  it("28: full with unknown names stays JSON, the missing ones last", async () => {
    const some = JSON.parse(await schema({ tools: ["square", "nope"], detail: "full" })) as unknown[];
    expect(some).toMatchObject([{ name: "square" }, { not_found: ["nope"] }]);
    expect(JSON.parse(await schema({ tools: ["nope", "nada"], detail: "full" }))).toEqual([
      { not_found: ["nope", "nada"] },
    ]);
  });

  it("29: an empty list matches nothing", async () => {
    expect(await schema({ tools: [] })).toContain("No tools matched");
  });
});

describe("tags and list_tools (fastmcp)", () => {
  const tags = (args: Record<string, unknown>, source = four()) => ask(engine({}, source), "tags", args);
  const list = (args: Record<string, unknown>, source = three()) => ask(engine({}, source), "list_tools", args);

  it("30: tags brief counts, singular and plural, untagged ones too", async () => {
    expect(await tags({})).toBe("- math (2 tools)\n- text (1 tool)\n- untagged (1 tool)");
  });

  it("31: tags full lists the tools of each; one with two tags is in both", async () => {
    const both = { ...greet, _meta: { fastmcp: { tags: ["text", "math"] } } };
    const text = await tags({ detail: "full" }, fakeSource({ square, both }));
    expect(text).toMatch(/^### math\n\n- both: Say hello.*\n- square: Compute/);
    expect(text).toContain("### text\n\n- both: Say hello");
  });

  it("32: the detail of tags is the caller's; an empty catalog says so", async () => {
    const one = engine({ metaTools: [tagsTool({ detail: "full" }), executeTool()] });
    expect(await ask(one, "tags", {})).toContain("### math");
    expect(await ask(one, "tags", { detail: "brief" })).toContain("- math (2 tools)");
    expect(await tags({}, fakeSource({}))).toBe("No tools available");
  });

  it("33: list_tools is brief by default, detailed with parameters, full as JSON, and says when there are none", async () => {
    const brief = await list({});
    expect(brief).toContain("- add: Add two numbers together.");
    expect(brief).not.toContain("Parameters");
    expect(await list({ detail: "detailed" })).toContain("**Parameters**");
    const full = JSON.parse(await list({ detail: "full" })) as Tool[];
    expect(full.map(({ name }) => name)).toEqual(["add", "greet", "square"]);
    expect(await list({}, fakeSource({}))).toContain("No tools matched");
  });
});

describe("markdown (fastmcp)", () => {
  const typeOf = async (given: unknown, root: object = {}): Promise<string> => {
    const tool: FakeTool = {
      inputSchema: { type: "object", properties: { v: given }, ...root } as Tool["inputSchema"],
      handler: () => "",
    };
    const text = await search({ query: "tool", detail: "detailed" }, {}, fakeSource({ tool }));
    return /`v` \((.*)\)/.exec(text)?.[1] ?? text;
  };
  const types: [string, unknown, string][] = [
    ["a plain type", { type: "string" }, "string"],
    ["an array", { type: "array", items: { type: "integer" } }, "integer[]"],
    ["an array of anything", { type: "array" }, "any[]"],
    ["nested arrays", { type: "array", items: { type: "array", items: { type: "number" } } }, "number[][]"],
    ["a union", { anyOf: [{ type: "string" }, { type: "integer" }, { type: "string" }] }, "string | integer"],
    ["a nullable", { anyOf: [{ type: "string" }, { type: "null" }] }, "string?"],
    ["a nullable union", { oneOf: [{ type: "string" }, { type: "integer" }, { type: "null" }] }, "string | integer?"],
    ["null alone", { anyOf: [{ type: "null" }] }, "null"],
    ["an empty union", { anyOf: [] }, "any"],
    ["allOf", { allOf: [{ type: "object" }, { properties: {} }] }, "object"],
    ["an unresolved reference", { $ref: "#/nowhere" }, "object"],
    ["a list of types (better than FastMCP)", { type: ["string", "null"] }, "string?"],
    [
      "an array of a union (better than FastMCP)",
      { type: "array", items: { anyOf: [{ type: "string" }, { type: "integer" }] } },
      "(string | integer)[]",
    ],
    ["an enum (better than FastMCP)", { type: "string", enum: ["a", "b"] }, 'string: "a" | "b"'],
    [
      "a nested nullable",
      { anyOf: [{ anyOf: [{ type: "string" }, { type: "null" }] }, { type: "integer" }] },
      "string? | integer",
    ],
    ["properties without a type", { properties: { a: {} } }, "object"],
    ["nothing", {}, "any"],
    ["a boolean", true, "any"],
  ];

  it.each(types)("64: prints %s", async (_what, given, printed) => {
    expect(await typeOf(given)).toBe(printed);
  });

  it("64: prints parameters, results, and nothing for what is not there", async () => {
    const source = fakeSource({
      create_document: {
        description: "Create a new document in the workspace with the given metadata.",
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
        handler: () => "",
      },
      none: { outputSchema: { type: "object", properties: {} }, handler: () => "" },
      odd: { inputSchema: { type: "object" }, outputSchema: { type: "string" } as never, handler: () => "" },
    });
    expect(await search({ detail: "detailed" }, {}, source)).toBe(`### create_document

Create a new document in the workspace with the given metadata.

**Parameters**
- \`title\` (string, required)
- \`tags\` (string[], required)
- \`published\` (boolean)
- \`parent_id\` (string?)

### none

**Parameters**
- \`value\` (object)

**Returns**
*(no parameters)*

### odd

**Parameters**
- \`value\` (object)

**Returns**
- \`value\` (string)`);
  });
});

describe("strategies (fastmcp)", () => {
  it("65: regex matches names, descriptions, parameters and their descriptions, and never crashes", async () => {
    const source = fakeSource({
      alpha: {
        description: "first",
        inputSchema: { type: "object", properties: { beta: { type: "string", description: "gamma" } } },
        handler: () => "",
      },
      delta: { description: "second", handler: () => "" },
    });
    const found = async (query: string, limit?: number): Promise<string[]> => {
      const options = { searchStrategy: regex(), metaTools: [searchTool({ detail: "full" }), executeTool()] };
      const args = { query, ...(limit === undefined ? {} : { limit }) };
      const [json = ""] = textsOf(await callMeta(engine(options, source), "search", args));
      return (JSON.parse(json) as Tool[]).map(({ name }) => name);
    };
    for (const query of ["ALPH.", "fir.t", "bet.", "gam+a"]) expect(await found(query)).toEqual(["alpha"]);
    expect((await found("alpha|delta")).toSorted()).toEqual(["alpha", "delta"]);
    expect(await found("zeta.")).toEqual([]);
    expect(await found(".*", 1)).toHaveLength(1);
    const broken = await callMeta(engine({ searchStrategy: regex() }, source), "search", { query: "[" });
    expect(textOf(broken)).not.toBe("");
  });

  it("66: bm25 ranks what was meant first, sees changes at once, and lists all tools without a query", async () => {
    const source = fakeSource({
      delete_record: { description: "Delete a record from the database.", handler: () => "" },
      read_record: { description: "Read a record from the database.", handler: () => "" },
      send_mail: { description: "Send an e-mail.", handler: () => "" },
    });
    const one = engine({}, source);
    const first = async (query: string): Promise<string | undefined> =>
      /^(?:### |- )([\w-]+)/m.exec(await ask(one, "search", { query, detail: "brief" }))?.[1];
    expect(await first("delete records from database")).toBe("delete_record");
    expect(await ask(one, "search", { query: "xylophone", detail: "full" })).toBe("[]");
    source.set("play_xylophone", { description: "Make music.", handler: () => "" });
    expect(await first("xylophone")).toBe("play_xylophone");
    source.set("send_mail", { description: "Water the flowers.", handler: () => "" });
    expect(await first("flowers")).toBe("send_mail");
    const inputSchema = { type: "object" as const, properties: { tulips: { type: "string" } } };
    source.set("send_mail", { description: "Water them.", inputSchema, handler: () => "" });
    expect(await first("tulips")).toBe("send_mail");
    expect(await ask(engine({}, fakeSource({})), "search", { query: "x", detail: "full" })).toBe("[]");
    expect((await ask(one, "search", { query: "", detail: "brief" })).match(/^- /gm)).toHaveLength(4);
  });

  it("67: pinned tools leave the results, renamed tools work, and synthetic tools have titles", async () => {
    const one = engine({ directTools: ["square"], searchToolName: "find", executeToolName: "run" });
    expect(await ask(one, "find", { detail: "brief" })).not.toContain("square");
    const context: CallContext = { signal: new AbortController().signal };
    const run = await callMeta(one, "run", { code: "return await tools.square({ x: 3 })" }, context);
    expect(textOf(run)).toBe("9");
    for (const { tool } of one.metaTools) expect(tool.title).toMatch(/\w/);
    expect(textOf(await execute(engine(), "return (await search_tools('square')).map((tool) => tool.name)"))).toContain(
      "square",
    );
  });
});
