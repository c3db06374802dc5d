import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { codeMode } from "mcp-codemode";
import { describe, expect, it } from "vitest";
import { DEFAULT_LIMITS } from "../../src/calls/limits.js";
import { codeBlocks, page, ROOT, tableRows } from "./markdown.js";
import { limitRows } from "./limit-rows.js";
import { scriptErrors } from "./shop.js";
import { typeErrors } from "./snippets.js";

const run = promisify(execFile);
const readme = page("README.md");

describe("README.md", () => {
  it("shows TypeScript that compiles against the built package", () => {
    expect(codeBlocks(readme).filter(({ language }) => language === "ts")).not.toEqual([]);
    expect(typeErrors([readme])).toEqual([]);
  });

  it("shows scripts that give what it says", async () => {
    expect(await scriptErrors(codeBlocks(readme))).toEqual([]);
  });

  it("holds the transcript that the demo prints", { timeout: 100_000 }, async () => {
    const check = run(process.execPath, [join(ROOT, "build/readme.mjs"), "transcript", "--check"], { timeout: 90_000 });
    await expect(check).resolves.toMatchObject({ stderr: "" });
  });

  it("lists every option", () => {
    const known = messageOf(() => codeMode({ zzzzzzzzzzzz: 1 } as object)).split("Known options: ")[1] ?? "";
    const options = known.replace(/\.$/, "").split(", ");
    expect(options.length).toBeGreaterThan(15);
    const listed = tableRows(readme).flatMap(([first = ""]) => [...first.matchAll(/`(\w+)`/g)].map(([, name]) => name));
    expect(options.filter((option) => !listed.includes(option))).toEqual([]);
  });

  it("gives the limits their real defaults", () => {
    const rows = limitRows(readme);
    expect(rows.size).toBeGreaterThan(10);
    expect(Object.fromEntries(rows)).toEqual(
      Object.fromEntries(Object.entries(DEFAULT_LIMITS).filter(([name]) => rows.has(name))),
    );
  });

  it("names only commands that there are", () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { scripts: object };
    const commands = [...readme.text.matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name);
    expect(commands).toEqual(expect.arrayContaining(["demo", "bench"]));
    expect(commands.filter((name) => !Object.keys(scripts).includes(name ?? ""))).toEqual([]);
  });
});

function messageOf(act: () => unknown): string {
  try {
    act();
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}
