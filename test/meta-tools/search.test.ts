import { describe, expect, it } from "vitest";
import type { Tool, ToolSource } from "../../src/catalog/tool.js";
import { executeTool } from "../../src/meta-tools/execute.js";
import { searchTool } from "../../src/meta-tools/search.js";
import { jsonSerializer } from "../../src/search/serializers/json.js";
import { markdownSerializer } from "../../src/search/serializers/markdown.js";
import type { SearchRequest } from "../../src/search/strategy.js";
import { fakeSource, type FakeTool } from "../../src/testing.js";
import { callMeta, engineOf, execute, markOf, textOf, textsOf } from "./engine.js";

const tool = (description: string, tags?: string[]): FakeTool => ({
  description,
  ...(tags === undefined ? {} : { _meta: { "mcp-codemode/tags": tags } }),
  handler: () => "ok",
});

const math = () =>
  fakeSource(
    {
      square: tool("Multiplies a number with itself", ["math"]),
      add: tool("Adds two numbers", ["math"]),
      greet: tool("Greets a person, by number too", ["text"]),
      ping: tool("Says that the host is there"),
    },
    { name: "demo" },
  );

const brief = { searchResultSerializer: markdownSerializer({ detail: "brief" as const }) };
const search = async (args: Record<string, unknown>, options = {}, source: ToolSource = math()) =>
  callMeta(engineOf(source, { ...brief, ...options }), "search", args);

