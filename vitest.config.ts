import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { guestVite } from "./build/guest-source.js";

// Sources run from src; the worker thread needs JavaScript, so it is the built one.
const builtWorker = fileURLToPath(new URL("./test/support/built-worker.ts", import.meta.url));

// Tests of time limits run beside others on shared machines: in CI what fails is tried again, and what fails three times is broken.
const retry = process.env["CI"] === undefined ? 0 : 2;

export default defineConfig({
  test: {
    testTimeout: 20_000,
    coverage: { provider: "v8", include: ["src/**"] },
    projects: [
      {
        plugins: [guestVite],
        resolve: { alias: [{ find: /^.*\/worker-url\.js$/, replacement: builtWorker }] },
        test: {
          name: "unit",
          retry,
          expect: { poll: { timeout: 15_000 } },
          include: ["test/**/*.test.ts"],
          exclude: ["test/package/**"],
          testTimeout: 20_000,
        },
      },
      {
        test: {
          name: "package",
          retry,
          expect: { poll: { timeout: 15_000 } },
          include: ["test/package/**/*.test.ts"],
          testTimeout: 120_000,
        },
      },
    ],
  },
});
