import { existsSync } from "node:fs";

/** Stands in for `worker-url.ts` under vitest: the worker that `npm run build` made. */
export function defaultWorkerUrl(): URL {
  const url = new URL("../../dist/worker.js", import.meta.url);
  if (!existsSync(url)) throw new Error("dist/worker.js is missing: run `npm run build` before vitest");
  return url;
}
