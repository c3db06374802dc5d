import { describe, expect, it } from "vitest";
import type { Tool } from "../../src/catalog/tool.js";
import { bm25 } from "../../src/search/bm25.js";
import { strategySuite } from "./strategy-suite.js";
import { manyTools, tool, TOOLS } from "./tools.js";

strategySuite("bm25", () => bm25());

const strategy = bm25();
const find = async (query: string, tools: readonly Tool[] = TOOLS, limit = 10): Promise<string[]> =>
  (await strategy.search({ query, limit }, tools)).map((hit) => hit.name);

describe("bm25: names", () => {
  it.each(["find_symbol", "find symbol", "findSymbol", "FIND-SYMBOL", "findsymbol", "find_symbl", "fnid_symbol"])(
    "puts find_symbol before descriptions stuffed with its words: %s",
    async (query) => {
      expect((await find(query))[0]).toBe("find_symbol");
    },
  );

  it("puts a tool first that a sentence names", async () => {
    expect((await find("please use list_invoices, not the email or issue or symbol tools"))[0]).toBe("list_invoices");
    expect((await find("how does listInvoices work?"))[0]).toBe("list_invoices");
  });

  it("puts every tool of a list of names first", async () => {
    expect((await find("send_email, find_symbol, create_issue", TOOLS, 3)).toSorted()).toEqual([
      "create_issue",
      "find_symbol",
      "send_email",
    ]);
  });

  it("does not take words of a sentence for names", async () => {
    const tools = [...TOOLS, tool("statistics", "Numbers of roulette tables"), tool("video_views", "Views of a video")];
    expect((await find("how many views has the video? I want direct links and statistics.", tools))[0]).toBe(
      "video_views",
    );
  });

  it("finds names that carry their server in front, with and without it", async () => {
    const of = (server: string, name: string) => tool(`${server}__${name}`, "x", {}, { "mcp-codemode/server": server });
    const tools = [of("github", "create_issue"), of("jira", "create_issue"), of("jira", "move_card")];
    expect((await find("jira.create_issue", tools))[0]).toBe("jira__create_issue");
    expect((await find("create_issue", tools)).slice(0, 2)).toEqual(["github__create_issue", "jira__create_issue"]);
    expect((await find("moveCard", tools))[0]).toBe("jira__move_card");
  });
});

describe("bm25: words", () => {
  it("finds misspelt, shortened and joined words", async () => {
    expect((await find("invocies"))[0]).toBe("list_invoices");
    expect((await find("recip"))[0]).toBe("send_email");
    expect((await find("codesymbol"))[0]).toContain("symbol");
  });

  it("finds other forms of a word, and no other word with the same beginning", async () => {
    const tools = [tool("get_news", "Headlines"), tool("make_new", "Something fresh"), tool("train_times", "Railway")];
    expect((await find("news", tools))[0]).toBe("get_news");
    expect(await find("training", tools)).not.toContain("make_new");
    expect((await find("headline", tools))[0]).toBe("get_news");
  });

  it("finds related words, after the ones that were said", async () => {
    expect((await find("report a bug"))[0]).toBe("create_issue");
    const tools = [
      tool("delete_record", "Delete a record of a database"),
      tool("remove_row", "Remove one row"),
      ...TOOLS,
    ];
    expect((await find("delete records from database", tools))[0]).toBe("delete_record");
    expect((await find("delete", tools)).slice(0, 2)).toEqual(["delete_record", "remove_row"]);
  });

  it("gives nothing for a question that only touches a subject by one stray word", async () => {
    expect(await find("bake a chocolate cake")).toEqual([]);
    const tools = [tool("set_flag", "Sets a property", { property: "" }), tool("other", "Something else entirely")];
    expect(await find("mortgage", tools)).toEqual([]);
  });

  it("keeps a word that most tools share", async () => {
    const tools = ["invoice_list", "invoice_pay", "invoice_void"].map((name) => tool(name, "an invoice"));
    const found = await find("invoice", [...tools, tool("mail", "send mail")]);
    expect(found.toSorted()).toEqual(["invoice_list", "invoice_pay", "invoice_void"]);
  });

  it("uses small words when a question has no others", async () => {
    expect((await find("help", [tool("help", "Shows the manual"), ...TOOLS]))[0]).toBe("help");
  });

  it("finds by title, tag, alias and server", async () => {
    const tools: Tool[] = [
      { ...tool("e3"), title: "Archive the mailbox" },
      tool("e4", "", {}, { "mcp-codemode/tags": ["accounting"] }),
      tool("e5", "", {}, { "mcp-codemode/aliases": ["wombat", 7] }),
      tool("e6", "", {}, { "mcp-codemode/server": "zendesk" }),
      ...TOOLS,
    ];
    expect((await find("archive mailbox", tools))[0]).toBe("e3");
    expect((await find("accounting", tools))[0]).toBe("e4");
    expect(await find("wombat", tools)).toEqual(["e5"]);
    expect(await find("zendesk", tools)).toEqual(["e6"]);
  });

  it("reads referenced and alternative parts of a schema, and enum values", async () => {
    const shaped: Tool = {
      name: "shaped",
      inputSchema: {
        type: "object",
        properties: { a: { $ref: "#/$defs/Kind" }, b: { anyOf: [{ type: "null" }, { properties: { walrus: {} } }] } },
        $defs: { Kind: { enum: ["ostrich"], description: "A flamingo" } },
      },
    };
    for (const query of ["walrus", "ostrich", "flamingo"])
      expect(await find(query, [...TOOLS, shaped])).toEqual(["shaped"]);
  });

  it.each(["create(issue", "[", "*", "C:\\path", "a|b", "$^", "???", "---", "\n", " "])(
    "takes %j for plain text",
    async (query) => {
      await expect(find(query)).resolves.toBeInstanceOf(Array);
    },
  );
});

