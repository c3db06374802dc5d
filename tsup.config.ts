import { existsSync } from "node:fs";
import { defineConfig, type Options } from "tsup";
import { guestEsbuild } from "./build/guest-source.js";

const shared: Options = {
  target: "node20",
  platform: "node",
  sourcemap: true,
  dts: false,
  esbuildPlugins: [guestEsbuild],
  // Used by the doctor where it is installed; as a devDependency it would be bundled.
  external: ["gpt-tokenizer"],
};
// tsup 8 passes `baseUrl`, which TypeScript 6 deprecates.
// JavaScript alone is built in a second: enough while working on the worker.
const withTypes = process.env["JS_ONLY"] === undefined;
const dts = { compilerOptions: { ignoreDeprecations: "6.0" } };

const entries = {
  index: "src/index.ts",
  register: "src/register.ts",
  "register-v2": "src/register-v2.ts",
  search: "src/search.ts",
  sandbox: "src/sandbox.ts",
  openapi: "src/openapi.ts",
  gateway: "src/gateway.ts",
  testing: "src/testing.ts",
};
const library = Object.fromEntries(Object.entries(entries).filter(([, file]) => existsSync(file)));

export default defineConfig([
  // ESM: shared chunks, so that every entry point shares one copy of each class.
  { ...shared, entry: { ...library, cli: "src/cli.ts" }, format: ["esm"], splitting: true },
  // The worker is one file with the engine inside: a cold start reads one file instead of a dozen.
  {
    ...shared,
    entry: { worker: "src/sandbox/quickjs/worker.ts" },
    format: ["esm"],
    splitting: false,
    noExternal: [/quickjs-emscripten/, /@jitl/],
  },
  ...(withTypes ? [{ ...shared, entry: library, format: ["esm" as const], dts: { ...dts, only: true } }] : []),
  // CJS: no splitting (tsup would pass it through sucrase), and our own import.meta.url (tsup's shim breaks on # and % in paths).
  {
    ...shared,
    entry: library,
    format: ["cjs"],
    dts: withTypes && dts,
    splitting: false,
    // An ES module only: "require" of it fails before Node 20.19.
    noExternal: ["stemmer"],
    esbuildOptions(options) {
      options.define = { ...options.define, "import.meta.url": "importMetaUrl" };
      options.banner = {
        js: '"use strict"; const importMetaUrl = require("node:url").pathToFileURL(__filename).href;',
      };
    },
  },
]);
