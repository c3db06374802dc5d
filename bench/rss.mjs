import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const WORKERS = 8;

/** Resident memory of one more worker: eight scripts at once in a process of its own, the first one not counted. */
export function rss() {
  const out = execFileSync(process.execPath, ["--expose-gc", fileURLToPath(import.meta.url), "child"]).toString();
  const { one, all } = JSON.parse(out);
  console.log(`resident memory, MB: with 1 worker ${one.toFixed(0)} | with ${WORKERS} ${all.toFixed(0)}`);
  return { rss_per_worker_mb: (all - one) / (WORKERS - 1) };
}

if (process.argv[2] === "child") {
  const { quickJsSandbox } = await import("mcp-codemode");
  const sandbox = quickJsSandbox({ maxWorkers: WORKERS });
  const run = (count) => Promise.all(Array.from({ length: count }, () => sandbox.run("await sleep(300); 1", {})));
  const residentMb = () => {
    globalThis.gc();
    return process.memoryUsage().rss / 2 ** 20;
  };
  await run(1);
  const one = residentMb();
  await run(WORKERS);
  console.log(JSON.stringify({ one, all: residentMb() }));
  await sandbox.close();
}
