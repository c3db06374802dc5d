import { describe, expect, it } from "vitest";
import type { Tool, ToolSource } from "../../src/catalog/tool.js";
import { searchTool } from "../../src/meta-tools/search.js";
import { executeTool } from "../../src/meta-tools/execute.js";
import type { CodeMode } from "../../src/meta-tools/meta-tool.js";
import { quickJsSandbox } from "../../src/sandbox/quickjs/provider.js";
import { callMeta, engineOf, textOf } from "../meta-tools/engine.js";
import { githubOperations } from "../support/github-operations.js";

const MAX_STALL_MS = 50;
const ATTEMPTS = 8;

/** Longest time in which nothing else could run while `work` ran, in milliseconds. */
async function longestStall(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = performance.now();
  let running = true;
  const watch = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (running) setImmediate(watch);
  };
  setImmediate(watch);
  await new Promise((resolve) => setImmediate(resolve));
  last = performance.now();
  longest = 0;
  await work();
  await new Promise((resolve) => setImmediate(resolve));
  running = false;
  return longest;
}

const sandboxProvider = quickJsSandbox();
const operations = githubOperations();

/** The same tools with another content, since indexes are kept by content. */
const freshCopy = (mark: number): Tool[] =>
  operations.map((tool) => ({ ...tool, description: `${tool.description ?? ""} (${mark})` }));

const engineFor = (tools: Tool[]): CodeMode => {
  const source: ToolSource = { name: "github", listTools: async () => tools, callTool: async () => ({}) };
  // The real sandbox: code over the catalog runs in a thread of its own.
  return engineOf(source, { metaTools: [searchTool({ code: true }), executeTool()], sandboxProvider });
};

/** The quietest of several attempts: what a busy machine adds is not ours. */
async function stallOf(work: (engine: CodeMode) => Promise<unknown>): Promise<number> {
  const stalls: number[] = [];
  for (let attempt = 0; attempt < ATTEMPTS && (stalls.at(-1) ?? MAX_STALL_MS) >= MAX_STALL_MS; attempt++) {
    const engine = engineFor(freshCopy(attempt + stalls.length * 100 + Math.random()));
    stalls.push(await longestStall(() => work(engine)));
  }
  return Math.min(...stalls);
}

const context = { signal: new AbortController().signal };
const WORK: [what: string, work: (engine: CodeMode) => Promise<unknown>][] = [
  ["the first search, which indexes", (engine) => callMeta(engine, "search", { query: "merge a pull request" })],
  [
    "a page in full",
    (engine) => callMeta(engine, "search", { query: "create a repository", detail: "full", limit: 20 }),
  ],
  [
    "several questions",
    (engine) => callMeta(engine, "search", { query: ["open an issue", "list commits", "add a label"] }),
  ],
  ["the census with its cursor", (engine) => callMeta(engine, "search", {})],
  ["descriptions that name tools", (engine) => Promise.all(engine.metaTools.map(async (one) => one.listed?.(context)))],
  ["code over the whole catalog", (engine) => callMeta(engine, "search", { query: "Object.keys(spec()).length" })],
];

describe("1,223 operations of GitHub as tools", () => {
  it("are that many, and found", async () => {
    expect(operations).toHaveLength(1_223);
    const text = textOf(await callMeta(engineFor(operations), "search", { query: "merge a pull request" }));
    expect(text).toMatch(/^8 of 1223 tools:/);
    expect(text).toContain("# pulls_merge");
  });

  it.each(WORK)(
    `do not stall the main thread for ${MAX_STALL_MS} ms: %s`,
    async (what, work) => {
      const stall = await stallOf(work);
      process.stdout.write(`${what}: longest stall ${stall.toFixed(1)} ms\n`);
      expect(stall).toBeLessThan(MAX_STALL_MS);
    },
    60_000,
  );
});
