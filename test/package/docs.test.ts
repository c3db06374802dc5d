import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import * as library from "mcp-codemode";
import { describe, expect, it } from "vitest";
import { DEFAULT_LIMITS } from "../../src/calls/limits.js";
import { ERROR_KINDS, errorOfKind } from "../../src/errors.js";
import { RANKS } from "../architecture/rules.js";
import { limitRows } from "./limit-rows.js";
import { anchors, codeBlocks, links, page, pages, type Page, prose, ROOT, tableRows } from "./markdown.js";
import { reply, scriptErrors } from "./shop.js";
import { typeErrors } from "./snippets.js";

const all = pages();
const docs = all.filter(({ path }) => path.startsWith("docs/"));

/** Links of a page whose file or heading does not exist. */
function brokenLinks(of: Page): string[] {
  return links(of).filter((link) => {
    const [file = "", anchor] = link.split("#");
    const path = file === "" ? of.path : normalize(join(dirname(of.path), file));
    if (!existsSync(join(ROOT, path))) return true;
    return anchor !== undefined && !anchors(page(path)).includes(anchor);
  });
}

describe("the pages", () => {
  it.each(all.map(({ path }) => path))("%s links to what there is", (path) => {
    expect(brokenLinks(page(path))).toEqual([]);
  });

  it("are all reached from the index and the README", () => {
    const reached = (of: Page): string[] =>
      links(of).map((link) => normalize(join(dirname(of.path), link.split("#")[0] ?? "")));
    const paths = docs.map(({ path }) => path);
    expect(reached(page("docs/index.md"))).toEqual(
      expect.arrayContaining(paths.filter((path) => path !== "docs/index.md")),
    );
    expect(reached(page("README.md"))).toEqual(expect.arrayContaining(paths));
  });

  it("show TypeScript that compiles against the built package", () => {
    expect(docs.flatMap(codeBlocks).filter(({ language }) => language === "ts").length).toBeGreaterThan(10);
    expect(typeErrors(docs)).toEqual([]);
  });

  it("show scripts that give what they say", async () => {
    const blocks = docs.flatMap(codeBlocks);
    expect(blocks.filter(({ language }) => language === "js")).not.toEqual([]);
    expect(await scriptErrors(blocks)).toEqual([]);
  });

  it("name the language of each block", () => {
    const known = ["ts", "js", "sh", "text"];
    expect(all.flatMap(codeBlocks).filter(({ language }) => !known.includes(language))).toEqual([]);
  });
});

describe("the checks of the pages find", () => {
  const bad: Page = {
    path: "docs/bad.md",
    text: "# Bad\n[a](missing.md) [b](#nowhere) [c](#bad)\n```ts\nconst n: number = 'x';\n```\n```js\n1 + 1\n// => 3\n```\n",
  };
  it("broken links", () => expect(brokenLinks(bad).sort()).toContain("missing.md"));
  it("code that does not compile", () => expect(typeErrors([bad])).toEqual([expect.stringContaining("docs/bad.md:3")]));
  it("scripts that give something else", async () => {
    expect(await scriptErrors(codeBlocks(bad))).toEqual(["docs/bad.md:6 gives 2, not 3"]);
  });
});

describe("docs/errors.md", () => {
  const rows = new Map(tableRows(page("docs/errors.md")).map(([kind = "", name = ""]) => [kind, name]));

  it.each(ERROR_KINDS)("has the kind %s with its class", (kind) => {
    const { name } = errorOfKind(kind, "x");
    expect(rows.get(`\`${kind}\``)).toBe(`\`${name}\``);
    expect(library).toHaveProperty(name);
  });

  it("shows a failure as the model reads it", async () => {
    const shown = codeBlocks(page("docs/errors.md")).find(({ language }) => language === "text");
    const code = 'await call_tool("delete_order", { id: 1 });\nawait call_tool("add", { x: "3" });';
    expect(await reply("execute", { code })).toBe(shown?.code);
  });
});

describe("docs/limits.md", () => {
  it("has every limit with its default, and no other", () => {
    expect(Object.fromEntries(limitRows(page("docs/limits.md")))).toEqual(DEFAULT_LIMITS);
  });
});

describe("docs/search.md", () => {
  it("shows a tool as the default serializer prints it", async () => {
    const shown = codeBlocks(page("docs/search.md")).find(({ language }) => language === "text");
    expect(await reply("search", { query: "list_orders" })).toContain(shown?.code);
  });
});

describe("docs/scripts.md", () => {
  const rows = tableRows(page("docs/scripts.md")).filter(([, code]) => code?.startsWith("`"));

  it("has a row for each form", () => {
    expect(rows.length).toBeGreaterThan(5);
  });

  it.each(rows)("runs %s: %s", async (_form, code = "", result) => {
    expect(await reply("execute", { code: code.slice(1, -1) })).toBe(result);
  });
});

describe("docs/troubleshooting.md", () => {
  const text = page("docs/troubleshooting.md");
  const headings = [...prose(text).matchAll(/^### `(.+)`$/gm)].map(([, heading = ""]) => heading);
  /** All sources as one text: strings that are joined over lines are put together. */
  const sources = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => readFileSync(join(ROOT, "src", path), "utf8"))
    .join("\n")
    .replaceAll(/["`] \+\s*["`]/g, "");
  /** Said by the engines themselves. */
  const FOREIGN = ["server.use is not a function", "'fetch' is not defined"];

  it.each(headings.filter((heading) => !FOREIGN.includes(heading)))("speaks of a message there is: %s", (heading) => {
    const parts = heading.split("…").map((part) => part.trim());
    expect(parts.filter((part) => !sources.includes(part))).toEqual([]);
  });

  it.each(ERROR_KINDS)("has a row for the kind %s", (kind) => {
    expect(tableRows(text).map(([first]) => first)).toContain(`\`${kind}\``);
  });
});

describe("docs/design.md", () => {
  const text = page("docs/design.md");

  it("has the ranks that are checked", () => {
    const shown = tableRows(text).flatMap(([rank = "", names = ""]) =>
      /^\d$/.test(rank) ? names.split(", ").map((name): [string, number] => [name, Number(rank)]) : [],
    );
    expect(new Map(shown)).toEqual(RANKS);
  });

  it("names only files and folders that there are", () => {
    const files = readdirSync(ROOT, { recursive: false, encoding: "utf8" });
    const inSources = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" });
    const named = [...prose(text).matchAll(/`([\w./-]+\.(?:ts|mjs))`/g)].map(([, name = ""]) => name);
    expect(named.length).toBeGreaterThan(20);
    const exists = (name: string): boolean =>
      existsSync(join(ROOT, name)) ||
      files.includes(name) ||
      inSources.some((path) => path === name || path.endsWith(`/${name}`));
    expect(named.filter((name) => !exists(name))).toEqual([]);
  });
});
