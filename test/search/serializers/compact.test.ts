import { Ajv2020 } from "ajv/dist/2020.js";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Tool } from "../../../src/catalog/tool.js";
import { compactPage } from "../../../src/search/serializers/compact.js";
import { randomNumbers, RandomTools } from "../../catalog/random-schemas.js";
import { parsePage, type ReadPage } from "./compact/parse-page.js";
import { differences, fold } from "./compact/same-schema.js";

/** What reading the page back lost of the tools. */
function lostOf(tools: readonly Tool[], text: string): string[] {
  const page = parsePage(text);
  expect(page.tools.map(({ name }) => name)).toEqual(tools.map(({ name }) => name));
  return tools.flatMap((tool, index) => lostOfTool(tool, page, index));
}

function lostOfTool(tool: Tool, page: ReadPage, index: number): string[] {
  const read = page.tools[index] as ReadPage["tools"][number];
  const back = (schema: unknown, name: string) => ({ schema, root: page, name });
  const lost = differences(
    { schema: tool.inputSchema, root: tool.inputSchema, name: tool.name },
    back(read.inputSchema, tool.name),
  );
  if (unescaped(tool.description ?? "") !== unescaped(read.description)) lost.push("description");
  if ((tool.outputSchema === undefined) !== (read.outputSchema === undefined)) return [...lost, "outputSchema"];
  if (tool.outputSchema === undefined) return lost;
  const name = `${tool.name}_result`;
  const output = differences(
    { schema: tool.outputSchema, root: tool.outputSchema, name },
    back(read.outputSchema, name),
  );
  return [...lost, ...output].map((difference) => `${tool.name}: ${difference}`);
}

/** A description without the backslashes that keep its lines from being read as ours. */
const unescaped = (description: string): string =>
  fold(
    description
      .split(/\r\n|[\n\r\u0085\u2028\u2029]/u)
      .map((line) =>
        fold(line)
          .replace(/^\\/, "")
          .replace(/^(\d{1,9})\\/, "$1"),
      )
      .join("\n"),
  );

const label = {
  type: "object",
  required: ["name"],
  properties: {
    name: { type: "string", minLength: 1, maxLength: 50, description: "Shown on the issue" },
    color: { type: "string", default: "ededed" },
  },
};
const owner = { type: "string", description: "Account that owns the repository" };
const issues: Tool[] = [
  {
    name: "create_issue",
    description: "Create an issue.",
    inputSchema: {
      type: "object",
      required: ["owner", "title"],
      properties: {
        owner,
        title: { type: "string", pattern: "^[^/]+$" },
        labels: { type: "array", items: { $ref: "#/$defs/Label" }, maxItems: 9 },
        priority: { type: "integer", minimum: 1, maximum: 5, default: 3, description: "1 is lowest" },
        filter: {
          type: "object",
          properties: { state: { enum: ["open", "closed"], description: "Which" } },
          additionalProperties: false,
        },
      },
      $defs: { Label: label, Unused: { type: "string" } },
    },
    outputSchema: { type: "object", required: ["url"], properties: { url: { type: "string", format: "uri" } } },
  },
  {
    name: "close-issue",
    description: "Close an issue.\n- with a list",
    inputSchema: {
      type: "object",
      properties: { owner, parent: { $ref: "#/$defs/Node" } },
      additionalProperties: false,
      $defs: {
        Node: {
          type: "object",
          properties: { next: { $ref: "#/$defs/Node" }, of: { anyOf: [{ type: "string" }, { type: "null" }] } },
        },
      },
    },
  },
];

