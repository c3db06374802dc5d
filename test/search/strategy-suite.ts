import { describe, expect, it } from "vitest";
import type { Tool } from "../../src/catalog/tool.js";
import type { SearchStrategy } from "../../src/search/strategy.js";
import { manyTools, tool, TOOLS } from "./tools.js";

/** What every search strategy of this package must do, whatever its way of matching. */
export function strategySuite(name: string, make: () => SearchStrategy): void {
  const find = async (query: string, tools: readonly Tool[] = TOOLS, limit = 10): Promise<string[]> =>
    (await make().search({ query, limit }, tools)).map((hit) => hit.name);

  describe(`${name}, as a search strategy`, () => {
    it("has a name", () => {
      expect(make().name).toMatch(/^\w+$/);
    });

    it("finds by name, description, parameter name and parameter description", async () => {
      expect((await find("invoices"))[0]).toBe("list_invoices");
      expect((await find("tracker"))[0]).toBe("create_issue");
      expect((await find("customer_tax_id"))[0]).toBe("list_invoices");
      expect((await find("VAT"))[0]).toBe("list_invoices");
    });

    it("ignores case", async () => {
      expect(await find("RECIPIENT")).toEqual(await find("recipient"));
      expect(await find("Recipient")).toEqual(["send_email"]);
    });

    it("gives [] when nothing matches, and for no tools at all", async () => {
      expect(await find("xylophone")).toEqual([]);
      expect(await find("issue", [])).toEqual([]);
    });

    it("works on catalogs of one and two tools", async () => {
      expect(await find("issue", TOOLS.slice(0, 1))).toEqual(["create_issue"]);
      expect((await find("symbol", TOOLS.slice(0, 2)))[0]).toBe("find_symbol");
    });

    it("gives at most as many hits as asked for, each tool once, best first", async () => {
      const strategy = make();
      const hits = await strategy.search({ query: "update", limit: 7 }, manyTools(60));
      expect(hits).toHaveLength(7);
      expect(new Set(hits.map((hit) => hit.name)).size).toBe(7);
      const scores = hits.map((hit) => hit.score);
      expect(scores).toEqual(scores.toSorted((a, b) => b - a));
      expect(scores.every((score) => Number.isFinite(score) && score > 0)).toBe(true);
    });

    it("orders ties by name, whatever the order of the catalog", async () => {
      const tied = ["b_ping", "a_ping", "c_ping"].map((each) => tool(each, "ping host"));
      for (const order of [tied, tied.toReversed()]) {
        expect(await find("ping", order)).toEqual(["a_ping", "b_ping", "c_ping"]);
      }
    });

    it("finds only among the tools it is given", async () => {
      const strategy = make();
      const all = [...TOOLS, tool("admin_wipe", "wipe data")];
      expect(await strategy.search({ query: "wipe", limit: 5 }, all)).toHaveLength(1);
      expect(await strategy.search({ query: "wipe", limit: 5 }, TOOLS)).toEqual([]);
    });

    it("sees tools that come, go or change without being told", async () => {
      const strategy = make();
      const search = async (query: string, tools: readonly Tool[]) =>
        (await strategy.search({ query, limit: 5 }, tools)).map((hit) => hit.name);
      expect(await search("zebra", TOOLS)).toEqual([]);
      const grown = [...TOOLS, tool("feed_zebra")];
      expect(await search("zebra", grown)).toEqual(["feed_zebra"]);
      const described = TOOLS.map((each) => (each.name === "send_email" ? { ...each, description: "zebra" } : each));
      expect(await search("zebra", described)).toEqual(["send_email"]);
      const reshaped = TOOLS.map((each) =>
        each.name === "find_symbol" ? tool("find_symbol", "", { zebra: "" }) : each,
      );
      expect(await search("zebra", reshaped)).toEqual(["find_symbol"]);
      expect(await search("zebra", TOOLS)).toEqual([]);
    });

    it("takes tools without description, with an empty one, and a schema without properties", async () => {
      const bare: Tool[] = [
        { name: "undocumented_export", inputSchema: { type: "object" } },
        { name: "e2", description: "", inputSchema: { type: "object" } },
        ...TOOLS,
      ];
      expect((await find("export", bare))[0]).toBe("undocumented_export");
    });

    it("finds words of nested schemas", async () => {
      const nested: Tool = {
        name: "save",
        inputSchema: {
          type: "object",
          properties: {
            rows: { type: "array", items: { type: "object", properties: { petunia: { type: "string" } } } },
          },
        },
      };
      expect(await find("petunia", [...TOOLS, nested])).toEqual(["save"]);
    });

    it("takes words that are names of built-in properties", async () => {
      const strange = ["constructor", "__proto__", "toString"].map((each) => tool(each, "odd"));
      for (const each of strange) expect(await find(each.name, strange)).toContain(each.name);
      for (const query of ["constructor", "__proto__", "toString valueOf", "hasOwnProperty"]) {
        expect(await find(query)).toEqual([]);
      }
      expect(({} as Record<string, unknown>)["odd"]).toBeUndefined();
    });

    it("takes huge and circular tools", async () => {
      const circular: Tool = { name: "circular", inputSchema: { type: "object", properties: { needle: {} } } };
      (circular.inputSchema["properties"] as Record<string, unknown>)["self"] = circular.inputSchema;
      let deep: Record<string, unknown> = { type: "string" };
      for (let depth = 0; depth < 5_000; depth++) deep = { type: "object", properties: { a: deep } };
      const hostile: Tool[] = [
        circular,
        { name: "deep", inputSchema: { type: "object", properties: { deep } } },
        tool("long", `word ${"long ".repeat(200_000)}`),
        {
          name: "values",
          inputSchema: {
            type: "object",
            properties: { v: { enum: Array.from({ length: 10_000 }, (_, i) => `v${i}`) } },
          },
        },
        { name: "broken", inputSchema: { type: "object", properties: null, anyOf: "no", $ref: "#/__proto__/x" } },
      ];
      expect(await find("needle", hostile)).toEqual(["circular"]);
      expect(await find("word", hostile)).toContain("long");
    });

    it("lets other work run while it looks through a large catalog", async () => {
      let turns = 0;
      const count = (): void => {
        turns += 1;
        next = setImmediate(count);
      };
      let next = setImmediate(count);
      await make().search({ query: "customer", limit: 5 }, manyTools(3_000, `word${name}`));
      clearImmediate(next);
      expect(turns).toBeGreaterThan(2);
    });
  });
}