describe("a search", () => {
  it("finds tools by what they do and says how many there are", async () => {
    expect(textOf(await search({ query: "multiply" }))).toBe(
      "1 of 4 tools:\n\n- square: Multiplies a number with itself",
    );
  });

  it("22: says no number when it shows the whole catalog", async () => {
    const lines = textOf(await search({})).split("\n");
    expect(lines.map((line) => line.split(":")[0])).toEqual(["- add", "- greet", "- ping", "- square"]);
  });

  it.each([undefined, "", " ", "???", "---", "\n"])("for %o lists the first page in name order", async (query) => {
    const text = textOf(await search({ query, limit: 2 }));
    expect(text).toMatch(/^2 of 4 tools, in name order:\n\n- add.*\n- greet/);
  });

  it("23: with limit 1 shows one", async () => {
    const text = textOf(await search({ query: "number", limit: 1 }));
    expect(text).toMatch(/^1 of 4 tools:/);
    expect(text.match(/^- /gm)).toHaveLength(1);
  });

  it("24: has a default limit that a call may exceed, up to the maximum", async () => {
    const options = { metaTools: [searchTool({ defaultLimit: 2, maxLimit: 3 }), executeTool()] };
    expect(textOf(await search({}, options))).toMatch(/^2 of 4 tools/);
    expect(textOf(await search({ limit: 3 }, options))).toMatch(/^3 of 4 tools/);
    expect(textOf(await search({ limit: 100 }, options))).toMatch(/^3 of 4 tools/);
    expect(textOf(await search({ limit: 100 }))).not.toContain(" of ");
  });

  it.each([0, -1, 1.5, "0", "many", {}])("24: refuses the limit %o", async (limit) => {
    const reply = await search({ query: "x", limit });
    expect(reply.isError).toBe(true);
    expect(markOf(reply).kind).toBe("validation");
    expect(textOf(reply)).toContain("limit must be a whole number of at least 1");
  });

  it.each([["3"], [" 3 "]])("takes the limit %o as a number", async (limit) => {
    expect(textOf(await search({ limit }))).toMatch(/^3 of 4/);
  });

  it("17, 19, 20: filters by tags, before anything is cut", async () => {
    expect(textOf(await search({ query: "number", tags: ["math"] }))).not.toContain("greet");
    expect(textOf(await search({ query: "number" }))).toContain("greet");
    expect(textOf(await search({ tags: ["untagged"] }))).toBe("- ping: Says that the host is there");
    expect(textOf(await search({ tags: "text" }))).toContain("greet");
  });

  it("18: with a tag that nothing has says that nothing matched", async () => {
    expect(textOf(await search({ query: "number", tags: ["nope"] }))).toContain("No tools matched");
  });

  it("filters by server before it cuts, and names the servers when there is none of that name", async () => {
    const sources = [fakeSource({ only: tool("alpha once") }, { name: "target" })];
    const noise = fakeSource(
      Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`tool_${index}`, tool("alpha alpha alpha")])),
      { name: "noise" },
    );
    const found = await search({ query: "alpha", server: "target", limit: 5 }, { sources }, noise);
    expect(textOf(found)).toBe("- only: alpha once");
    expect(textOf(await search({ query: "alpha", server: "nowhere" }, { sources }, noise))).toContain(
      "Servers: noise, target.",
    );
  });

  it("picks exact names, all of them, and tells which do not exist", async () => {
    const text = textOf(await search({ query: "add, squares, ping", limit: 1 }));
    expect(text).toContain("- add");
    expect(text).toContain("- ping");
    expect(text).toContain('No tool is named "squares". Nearest: square.');
    expect(textOf(await search({ query: ["add", "ping"] }))).toMatch(/^2 of 4 tools:/);
  });

  it("that finds nothing is no error: it tells the number of tools, near names and the next step", async () => {
    const reply = await search({ query: "xylophone" });
    expect(reply.isError).toBeUndefined();
    expect(textOf(reply)).toMatch(/No tools matched "xylophone" \(of 4; servers: demo\)\..*empty query/);
    expect(textOf(await search({ query: "sqaure" }))).toContain("square");
  });

  it("in an empty catalog says that there are no tools", async () => {
    for (const args of [{}, { query: "anything" }]) {
      expect(textOf(await search(args, {}, fakeSource({})))).toMatch(/no tools/i);
    }
  });

  it("that cannot list the tools is an error that names the cause", async () => {
    const source: ToolSource = {
      listTools: () => Promise.reject(new Error("schema of send_mail is broken")),
      callTool: async () => ({}),
    };
    const reply = await search({ query: "mail" }, {}, source);
    expect(reply.isError).toBe(true);
    expect(textOf(reply)).toContain("could not be listed: schema of send_mail is broken");
  });

  it("sees the caller's own tools only", async () => {
    const wipe: Tool = { name: "wipe", inputSchema: { type: "object" } };
    const source: ToolSource = {
      listTools: async ({ authInfo }) => (authInfo === undefined ? [] : [wipe]),
      callTool: async () => ({}),
    };
    const engine = engineOf(source, brief);
    const { signal } = new AbortController();
    const asAdmin = await callMeta(engine, "search", { query: "wipe" }, { signal, authInfo: { clientId: "admin" } });
    expect(textOf(asAdmin)).toContain("- wipe");
    expect(textOf(await callMeta(engine, "search", { query: "wipe" }))).not.toMatch(/wipe\n|- wipe/);
  });

  it("67: does not show tools that stay listed, which scripts reach all the same", async () => {
    const engine = engineOf(math(), { ...brief, directTools: ["ping"] });
    expect(textOf(await callMeta(engine, "search", {}))).not.toContain("ping");
    expect(textOf(await execute(engine, 'return await call_tool("ping")'))).toBe("ok");
  });

  it("refuses arguments that it does not have", async () => {
    for (const args of [{ querry: "x" }, { callerId: "admin" }, { maxResultBytes: null }, { query: "x", page: "1" }]) {
      const reply = await search(args);
      expect(markOf(reply).kind).toBe("validation");
      expect(textOf(reply)).toContain("It takes: query, limit, detail, server, tags, cursor.");
    }
    expect(textOf(await search({ querry: "x" }))).toContain('Did you mean "query"?');
    expect(textOf(await search({ detail: "everything" }))).toContain('"brief", "signature", "detailed", "full"');
  });
});

describe("the strategy", () => {
  it("gets the extra search words of a tool, which nobody else sees", async () => {
    const seen: unknown[] = [];
    const strategy = {
      name: "spy",
      search: ({ query }: SearchRequest, tools: readonly Tool[]) => {
        seen.push(tools.map(({ _meta }) => _meta?.["mcp-codemode/aliases"]));
        return tools
          .filter(({ _meta }) => JSON.stringify(_meta).includes(query))
          .map(({ name }) => ({ name, score: 1 }));
      },
    };
    const options = {
      searchStrategy: strategy,
      aliases: { ping: ["heartbeat"] },
      searchResultSerializer: jsonSerializer(),
    };
    const reply = await search({ query: "heartbeat" }, options);
    expect(seen).toEqual([[undefined, undefined, undefined, ["heartbeat"]]]);
    expect(textOf(reply)).toContain('"name":"ping"');
    expect(textOf(reply)).not.toContain("heartbeat");
  });

  it("finds a tool by its extra words, by default", async () => {
    expect(textOf(await search({ query: "heartbeat" }, { aliases: { ping: ["heartbeat"] } }))).toContain("- ping");
  });

  it("cannot show what is not in the catalog, nor one tool twice", async () => {
    const searchStrategy = (tools: readonly Tool[]) => [
      { name: "secret", inputSchema: { type: "object" as const } },
      ...tools.slice(0, 1),
      ...tools.slice(0, 1),
    ];
    expect(textOf(await search({ query: "x" }, { searchStrategy }))).toBe(
      "1 of 4 tools:\n\n- square: Multiplies a number with itself",
    );
  });

  it("that fails gives a reply that says so", async () => {
    const searchStrategy = () => {
      throw new Error("index is gone");
    };
    const reply = await search({ query: "x" }, { searchStrategy });
    expect(reply.isError).toBe(true);
    expect(textOf(reply)).toBe("index is gone");
  });
});

