import { describe, expect, it } from "vitest";
import type { Tool } from "../../../src/catalog/tool.js";
import type { Detail } from "../../../src/search/serializers/serializer.js";
import { typescriptSerializer } from "../../../src/search/serializers/typescript.js";
import { declarationModule, diagnosticsOf, signatureModule } from "../../catalog/compiled.js";
import { HOSTILE_TEXTS } from "../../catalog/random-schemas.js";

const print = (tools: readonly Tool[], detail?: Detail): string =>
  typescriptSerializer()([...tools], { total: tools.length, detail }) as string;

const node = {
  type: "object",
  properties: { text: { type: "string" }, children: { type: "array", items: { $ref: "#/$defs/node" } } },
};
const tree = (name: string): Tool => ({
  name,
  description: `Stores a tree.\nUse ${name}.`,
  inputSchema: { type: "object", properties: { root: { $ref: "#/$defs/node" } }, $defs: { node } },
});

describe("tools as TypeScript", () => {
  it("are a one-line description and a one-line signature each, shared types once at the end", () => {
    expect(print([tree("put_tree"), tree("check-tree")])).toBe(
      `// Stores a tree. Use put_tree.
tools.put_tree(args?: { root?: Node }): Promise<unknown>
// Stores a tree. Use check-tree.
tools.check_tree(args?: { root?: Node }): Promise<unknown> // call_tool("check-tree", args)
type Node = { text?: string; children?: Node[] }`,
    );
  });

  it("a tool without description has one line", () => {
    expect(print([{ name: "ping", inputSchema: { type: "object" } }])).toBe("tools.ping(): Promise<unknown>");
  });

  it("the caller's level wins: brief, signature, declarations", () => {
    expect(print([tree("put_tree")], "brief")).toBe("- put_tree: Stores a tree. Use put_tree.");
    expect(print([tree("put_tree")], "detailed")).toBe(print([tree("put_tree")], "signature"));
    expect(print([tree("put_tree")], "full")).toMatch(/^declare namespace tools \{/);
    const full = typescriptSerializer({ detail: "declarations" });
    expect(full([tree("put_tree")], { total: 1 })).toBe(print([tree("put_tree")], "full"));
  });

  it("nothing found is said", () => {
    expect(print([])).toBe("No tools matched the query.");
  });

  it("a tool is called what it is called in the whole catalog", () => {
    const text = typescriptSerializer()([tree("a-b")], { total: 2, identifiers: new Map([["a-b", "a_b_2"]]) });
    expect(text).toContain("tools.a_b_2(");
  });

  it("texts of tools stay in their lines and compile", () => {
    const tools = HOSTILE_TEXTS.map((text, index): Tool => ({
      name: `tool_${index}`,
      description: text,
      inputSchema: { type: "object", properties: { [text]: { enum: [text], description: text } } },
    }));
    const text = print(tools);
    expect(text.split("\n")).toHaveLength(2 * tools.length);
    expect(text).not.toMatch(/[\p{Cf}\p{Cs}\u2028\u2029]/u);
    const files = new Map([
      ["/signatures.ts", signatureModule(text)],
      ["/declarations.ts", declarationModule(print(tools, "full"))],
    ]);
    expect(diagnosticsOf(files)).toEqual([]);
  });
});
