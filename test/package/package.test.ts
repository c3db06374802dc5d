import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const run = promisify(execFile);
const require = createRequire(import.meta.url);
const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const DIST = join(ROOT, "dist");

interface Manifest {
  version: string;
  exports: Record<
    string,
    string | { import: { types: string; default: string }; require: { types: string; default: string } }
  >;
}
const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Manifest;

/** Every entry point with code of its own: `mcp-codemode`, `mcp-codemode/search`, ... */
const entries = Object.entries(manifest.exports)
  .filter(([, target]) => typeof target === "object")
  .map(([path]) => `mcp-codemode${path.slice(1)}`);

type Exports = Record<string, unknown>;
const imported = async (entry: string): Promise<Exports> => (await import(entry)) as Exports;
const required = (entry: string): Exports => require(entry) as Exports;

/** Unpacked: what `npm install` puts on a disk. Source maps are the larger half. */
// Each CommonJS entry holds all it needs (see tsup.config.ts), the one of the gateway everything.
const MAX_UNPACKED_BYTES = 3_500_000;

describe("every entry point", () => {
  it("has all files that package.json names", () => {
    const files = Object.values(manifest.exports).flatMap((target) =>
      typeof target === "string"
        ? [target]
        : [target.import.types, target.import.default, target.require.types, target.require.default],
    );
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });

  it.each(entries)("%s gives the same names to import and require", async (entry) => {
    const names = Object.keys(await imported(entry)).toSorted();
    expect(Object.keys(required(entry)).toSorted()).toEqual(names);
  });

  it("gives the version of package.json, if it gives one", async () => {
    const { VERSION } = await imported("mcp-codemode");
    expect([manifest.version, undefined]).toContain(VERSION);
    expect(readFileSync(join(ROOT, "src/version.ts"), "utf8")).toContain(`"${manifest.version}"`);
  });
});

describe("errors", () => {
  interface ErrorClass {
    new (message: string): Error;
    isInstance(value: unknown): boolean;
  }
  const classes = (exports: Exports): ErrorClass[] =>
    Object.entries(exports)
      .filter(([name, value]) => name.endsWith("Error") && name !== "CodeModeError" && typeof value === "function")
      .map(([, value]) => value as ErrorClass);
  const guard = (exports: Exports): ErrorClass => exports["CodeModeError"] as ErrorClass;

  it("of one copy are recognised by the other", async () => {
    const [esm, cjs] = [await imported("mcp-codemode"), required("mcp-codemode")];
    expect(guard(esm)).not.toBe(guard(cjs));
    expect(classes(cjs).length).toBeGreaterThan(8);
    for (const Class of classes(cjs)) expect(guard(esm).isInstance(new Class("x"))).toBe(true);
    for (const Class of classes(esm)) expect(guard(cjs).isInstance(new Class("x"))).toBe(true);
  });

  it("of the parts are recognised by the main entry, in CommonJS too", async () => {
    const { CodeModeError } = required("mcp-codemode/sandbox") as {
      CodeModeError: new (kind: string, message: string) => Error;
    };
    expect(guard(required("mcp-codemode")).isInstance(new CodeModeError("timeout", "x"))).toBe(true);
    expect(guard(await imported("mcp-codemode")).isInstance(new CodeModeError("timeout", "x"))).toBe(true);
    expect(guard(await imported("mcp-codemode")).isInstance(new Error("x"))).toBe(false);
  });

  it("keep their names in both builds", async () => {
    const all = [await imported("mcp-codemode"), required("mcp-codemode")].flatMap((exports) =>
      Object.entries(exports),
    );
    const errors = all.filter(([name]) => name.endsWith("Error"));
    expect(errors.map(([, Class]) => (Class as ErrorClass).name)).toEqual(errors.map(([name]) => name));
  });
});

describe("the built files", () => {
  /** A file and everything that it imports from dist. */
  function closure(file: string, seen = new Map<string, string>()): Map<string, string> {
    if (seen.has(file)) return seen;
    const text = readFileSync(join(DIST, file), "utf8");
    seen.set(file, text);
    for (const [, target] of text.matchAll(/(?:from|import|require\()\s*\(?["']\.\/([^"']+\.c?js)["']/g)) {
      if (target !== undefined) closure(target, seen);
    }
    return seen;
  }
  const sdkImports = (file: string): string[] =>
    [...closure(file)]
      .filter(([, text]) => /(from|import|require)\s*\(?["']@modelcontextprotocol\//.test(text))
      .map(([name]) => name);

  it.each(["index.js", "index.cjs", "search.js", "search.cjs", "sandbox.js", "sandbox.cjs", "testing.js"])(
    "%s imports no MCP SDK",
    (file) => {
      expect(sdkImports(file)).toEqual([]);
    },
  );

  it("register.js does: the check above can find one", () => {
    expect(sdkImports("register.js")).not.toEqual([]);
  });

  it("hold no path of the machine that built them", () => {
    for (const text of closure("index.js").values()) expect(text).not.toContain(ROOT);
  });
});

describe("the tarball", () => {
  interface Packed {
    unpackedSize: number;
    files: { path: string }[];
  }
  let packed: Packed;
  beforeAll(async () => {
    const { stdout } = await run("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: ROOT });
    [packed] = JSON.parse(stdout) as [Packed];
  });

  it("holds dist, the manifest and what npm always adds, nothing else", () => {
    const allowed =
      /^(dist\/[\w.-]+\.(js|cjs|js\.map|cjs\.map|d\.ts|d\.cts)|package\.json|README\.md|LICENSE|CHANGELOG\.md)$/;
    expect(packed.files.map(({ path }) => path).filter((path) => !allowed.test(path))).toEqual([]);
    expect(packed.files.map(({ path }) => path)).toEqual(
      expect.arrayContaining(["dist/index.js", "dist/index.cjs", "dist/worker.js", "package.json", "LICENSE"]),
    );
  });

  it("stays small", () => {
    expect(packed.unpackedSize).toBeLessThan(MAX_UNPACKED_BYTES);
  });
});

const PROGRAM = `
const source = { async listTools() { return [] }, async callTool() { return { content: [] } } };
createCodeMode(source).execute({ code: "return 6 * 7" }).then((outcome) => {
  if (outcome.value !== 42) throw new Error(JSON.stringify(outcome));
  process.stdout.write("42\\n" + Date.now());
});
`;

describe("in a process of its own", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "package "));
    const home = join(folder, "odd # %41 place", "node_modules");
    mkdirSync(join(home, "mcp-codemode"), { recursive: true });
    cpSync(DIST, join(home, "mcp-codemode", "dist"), { recursive: true });
    cpSync(join(ROOT, "package.json"), join(home, "mcp-codemode", "package.json"));
    symlinkSync(join(ROOT, "node_modules"), join(home, "mcp-codemode", "node_modules"));
    writeFileSync(join(home, "..", "program.mjs"), `import { createCodeMode } from "mcp-codemode";${PROGRAM}`);
    writeFileSync(join(home, "..", "program.cjs"), `const { createCodeMode } = require("mcp-codemode");${PROGRAM}`);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(["program.mjs", "program.cjs"])(
    "%s finds the worker in a path with #, % and a space, and ends by itself without close()",
    async (program) => {
      const cwd = join(folder, "odd # %41 place");
      const { stdout } = await run(process.execPath, [program], { cwd, timeout: 30_000 });
      const endedAt = Date.now();
      const [value, answeredAt] = stdout.split("\n");
      expect(value).toBe("42");
      expect(endedAt - Number(answeredAt)).toBeLessThan(2_000);
    },
  );
});
