import { describe, expect, it } from "vitest";
import { searchTool } from "../../src/meta-tools/search.js";
import { executeTool } from "../../src/meta-tools/execute.js";
import type { CodeMode } from "../../src/meta-tools/meta-tool.js";
import { jsonSerializer } from "../../src/search/serializers/json.js";
import { markdownSerializer } from "../../src/search/serializers/markdown.js";
import { fakeSource } from "../../src/testing.js";
import { callMeta, engineOf, execute, textOf, textsOf } from "./engine.js";

const source = () =>
  fakeSource(
    {
      create_issue: { description: "Open an issue", handler: () => "" },
      list_issues: { description: "List issues of a repository", handler: () => "" },
      send_mail: { description: "Send an e-mail to somebody", handler: () => "" },
      read_mail: { description: "Read e-mail", handler: () => "" },
      get_weather: { description: "Weather of a city", handler: () => "" },
    },
    { name: "office" },
  );
const engine = (options = {}): CodeMode =>
  engineOf(source(), { searchResultSerializer: markdownSerializer({ detail: "brief" }), ...options });
const search = async (args: Record<string, unknown>, one = engine()) => textOf(await callMeta(one, "search", args));
const namesIn = (text: string): string[] => [...text.matchAll(/^- (\w+)/gm)].map(([, name = ""]) => name);
const cursorIn = (text: string): string => /cursor "([^"]+)"/.exec(text)?.[1] ?? "";

describe("several questions", () => {
  it("are answered at once, by turns, and the reply says which found what", async () => {
    const text = await search({ query: ["open an issue", "weather", "send e-mail"] });
    expect(namesIn(text).slice(0, 3)).toEqual(["create_issue", "get_weather", "send_mail"]);
    expect(text).toContain('For "open an issue": create_issue');
    expect(text).toContain('For "weather": get_weather');
  });

  it("say which of them found nothing, and names like it", async () => {
    const text = await search({ query: ["weather", "xylophone", "send_mial"] });
    expect(text).toContain('Nothing fits "xylophone".');
    expect(text).toMatch(/send_mail/);
  });

  it("that all find nothing are told one by one, with the servers looked in", async () => {
    const text = await search({ query: ["xylophone", "zeppelin"] });
    expect(text).toContain('Nothing fits "xylophone"');
    expect(text).toContain('Nothing fits "zeppelin"');
    expect(text).toContain("5 tools were looked through; servers: office.");
  });

  it("have a limit", async () => {
    const query = Array.from({ length: 51 }, (_, index) => `question ${index}`);
    expect(await callMeta(engine(), "search", { query })).toMatchObject({ isError: true });
  });
});

describe("nothing fits", () => {
  it("is said with the three nearest names, the servers, and what to do", async () => {
    expect(await search({ query: "qreadsendqissueq" })).toMatch(
      /^No tools matched "qreadsendqissueq" \(of 5; servers: office\)\. Nearest names: \w+, \w+, \w+\. Try other words/,
    );
  });
});

describe("pages", () => {
  it("follow each other by a cursor until all hits were shown", async () => {
    const one = engine();
    const first = await search({ limit: 2 }, one);
    expect(first).toMatch(/^2 of 5 tools, in name order:/);
    const second = await search({ limit: 2, cursor: cursorIn(first) }, one);
    expect(second).toMatch(/^2 of 5 tools from 3 on, in name order:/);
    const third = await search({ limit: 2, cursor: cursorIn(second) }, one);
    expect(cursorIn(third)).toBe("");
    expect([first, second, third].flatMap(namesIn)).toEqual([
      "create_issue",
      "get_weather",
      "list_issues",
      "read_mail",
      "send_mail",
    ]);
  });

  it("of a question with words do not repeat a tool", async () => {
    const one = engine();
    const first = await search({ query: "mail issue", limit: 2 }, one);
    const second = await search({ query: "mail issue", limit: 2, cursor: cursorIn(first) }, one);
    const names = [first, second].flatMap(namesIn);
    expect(names).toHaveLength(4);
    expect(new Set(names).size).toBe(4);
  });

  it("hold across engines over the same tools, and not once the tools have changed", async () => {
    const cursor = cursorIn(await search({ limit: 2 }));
    expect(await search({ limit: 2, cursor })).toContain("from 3 on");
    const changed = source();
    const one = engineOf(changed);
    await search({}, one);
    changed.set("create_issue", { description: "Open a ticket", handler: () => "" });
    expect(await search({ limit: 2, cursor }, one)).toMatch(/^Stale cursor/);
    expect(await search({ limit: 2, cursor, server: "office" })).toMatch(/^Invalid cursor: .*other filters/);
  });

  it("of JSON keep the cursor out of it", async () => {
    const texts = textsOf(await callMeta(engine({ searchResultSerializer: jsonSerializer() }), "search", { limit: 2 }));
    expect(JSON.parse(texts[0] ?? "")).toHaveLength(2);
    expect(texts[1]).toContain("Next page: the same search with cursor");
  });

  it("show every tool that was asked for by name, whatever the limit", async () => {
    const text = await search({ query: "send_mail, read_mail, get_weather", limit: 1 });
    expect(namesIn(text)).toHaveLength(3);
  });
});

describe("options of the search tool", () => {
  const toolOf = (options: Parameters<typeof searchTool>[0]): CodeMode =>
    engine({ metaTools: [searchTool(options), executeTool()] });

  it("rename arguments", async () => {
    const one = toolOf({ parameters: { query: "q", limit: "top" } });
    expect(await search({ q: "weather", top: 1 }, one)).toContain("- get_weather");
    expect(await search({ query: "weather" }, one)).toContain("It takes: q, top, detail, server, tags, cursor.");
    expect(await search({ q: "weather", top: 0 }, one)).toContain("top must be a whole number");
  });

  it("refuse to rename what is not there, and two to one name", () => {
    expect(() => searchTool({ parameters: { qurey: "q" } })).toThrow(
      /no parameter "qurey" to rename\. Did you mean query/,
    );
    expect(() => searchTool({ parameters: { query: "limit" } })).toThrow(/two parameters are named "limit"/);
  });

  it("nomad 22: the limit null gives all matches, and all tools without a query", async () => {
    const one = toolOf({ defaultLimit: 1 });
    expect(namesIn(await search({ limit: null }, one))).toHaveLength(5);
    expect(namesIn(await search({ query: "mail", limit: null }, one)).toSorted()).toEqual(["read_mail", "send_mail"]);
    expect(namesIn(await search({ limit: null }, toolOf({ maxLimit: 2 })))).toHaveLength(2);
  });

  it("bound what a caller may ask for", async () => {
    expect(namesIn(await search({ limit: 100 }, toolOf({ maxLimit: 2 })))).toHaveLength(2);
  });
});

describe("search_tools of a script", () => {
  it("takes several questions, and gives definitions", async () => {
    const code = 'return (await search_tools(["weather", "open an issue"])).map(({ name }) => name)';
    const names = JSON.parse(textOf(await execute(engine(), code))) as string[];
    expect(names.slice(0, 2)).toEqual(["get_weather", "create_issue"]);
  });
});
