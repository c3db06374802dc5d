import { afterEach, describe, expect, it, vi } from "vitest";
import type { Tool } from "../../src/catalog/tool.js";
import { bm25 } from "../../src/search/bm25.js";
import type { Embed } from "../../src/search/embeddings.js";
import { strategySuite } from "./strategy-suite.js";
import { tool, TOOLS } from "./tools.js";

/** Letters of a text, counted: alike for texts in alike words. Deterministic, and needs no model. */
const countLetters: Embed = async (texts) =>
  texts.map((text) => {
    const vector = new Float32Array(26);
    for (const letter of text.toLowerCase().match(/[a-z]/g) ?? []) {
      const at = letter.charCodeAt(0) - 97;
      vector[at] = (vector[at] ?? 0) + 1;
    }
    return vector;
  });

/** Knows what words mean: each meaning is a dimension of its own. */
const meanings = [/mail|message|letter/i, /invoice|bill|owe/i, /symbol|code/i, /issue|tracker|bug/i];
const knowMeanings: Embed = async (texts) =>
  texts.map((text) => Float32Array.from(meanings, (meaning) => (meaning.test(text) ? 1 : 0)));

// Words only: the suite's questions without any match must stay without hits, so nothing may be near in meaning.
strategySuite("bm25 with embed", () => bm25({ embed: async (texts) => texts.map(() => new Float32Array(3)) }));

afterEach(() => {
  vi.restoreAllMocks();
});

describe("bm25 with an embed function", () => {
  it("finds what is near in meaning and has no word in common", async () => {
    const query = { query: "what do they owe us?", limit: 3 };
    expect(await bm25().search(query, TOOLS)).toEqual([]);
    const [first] = await bm25({ embed: knowMeanings }).search(query, TOOLS);
    expect(first?.name).toBe("list_invoices");
  });

  it("puts a tool that both rankings like before one that only the words fit", async () => {
    const tools = [tool("bill_poster", "Puts up bills"), tool("bill_mailer", "Sends bills as a letter"), ...TOOLS];
    const [first] = await bm25({ embed: knowMeanings }).search({ query: "bill by letter", limit: 3 }, tools);
    expect(first?.name).toBe("bill_mailer");
  });

  it("leaves tools in front that were named", async () => {
    const embed: Embed = async (texts) => texts.map((text) => Float32Array.of(/symbol/i.test(text) ? 0 : 1, 1));
    const [first] = await bm25({ embed }).search({ query: "findSymbol", limit: 3 }, TOOLS);
    expect(first?.name).toBe("find_symbol");
  });

  it("embeds each tool content once, and the question once", async () => {
    const embed = vi.fn<Embed>(countLetters);
    const strategy = bm25({ embed });
    const asked = (): string[] => embed.mock.calls.flatMap(([texts]) => [...texts]);
    await Promise.all(["bug", "bill"].map(async (query) => strategy.search({ query, limit: 3 }, TOOLS)));
    expect(asked()).toHaveLength(TOOLS.length + 2);
    embed.mockClear();
    const changed = TOOLS.map((each): Tool =>
      each.name === "send_email" ? { ...each, description: "new" } : { ...each },
    );
    await strategy.search({ query: "bug", limit: 3 }, changed);
    expect(asked().toSorted()).toEqual(["bug", "send email: new"]);
  });

  it.each<[string, Embed, RegExp]>([
    ["rejects", () => Promise.reject(new Error("model is gone")), /model is gone/],
    ["throws", () => { throw new Error("not loaded"); }, /not loaded/], // prettier-ignore
    ["returns too few vectors", async () => [], /one vector for each text: 5 asked, 0 returned/],
    ["returns NaN", async (texts) => texts.map(() => Float32Array.of(Number.NaN)), /NaN/],
    [
      "changes its length",
      async (texts) => texts.map(() => new Float32Array(texts.length).fill(1)),
      /different lengths/,
    ],
  ])("goes by words, with one warning, when it %s", async (_, embed, reason) => {
    const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    const strategy = bm25({ embed });
    const expected = await bm25().search({ query: "invoices", limit: 3 }, TOOLS);
    for (let round = 0; round < 3; round++) {
      expect(await strategy.search({ query: "invoices", limit: 3 }, TOOLS)).toEqual(expected);
    }
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn).toHaveBeenCalledWith(expect.stringMatching(reason), { code: "MCP_CODEMODE_EMBED" });
  });

  it("asks again after a failure", async () => {
    vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    let broken = true;
    const strategy = bm25({
      embed: async (texts) => (broken ? Promise.reject(new Error("not yet")) : knowMeanings(texts)),
    });
    expect(await strategy.search({ query: "what do they owe us?", limit: 3 }, TOOLS)).toEqual([]);
    broken = false;
    const [first] = await strategy.search({ query: "what do they owe us?", limit: 3 }, TOOLS);
    expect(first?.name).toBe("list_invoices");
  });
});