describe("bm25: other languages", () => {
  it("finds Cyrillic, Chinese, Japanese, Korean and accented words", async () => {
    const tools = [
      tool("get_portfolio", "Показывает портфель клиента"),
      tool("weather", "查询城市的天气情况"),
      tool("forecast", "今日の天気予報を表示します"),
      tool("order", "주문 목록을 보여줍니다"),
      tool("menu", "Ändere die Größe der Pizza"),
      tool("hindi", "ग्राहक की सूची दिखाएं"),
    ];
    expect((await find("портфель", tools))[0]).toBe("get_portfolio");
    expect((await find("城市天气", tools))[0]).toBe("weather");
    expect((await find("天気予報", tools))[0]).toBe("forecast");
    expect((await find("주문", tools))[0]).toBe("order");
    expect((await find("grosse andere", tools))[0]).toBe("menu");
    expect((await find("ग्राहक", tools))[0]).toBe("hindi");
  });

  it("finds a Chinese description by common English words", async () => {
    const tools = [tool("get_a", "获取热门新闻"), tool("get_b", "查询城市的天气"), ...TOOLS];
    expect((await find("trending news", tools))[0]).toBe("get_a");
    expect((await find("weather", tools))[0]).toBe("get_b");
  });
});

describe("bm25: bounds", () => {
  it("reads the beginning of a query of 100 KB and answers within a moment", async () => {
    const tools = manyTools(1_000);
    await strategy.index?.(tools);
    for (const query of [
      `customer ${"zq ".repeat(33_000)}`,
      "x".repeat(100_000),
      "a_b.c".repeat(20_000),
      "a,".repeat(50_000),
    ]) {
      const started = performance.now();
      await strategy.search({ query, limit: 5 }, tools);
      expect(performance.now() - started).toBeLessThan(1_000);
    }
    expect(await find(`customer ${"zq ".repeat(33_000)}`, tools, 3)).toHaveLength(3);
  });

  it("shares what it indexed with another instance, also for tools listed anew", async () => {
    const first = manyTools(1_500, "shared");
    await bm25().index?.(first);
    const copies = structuredClone(first);
    let turns = 0;
    const count = (): void => {
      turns += 1;
      next = setImmediate(count);
    };
    await bm25().search({ query: "shared", limit: 5 }, copies); // reads the new objects once
    let next = setImmediate(count);
    await bm25().search({ query: "shared", limit: 5 }, copies);
    clearImmediate(next);
    expect(turns).toBe(0); // nothing was rebuilt, so nothing had to make way
  });

  it("gives the same hits to searches that start while the index is made", async () => {
    const tools = manyTools(1_200, "parallel");
    const searches = Array.from({ length: 5 }, async () => bm25().search({ query: "parallel", limit: 5 }, tools));
    const [first, ...others] = await Promise.all(searches);
    expect(first).toHaveLength(5);
    for (const other of others) expect(other).toEqual(first);
  });
});
