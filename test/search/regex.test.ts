import { describe, expect, it } from "vitest";
import { ValidationError } from "../../src/errors.js";
import { regex } from "../../src/search/regex.js";
import { strategySuite } from "./strategy-suite.js";
import { manyTools, tool, TOOLS } from "./tools.js";

strategySuite("regex", regex);

const find = async (query: string, limit = 10): Promise<string[]> =>
  (await regex().search({ query, limit }, TOOLS)).map((hit) => hit.name);

describe("regex", () => {
  it("takes alternatives, anchors and classes", async () => {
    expect((await find("create|invoices")).toSorted()).toEqual(["create_issue", "list_invoices"]);
    expect(await find("^find_\\w+$")).toEqual(["find_referencing_symbols", "find_symbol"]);
    expect(await find("^vat")).toEqual(["list_invoices"]);
  });

  it("puts matches in names before matches in texts", async () => {
    expect((await find("symbol"))[0]).toBe("find_referencing_symbols");
    expect(await find("new|send")).toEqual(["send_email", "create_issue"]);
  });

  it("cuts everything down to the limit", async () => {
    expect(await find(".*")).toHaveLength(TOOLS.length);
    expect(await find(".*", 2)).toHaveLength(2);
  });

  it.each([
    ["create(issue", /missing closing \)/],
    ["[", /missing closing \]/],
    ["*", /missing argument to repetition/],
    ["(?=look)", /unsupported Perl syntax/],
    ["(a)\\1", /invalid escape/],
    ["a{1000000}", /invalid repeat count/],
    ["x".repeat(2_000), /2000 characters; at most 1000/],
    ["((((a?){30}){30}))b", /too large once its repetitions are written out/],
  ])("refuses %s and says why", async (query, reason) => {
    const search = async () => regex().search({ query, limit: 5 }, TOOLS);
    await expect(search()).rejects.toThrow(ValidationError);
    await expect(search()).rejects.toThrow(reason);
  });

  it("stays fast on patterns that make a backtracking engine hang", async () => {
    const tools = [...TOOLS, ...manyTools(50), tool("bait", "a".repeat(4_000))];
    const started = performance.now();
    expect(await regex().search({ query: "(a+)+$x|(a|aa)+z", limit: 5 }, tools)).toEqual([]);
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});
