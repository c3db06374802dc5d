import { buildSync, type Plugin as EsbuildPlugin } from "esbuild";
import { dirname, relative, resolve } from "node:path";

/** `import source from "./x.ts?guest"`: the module and its imports as one script text for the QuickJS guest. */
const SUFFIX = "?guest";

/** Bundles a guest entry. Its last statement assigns to `globalThis.__prelude`, which the host reads and deletes. */
export function guestSource(entry: string): string {
  const result = buildSync({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: "iife",
    target: "es2023",
    platform: "neutral",
    minifyWhitespace: true,
    minifySyntax: true,
    minifyIdentifiers: true,
    legalComments: "none",
    logLevel: "error",
  });
  return result.outputFiles[0]?.text ?? "";
}

/** For tsup. */
export const guestEsbuild: EsbuildPlugin = {
  name: "guest-source",
  setup(build) {
    build.onResolve({ filter: /\?guest$/ }, ({ path, importer }) => ({
      // Relative: esbuild writes it into a comment of the built file.
      path: relative(process.cwd(), resolve(dirname(importer), path.slice(0, -SUFFIX.length))),
      namespace: "guest",
    }));
    build.onLoad({ filter: /.*/, namespace: "guest" }, ({ path }) => ({ contents: guestSource(path), loader: "text" }));
  },
};

/** For vitest. */
export const guestVite = {
  name: "guest-source",
  enforce: "pre" as const,
  resolveId(id: string, importer?: string) {
    return id.endsWith(SUFFIX) && importer ? resolve(dirname(importer), id) : undefined;
  },
  load(id: string) {
    return id.endsWith(SUFFIX)
      ? `export default ${JSON.stringify(guestSource(id.slice(0, -SUFFIX.length)))};`
      : undefined;
  },
};
