import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Tool } from "../../src/catalog/tool.js";
import { declarations, signature, signatures } from "../../src/catalog/typescript.js";
import { declarationModule, diagnosticsOf, signatureModule } from "./compiled.js";
import { HOSTILE_TEXTS, randomNumbers, RandomTools } from "./random-schemas.js";

const SEEDS = Array.from({ length: 16 }, (_, index) => index + 1);

/** Every form of these tools as files: each signature, one page of them, all declarations. */
function formsOf(label: string, tools: readonly Tool[]): [file: string, text: string][] {
  const { lines, types } = signatures(tools);
  return [
    ...tools.map((tool, index): [string, string] => [`/${label}-${index}.ts`, signatureModule(signature(tool))]),
    [`/${label}-page.ts`, signatureModule([...lines, ...types].join("\n"))],
    [`/${label}-all.ts`, declarationModule(declarations(tools))],
  ];
}

const toolOf = (inputSchema: unknown, name = "tool"): Tool => ({
  name,
  inputSchema: inputSchema as Tool["inputSchema"],
});

describe("every form compiles under strict", () => {
  it("this test would notice a text that does not", () => {
    const texts = new Map([
      ["/syntax.ts", "type A = {"],
      ["/circular.ts", "type A = A | string"],
    ]);
    const files = diagnosticsOf(texts).map(({ file }) => file);
    expect(files).toContain("/syntax.ts");
    expect(files).toContain("/circular.ts");
  });

  const catalogs = new URL("../../../shared/catalogs/", import.meta.url);
  it.skipIf(!existsSync(catalogs))(
    "for every tool of the real catalogs (skipped where ../shared is missing)",
    () => {
      const files = readdirSync(catalogs).filter((file) => file.endsWith(".json"));
      const texts = files.flatMap((file) =>
        formsOf(file, JSON.parse(readFileSync(new URL(file, catalogs), "utf8")) as Tool[]),
      );
      expect(texts.length).toBeGreaterThan(1_000);
      expect(diagnosticsOf(new Map(texts))).toEqual([]);
    },
    60_000,
  );

  it("for generated schemas of every form, broken ones too", () => {
    const texts = SEEDS.flatMap((seed) => {
      const random = new RandomTools(randomNumbers(seed));
      return formsOf(
        `seed-${seed}`,
        Array.from({ length: 30 }, (_, index) => random.tool(index)),
      );
    });
    expect(diagnosticsOf(new Map(texts))).toEqual([]);
  }, 60_000);

  it("for names and texts that try to leave their place", () => {
    const hostile = HOSTILE_TEXTS.map((text, index): Tool => {
      const schema = {
        type: "object",
        title: text,
        description: text,
        properties: { [text]: { type: "string", description: text, default: text, pattern: text, enum: [text] } },
        required: [text],
        $defs: { [text]: { type: "object", properties: { [text]: { $ref: "#" } } } },
      } as const;
      return { name: `${text}${index}`, description: text, inputSchema: schema, outputSchema: schema };
    });
    expect(diagnosticsOf(new Map(formsOf("hostile", hostile)))).toEqual([]);
  }, 30_000);

  it("for aliases that lead only to themselves, in any order of definitions", () => {
    const ref = (name: string): object => ({ $ref: `#/$defs/${name}` });
    const long = { type: "string", enum: ["a long value", "another long value", "and one more of them"] };
    const schema = {
      type: "object",
      properties: {
        a: ref("A"),
        b: ref("B"),
        c: ref("C"),
        d: ref("D"),
        e: ref("E"),
        f: ref("F"),
        g: ref("G"),
        h: ref("H"),
        i: ref("I"),
        self: { $ref: "#/properties/self" },
      },
      $defs: {
        A: { anyOf: [{ type: "object", properties: { b: ref("B") } }, ref("B")] },
        B: { anyOf: [ref("A"), long] },
        C: { allOf: [ref("C"), long] },
        D: { type: "object", additionalProperties: { anyOf: [ref("D"), { type: "array", items: ref("D") }] } },
        F: {
          type: ["array", "null"],
          prefixItems: [{}, { type: "array", items: ref("F") }],
          minItems: 1,
          items: { type: "array", items: ref("F") },
        },
        G: {
          allOf: [
            { type: "array", prefixItems: [{}, { type: "array", prefixItems: [ref("G"), long] }], minItems: 1 },
            { type: "object", properties: { g: ref("G") } },
          ],
        },
        I: { type: "object", additionalProperties: ref("I") },
        H: { type: "object", additionalProperties: { type: "object", properties: { h: ref("H") } } },
        E: { anyOf: [{ type: "array", items: ref("E") }, { type: "array", prefixItems: [ref("E"), long] }, long] },
      },
    };
    expect(diagnosticsOf(new Map(formsOf("aliases", [toolOf(schema)])))).toEqual([]);
  });

  it("for unions that a compiler would multiply out to millions", () => {
    const union = (prefix: string): object => ({
      anyOf: Array.from({ length: 200 }, (_, index) => ({
        type: "object",
        properties: { [`${prefix}${index}`]: { type: "string" } },
        required: [`${prefix}${index}`],
      })),
    });
    const schema = { type: "object", properties: { x: { allOf: [union("a"), union("b"), union("c")] } } };
    const texts = formsOf("product", [toolOf(schema)]);
    expect(diagnosticsOf(new Map(texts))).toEqual([]);
    expect(texts.at(-1)?.[1]).toContain("/* cut */");
  });
});

describe("hostile objects", () => {
  it("circular schemas are printed by name", () => {
    const node: Record<string, unknown> = { type: "object" };
    node["properties"] = { value: { type: "number" }, next: node };
    const tool = toolOf({ type: "object", properties: { list: node } });
    expect(signature(tool)).toMatch(/list\?: \{ value\?: number; next\?: Nested \}/);
    expect(signature(tool)).toContain("type Nested = { value?: number; next?: Nested }");
    expect(diagnosticsOf(new Map(formsOf("circular", [tool])))).toEqual([]);
  });

  it("getters that throw, revoked proxies and deep schemas take nothing but their own place", () => {
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    let deep: unknown = { type: "string" };
    for (let level = 0; level < 100_000; level++) deep = { type: "object", properties: { d: deep } };
    const throwing = Object.defineProperty({ type: "object" }, "properties", {
      enumerable: true,
      get: () => {
        throw new Error("no");
      },
    });
    const tools = [
      toolOf({ type: "object", properties: { a: revoked.proxy, b: { type: "string" } } }, "proxied"),
      toolOf(throwing, "throwing"),
      toolOf(deep, "deep"),
      toolOf({ type: "object", properties: { n: { enum: [1n, Symbol("x"), () => 1, Number.NaN] } } }, "values"),
      toolOf(revoked.proxy, "gone"),
      toolOf(null, "nothing"),
      toolOf({ type: "object", properties: { a: { type: "string" } } }, "sound"),
    ];
    const text = declarations(tools);
    expect(text).toContain("function sound(args?: {");
    expect(signature(tools[0] as Tool)).toContain("b?: string");
    expect(signature(tools[2] as Tool)).toContain("/* cut */");
    expect(diagnosticsOf(new Map(formsOf("objects", tools)))).toEqual([]);
  });
});
