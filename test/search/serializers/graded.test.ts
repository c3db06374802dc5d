import { describe, expect, it } from "vitest";
import type { Tool } from "../../../src/catalog/tool.js";
import { gradedSerializer } from "../../../src/search/serializers/graded.js";
import { estimateTokens } from "../../../src/search/serializers/token-estimate.js";

const tool = (name: string, parameters = 2, words = 8): Tool => ({
  name,
  description: `Does ${name}. ${"Further words. ".repeat(words)}`,
  inputSchema: {
    type: "object",
    properties: Object.fromEntries(
      Array.from({ length: parameters }, (_, index) => [
        `${name}_${index}`,
        { type: "string", default: `${index}`, description: `Parameter ${index} of ${name}, with some words.` },
      ]),
    ),
  },
});
const print = (tools: Tool[], options = {}, context = {}): string =>
  gradedSerializer(options)(tools, { total: tools.length, ...context }) as string;
const six = ["one", "two", "three", "four", "five", "six"].map((name) => tool(name));

describe("a graded page", () => {
  it("shows the best two whole, further ones as signatures, the rest as names with a first sentence", () => {
    const text = print(six, { budgetTokens: 300 });
    expect(text).toMatch(/^# one\nDoes one\. .*\n- one_0\?: string = "0" - Parameter 0 of one, with some words\./);
    expect(text).toContain('- two_1?: string = "1" - Parameter 1 of two');
    expect(text).toMatch(/\/\/ Does three\. .*\ntools\.three\(args\?: \{ three_0\?: string/);
    expect(text).not.toContain("Parameter 0 of three");
    expect(text).toMatch(/\n- six: Does six\.$/);
    expect(text).not.toContain("tools.six(");
    for (const { name } of six) expect(text).toContain(name);
  });

  it("stays within its budget when the best two do", () => {
    for (const budgetTokens of [350, 500, 1_000, 1_500]) {
      const text = print(
        Array.from({ length: 40 }, (_, index) => tool(`tool${index}`)),
        { budgetTokens: budgetTokens * 2 },
      );
      expect(estimateTokens(text)).toBeLessThanOrEqual(budgetTokens * 2);
    }
  });

  it("shows one that would take over 60 % of the budget as a signature, and says how to read the rest", () => {
    const text = print([tool("huge", 100), tool("small")], { budgetTokens: 1_000 });
    expect(text).toContain('// get_schema("huge") for all 100 parameters');
    expect(text).toMatch(/tools\.huge\(args\?: \{ huge_0\?: string/);
    expect(text).toContain("# small");
    expect(text.indexOf("tools.huge(")).toBeLessThan(text.indexOf("# small"));
    expect(estimateTokens(text)).toBeLessThan(1_000);
    expect(print([tool("small"), tool("huge", 100)], { budgetTokens: 20_000 })).toContain("- huge_99?: string");
  });

  it.each([
    ["brief", /^- one: Does one\.\n- two: Does two\.\n/],
    ["signature", /^\/\/ Does one\. .*\ntools\.one\(.*\n\/\/ Does two/],
    ["detailed", /^\/\/ Does one\. .*\ntools\.one\(.*\n\/\/ Does two/],
    ["full", /^# one\n[^]*# six\n.*\n- six_0\?: string = "0" - Parameter/],
  ])("is replaced by the detail %s when a call asks for it", (detail, form) => {
    expect(print(six, { budgetTokens: 100 }, { detail })).toMatch(form);
  });

  it("shows tools that were asked for by name whole", () => {
    expect(print(six, { budgetTokens: 100 }, { purpose: "schema" })).toContain("- six_1?: string");
  });

  it("uses the identifiers of the whole catalog, and says nothing was found when nothing was", () => {
    const identifiers = new Map([["a-b", "a_b_2"]]);
    expect(print([tool("a-b")], {}, { identifiers })).toContain("# a-b = tools.a_b_2");
    expect(print([])).toBe("No tools matched the query.");
  });

  it("refuses a budget that is none", () => {
    for (const budgetTokens of [0, -1, Number.NaN, "many"]) {
      expect(() => gradedSerializer({ budgetTokens: budgetTokens as number })).toThrow(/budgetTokens must be a number/);
    }
  });
});

describe("a result type that was learned", () => {
  const schema = { type: "object", properties: { id: { type: "string" } }, required: ["id"] };
  const learned: Tool = { ...tool("list"), _meta: { "mcp-codemode/learned": { schema, times: 3 } } };

  it("is marked in every form", () => {
    expect(print([learned])).toContain("-> (observed 3 times) {id: string}");
    expect(print([learned], {}, { detail: "signature" })).toContain(
      "Promise<{ id: string }> // result type observed 3 times",
    );
  });

  it("gives way to a declared one", () => {
    const declared = { ...learned, outputSchema: { type: "string" } };
    expect(print([declared])).toContain("-> string");
    expect(print([declared])).not.toContain("observed");
  });
});
