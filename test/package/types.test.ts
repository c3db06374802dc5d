import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const TYPES = join(ROOT, "test/types");

const COMPILERS = [
  { name: "TypeScript 5.4", command: "node_modules/typescript5.4/bin/tsc" },
  { name: "TypeScript 6", command: "node_modules/typescript/bin/tsc" },
  { name: "TypeScript 7", command: "node_modules/typescript7/lib/tsc.js" },
];

/** What a compiler says about a project: nothing when it is satisfied. */
async function compile(command: string, project: string): Promise<string> {
  try {
    await run(process.execPath, [join(ROOT, command), "-p", join(TYPES, project), "--pretty", "false"], { cwd: ROOT });
    return "";
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    const said = `${stdout ?? ""}${stderr ?? ""}`;
    if (said === "") throw error;
    return said;
  }
}

describe.each(COMPILERS)("$name", ({ command }) => {
  it("takes what users write, with exactOptionalPropertyTypes", async () => {
    expect(await compile(command, "tsconfig.exact.json")).toBe("");
  });

  it("takes what users write, without exactOptionalPropertyTypes", async () => {
    expect(await compile(command, "tsconfig.loose.json")).toBe("");
  });

  it("finds nothing wrong in the declarations themselves", async () => {
    expect(await compile(command, "tsconfig.library.json")).toBe("");
  });

  it("refuses unknown options, unknown limits, unknown kinds and a server without use()", async () => {
    const said = await compile(command, "tsconfig.refused.json");
    const files = readdirSync(join(TYPES, "refused"));
    expect(files).toHaveLength(4);
    for (const file of files) expect(said).toMatch(new RegExp(`${file}\\(\\d+,\\d+\\): error TS`));
    const lines = said
      .trim()
      .split("\n")
      .filter((line) => line.includes("error TS"));
    expect(lines).toHaveLength(files.length);
    expect(said).toContain("searchToolNames");
    expect(said).toContain("timeoutSeconds");
  });
});

it("has compilers that are the versions their names say", () => {
  const require = createRequire(import.meta.url);
  const versions = ["typescript5.4", "typescript", "typescript7"].map(
    (name) => (require(`${name}/package.json`) as { version: string }).version,
  );
  expect(versions.map((version) => version.split(".").slice(0, 2).join("."))).toEqual(["5.4", "6.0", "7.0"]);
});