describe("63: a serializer of the user", () => {
  it.each([
    ["a string", () => "MINE", "MINE"],
    ["a promise of one", async () => "MINE", "MINE"],
    ["a list", () => [{ a: 1 }], '[{"a":1}]'],
  ])("that gives %s is sent verbatim", async (_what, searchResultSerializer, text) => {
    expect(textsOf(await search({ query: "multiply" }, { searchResultSerializer }))).toEqual([text]);
  });

  it("gets the question, the size of the catalog, and how scripts reach each tool", async () => {
    let context: unknown;
    const searchResultSerializer = (_tools: unknown, given: unknown) => ((context = given), "");
    await search({ query: "multiply", detail: "full" }, { searchResultSerializer });
    expect(context).toEqual({
      query: "multiply",
      total: 4,
      detail: "full",
      identifiers: new Map([
        ["square", "square"],
        ["add", "add"],
        ["greet", "greet"],
        ["ping", "ping"],
      ]),
    });
  });

  it("15, 16: gives JSON that parses, also when nothing was found", async () => {
    const options = { searchResultSerializer: markdownSerializer({ detail: "full" as const }) };
    const found: unknown = JSON.parse(textOf(await search({ query: "multiply" }, options)));
    expect(found).toMatchObject([{ name: "square", inputSchema: { type: "object" } }]);
    expect(textOf(await search({ query: "xylophone" }, options))).toBe("[]");
    expect(textOf(await search({ query: "xylophone" }, { searchResultSerializer: jsonSerializer() }))).toBe("[]");
  });
});

describe("a reply that would be too large", () => {
  const many = fakeSource(
    Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`tool_${index}`, tool("a longer text ".repeat(20))])),
  );

  it("ends between two tools and counts what was left out", async () => {
    const options = { limits: { maxResultBytes: 4096 } };
    const text = textOf(await search({ query: "longer", limit: 40 }, options, many));
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4096);
    const shown = text.match(/^- tool_/gm)?.length ?? 0;
    expect(shown).toBeGreaterThan(5);
    expect(text).toMatch(new RegExp(`^${shown} of 40 tools:`));
    expect(text).toContain(`${40 - shown} more found, left out: a reply has at most 4096 bytes.`);
  });

  it("stays JSON where it is JSON, with the count in a block of its own", async () => {
    const options = { limits: { maxResultBytes: 8192 }, searchResultSerializer: jsonSerializer() };
    const [json = "", note] = textsOf(await search({ query: "longer", limit: 40 }, options, many));
    const shown = (JSON.parse(json) as unknown[]).length;
    expect(note).toContain(`${40 - shown} more found`);
  });

  it("with one tool that is too large alone is an error that names the limit", async () => {
    const reply = await search({ query: "longer" }, { limits: { maxResultBytes: 600 } }, many);
    expect(markOf(reply).kind).toBe("limit");
    expect(textOf(reply)).toContain("maxResultBytes");
  });
});

describe("search as a tool", () => {
  it("says that it changes nothing, and has a title and a description that fits", () => {
    const [{ tool: definition } = { tool: undefined }] = engineOf(math()).metaTools;
    expect(definition).toMatchObject({
      title: "Search tools",
      annotations: { readOnlyHint: true, openWorldHint: false },
    });
    expect(definition?.description?.length).toBeLessThanOrEqual(2048);
    expect(definition?.description).toContain("default 8");
  });
});

describe("hidden parameters", () => {
  it("are in no schema that search shows, nor their values", async () => {
    const source = fakeSource({
      list_docs: {
        inputSchema: { type: "object", properties: { api_key: { type: "string" }, q: {} }, required: ["api_key"] },
        handler: () => "",
      },
    });
    const options = {
      defaultArguments: { api_key: "sk-test-000111" },
      argumentsFor: () => ({ hidden: ["api_key"] }),
      searchResultSerializer: jsonSerializer(),
    };
    const text = textOf(await search({}, options, source));
    expect(text).toContain('"q"');
    expect(text).not.toMatch(/api_key|sk-test/);
  });
});