describe("a page", () => {
  const { text } = compactPage(issues, new Map([["close-issue", "close_issue"]]));

  it("prints shared parameters once, unused definitions never, and recursive types by name", () => {
    expect(text).toBe(`type Node = {next?: Node, of?: string|null}

Shared:
- owner: string - Account that owns the repository

# create_issue
Create an issue.
- owner (shared)
- title: string</^[^\\/]+$/>
- labels?: {}[]<items ..9>
 - name: string<len 1..50> - Shown on the issue
 - color?: string = "ededed"
- priority?: int<1..5> = 3 - 1 is lowest
- filter?: {}!
 - state?: "open"|"closed" - Which
-> {url: string<uri>}

# close-issue ! = tools.close_issue
Close an issue.
\\- with a list
- owner? (shared)
- parent?: Node`);
  });

  it("reads back", () => {
    expect(lostOf(issues, text)).toEqual([]);
  });

  it.each([
    [" = 3", ""],
    ["<1..5>", ""],
    ['|"closed"', ""],
    [" - Which", ""],
    ["owner? (shared)", "owner (shared)"],
    ["}!", "}"],
    ["Node, of", "any, of"],
    ["<uri>", ""],
  ])("that lost %j would not", (part, less) => {
    expect(text).toContain(part);
    expect(lostOf(issues, text.replace(part, less))).not.toEqual([]);
  });

  it("says when something had to be left out, and ends for schemas that are circular or too deep", () => {
    const circular: Record<string, unknown> = { type: "object" };
    circular["properties"] = { next: circular };
    const page = compactPage([{ name: "t", inputSchema: { type: "object", properties: { list: circular } } }]);
    expect(page).toEqual({ text: "type Next = {next?: Next}\n\n# t\n- list?: Next", complete: true });
    let deep: object = { type: "string" };
    for (let level = 0; level < 10_000; level++) deep = { type: "object", properties: { d: deep } };
    expect(compactPage([{ name: "t", inputSchema: { type: "object", properties: { deep } } }]).complete).toBe(false);
    const doubling = Object.fromEntries(
      Array.from({ length: 40 }, (_, level) => [
        `D${level}`,
        { type: "object", properties: { a: { $ref: `#/$defs/D${level + 1}` }, b: { $ref: `#/$defs/D${level + 1}` } } },
      ]),
    );
    const inputSchema = { type: "object" as const, properties: { x: { $ref: "#/$defs/D0" } }, $defs: doubling };
    expect(compactPage([{ name: "t", inputSchema }]).text.length).toBeLessThan(4_000);
  });
});

const catalogs = new URL("../../../../shared/catalogs/", import.meta.url);

describe.skipIf(!existsSync(catalogs))("every tool of the real catalogs (skipped where ../shared is missing)", () => {
  const files = existsSync(catalogs) ? readdirSync(catalogs).filter((file) => file.endsWith(".json")) : [];

  it.each(files)("reads back from its page: %s", (file) => {
    const tools = JSON.parse(readFileSync(new URL(file, catalogs), "utf8")) as Tool[];
    for (let at = 0; at < tools.length; at += 5) {
      const page = tools.slice(at, at + 5);
      const { text, complete } = compactPage(page);
      expect(complete).toBe(true);
      expect(lostOf(page, text)).toEqual([]);
    }
  });
});

const ajv = new Ajv2020({ strict: false, logger: false });
/** Of a broken schema, what it says is a matter of taste. */
const isSound = (schema: unknown): boolean => schema === undefined || ajv.validateSchema(schema as object) === true;
/** `{ "$ref": "#" }` with words says them of itself without end. */
const isEndless = (text: string): boolean => /^type \w+ = any(?: |$)/m.test(text);

describe("generated schemas", () => {
  it("read back wherever they are sound and nothing had to be left out", () => {
    let complete = 0;
    for (let seed = 1; seed <= 120; seed++) {
      const random = new RandomTools(randomNumbers(seed));
      for (let index = 0; index < 20; index++) {
        const tool = random.tool(index);
        const page = compactPage([tool]);
        if (!page.complete || !isSound(tool.inputSchema) || !isSound(tool.outputSchema) || isEndless(page.text))
          continue;
        complete++;
        expect({ tool, lost: lostOf([tool], page.text) }).toEqual({ tool, lost: [] });
      }
    }
    expect(complete).toBeGreaterThan(180);
  }, 60_000);
});
