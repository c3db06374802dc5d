import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { undocumentedExports } from "./architecture/docs.js";
import { importsOf } from "./architecture/imports.js";
import { indexViolations, preludeViolations, rankViolations, sdkViolations, unitOf } from "./architecture/rules.js";
import { fileSizes, functionSizes, percentile, type Size } from "./architecture/sizes.js";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const MAX_FILE_LINES = 350;
const MAX_FUNCTION_LINES = 60;

const sources = new Map(
  readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path): [string, string] => [path.replaceAll(sep, "/"), readFileSync(join(ROOT, "src", path), "utf8")]),
);

const tooLong = (sizes: readonly Size[], most: number): string[] =>
  sizes.filter(({ lines }) => lines > most).map(({ name, lines }) => `${name}: ${lines} lines, at most ${most}`);

function report(what: string, sizes: readonly Size[]): void {
  const [p50, p90, max] = [0.5, 0.9, 1].map((share) => percentile(sizes, share));
  process.stdout.write(`${what}: ${sizes.length}, lines p50=${p50} p90=${p90} max=${max}\n`);
}

describe("the sources", () => {
  it("import only lower ranks, and their own folder", () => {
    expect(sources.size).toBeGreaterThan(10);
    expect(rankViolations(sources)).toEqual([]);
  });

  it("import an MCP SDK only in the register files, the gateway and the command line", () => {
    expect(sdkViolations(sources)).toEqual([]);
  });

  it("never import the public surface", () => {
    expect(indexViolations(sources)).toEqual([]);
  });

  it("give the guest's prelude nothing but itself and pure files of the sandbox", () => {
    expect([...sources.keys()].some((path) => path.startsWith("sandbox/quickjs/prelude/"))).toBe(true);
    expect(preludeViolations(sources)).toEqual([]);
  });

  it("stay small: files", () => {
    report("files", fileSizes(sources));
    expect(tooLong(fileSizes(sources), MAX_FILE_LINES)).toEqual([]);
  });

  it("stay small: functions", () => {
    report("functions", functionSizes(sources));
    expect(tooLong(functionSizes(sources), MAX_FUNCTION_LINES)).toEqual([]);
  });
});

const ENTRIES = ["index", "register", "register-v2", "search", "sandbox", "testing", "gateway", "openapi", "tensor"];

function compilerOptions(): ts.CompilerOptions {
  const { config } = ts.readConfigFile(join(ROOT, "tsconfig.json"), (path) => ts.sys.readFile(path)) as {
    config: object;
  };
  return ts.parseJsonConfigFileContent(config, ts.sys, ROOT).options;
}

describe("the public surface", () => {
  it("has its main entry", () => {
    expect(existsSync(join(ROOT, "src/index.ts"))).toBe(true);
  });

  const present = ENTRIES.filter((entry) => existsSync(join(ROOT, `src/${entry}.ts`)));
  it.each(present)("has a docstring on everything that %s exports", { timeout: 60_000 }, (entry) => {
    expect(undocumentedExports(join(ROOT, `src/${entry}.ts`), compilerOptions())).toEqual([]);
  });
});

