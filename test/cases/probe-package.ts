import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { ROOT } from "./host-facts.js";

const run = promisify(execFile);

const PROGRAM = `
import { createCodeMode } from "mcp-codemode";
const source = { async listTools() { return [] }, async callTool() { return { content: [] } } };
const engine = createCodeMode(source);
const outcome = await engine.execute({ code: "return 6 * 7" });
if (outcome.value !== 42) throw new Error(JSON.stringify(outcome));
`;

/** A folder inside of the repository, so that dependencies resolve; gone afterwards. */
async function inScratch(work: (folder: string) => Promise<void>): Promise<string | undefined> {
  await mkdir(join(ROOT, ".tmp"), { recursive: true });
  const folder = await mkdtemp(join(ROOT, ".tmp", "probe-"));
  try {
    await work(folder);
    return undefined;
  } catch (error) {
    return String(error).slice(0, 500);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Packs the package, unpacks the tarball into a fresh project, and runs it there. Undefined: it works. */
export function packFault(): Promise<string | undefined> {
  return inScratch(async (folder) => {
    const { stdout } = await run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], {
      cwd: ROOT,
    });
    const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
    const modules = join(folder, "node_modules");
    await mkdir(join(modules, "mcp-codemode"), { recursive: true });
    await run("tar", ["xzf", join(folder, filename), "-C", join(modules, "mcp-codemode"), "--strip-components=1"]);
    for (const name of await readdir(join(ROOT, "node_modules"))) {
      if (!name.startsWith(".")) await symlink(join(ROOT, "node_modules", name), join(modules, name));
    }
    await writeFile(join(folder, "program.mjs"), PROGRAM);
    await run(process.execPath, ["program.mjs"], { cwd: folder, timeout: 30_000 });
  });
}

/** Bundles a program with esbuild into one file, puts the worker beside it, and runs it. Undefined: it works. */
export function bundleFault(): Promise<string | undefined> {
  return inScratch(async (folder) => {
    await writeFile(join(folder, "program.mjs"), PROGRAM);
    await build({
      entryPoints: [join(folder, "program.mjs")],
      outfile: join(folder, "out", "bundle.mjs"),
      bundle: true,
      platform: "node",
      format: "esm",
      logLevel: "silent",
      banner: {
        js: `import { createRequire as makeRequire } from "node:module"; const require = makeRequire(import.meta.url);`,
      },
    });
    await copyFile(join(ROOT, "dist", "worker.js"), join(folder, "out", "worker.js"));
    await run(process.execPath, ["out/bundle.mjs"], { cwd: folder, timeout: 30_000 });
  });
}
