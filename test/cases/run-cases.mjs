// Node 20 runs no TypeScript: bundles the runner into a file that resolves `mcp-codemode` to this package, and runs it.
import { build } from "esbuild";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
if (!existsSync(join(root, "dist/index.js"))) {
  process.stderr.write("dist/index.js is missing: run `npm run build` first\n");
  process.exit(2);
}
mkdirSync(join(root, ".tmp"), { recursive: true });
const outfile = join(root, ".tmp", `run-cases-${process.pid}.mjs`);
process.on("exit", () => rmSync(outfile, { force: true }));
await build({
  entryPoints: [fileURLToPath(new URL("run-cases.ts", import.meta.url))],
  outfile,
  bundle: true,
  packages: "external",
  platform: "node",
  format: "esm",
  target: "node20",
  sourcemap: "inline",
  logLevel: "error",
});
await import(pathToFileURL(outfile).href);