describe("the checker finds", () => {
  const check = (path: string, text: string, rule: typeof rankViolations): string[] => rule(new Map([[path, text]]));

  it("every form of import", () => {
    const text = `
      import a from "./a.js"; import type { B } from "./b.js"; import { type C } from "./c.js"; import "./d.js";
      export { e } from "./e.js"; export * from "./f.js"; export type { G } from "./g.js";
      const h = await import("./h.js"); type I = import("./i.js").I; const j = require("./j.js"); import k = require("./k.js");
      // import "./comment.js"
      const text = 'import "./string.js"'; await import(text);`;
    const found = importsOf("x.ts", text);
    expect(found.map(({ specifier }) => specifier?.slice(2, 3))).toEqual([
      "a",
      "b",
      "c",
      "d",
      "e",
      "f",
      "g",
      "h",
      "i",
      "j",
      "k",
      undefined,
    ]);
    expect(found.filter(({ typeOnly }) => typeOnly).map(({ specifier }) => specifier?.slice(2, 3))).toEqual([
      "b",
      "c",
      "g",
      "i",
    ]);
  });

  it.each([
    ["catalog/x.ts", 'import { a } from "../search/strategy.js";', "rank 2"],
    ["sandbox/x.ts", 'import type { Tool } from "../catalog/tool.js";', "rank 1"],
    ["errors.ts", 'export * from "./nearest.js";', "rank 0"],
    ["search/x.ts", 'const m = await import("../mcp/attach.js");', "rank 4"],
    ["calls/x.ts", 'import "../code-mode.js";', "rank 7"],
    ["catalog/x.ts", 'type T = import("../index.js").T;', "rank 8"],
    ["mcp/x.ts", 'import { bm25 } from "../search.js";', "search.ts, rank 8"],
    ["utils/x.ts", 'import { a } from "../errors.js";', "has no rank"],
    ["catalog/x.ts", 'import { a } from "../utils/a.js";', "has no rank"],
    ["catalog/x.ts", 'import { a } from "../../test/a.js";', "outside of src"],
    ["catalog/x.ts", "await import(name);", "cannot be known"],
  ])("in %s the forbidden %s", (path, text, reason) => {
    expect(check(path, text, rankViolations)).toEqual([expect.stringContaining(reason)]);
  });

  it("nothing wrong with what is allowed", () => {
    expect(check("mcp/x.ts", 'import "./y.js"; import "../search/bm25.js"; import "node:fs";', rankViolations)).toEqual(
      [],
    );
    expect(check("register.ts", 'import "@modelcontextprotocol/sdk/server/mcp.js";', sdkViolations)).toEqual([]);
    expect([unitOf("search.ts"), unitOf("search/x.ts"), unitOf("testing.ts"), unitOf("testing/x.ts")]).toEqual([
      "search.ts",
      "search",
      "testing",
      "testing",
    ]);
  });

  it("an SDK where none may be, also as a type", () => {
    const text = 'import type { Server } from "@modelcontextprotocol/sdk/server/index.js";';
    expect(check("mcp/x.ts", text, sdkViolations)).toHaveLength(1);
  });

  it("an import of the public surface", () => {
    expect(check("mcp/x.ts", 'export { codeMode } from "../index.js";', indexViolations)).toHaveLength(1);
  });

  it("what the guest cannot have, also through a shared file", () => {
    const bad = new Map([
      [
        "sandbox/quickjs/prelude/main.ts",
        'import "../../shared.js"; import type { A } from "../../../catalog/tool.js";',
      ],
      ["sandbox/shared.ts", 'import { Buffer } from "node:buffer"; import "./deeper.js";'],
      ["sandbox/deeper.ts", 'import "../errors.js"; import "quickjs-emscripten-core";'],
      ["sandbox/unrelated.ts", 'import "node:fs";'],
    ]);
    expect(preludeViolations(bad)).toEqual([
      "sandbox/shared.ts:1 imports node:buffer",
      "sandbox/deeper.ts:1 imports ../errors.js",
      "sandbox/deeper.ts:1 imports quickjs-emscripten-core",
    ]);
  });

  it("files and functions that are too long", () => {
    const long = new Map([["a.ts", `function big() {\n${"  x();\n".repeat(70)}}\nconst small = () => {\n  1;\n};\n`]]);
    expect(tooLong(functionSizes(long), MAX_FUNCTION_LINES)).toEqual(["a.ts:1 big: 72 lines, at most 60"]);
    expect(tooLong(fileSizes(long), 70)).toEqual(["a.ts: 75 lines, at most 70"]);
    expect(functionSizes(long).map(({ name }) => name)).toEqual(["a.ts:1 big", "a.ts:73 small"]);
    expect([0.5, 1].map((share) => percentile(functionSizes(long), share))).toEqual([3, 72]);
  });

  it("an export without a docstring", () => {
    const texts = new Map([
      ["/entry.ts", 'export { good, bad } from "./parts.js"; export type { Worse } from "./parts.js";'],
      ["/parts.ts", "/** Good. */ export const good = 1; export const bad = 2; export interface Worse {}"],
    ]);
    const host = ts.createCompilerHost({});
    host.getSourceFile = (name, version) => {
      const text = texts.get(name);
      return text === undefined ? undefined : ts.createSourceFile(name, text, version);
    };
    host.fileExists = (name) => texts.has(name);
    host.readFile = (name) => texts.get(name);
    const options = { noLib: true, module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext };
    expect(undocumentedExports("/entry.ts", options, host)).toEqual(["bad (/parts.ts)", "Worse (/parts.ts)"]);
  });
});
