import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { median, quantile } from "./measure.mjs";

/** From the import of the package to the result of the first script, in a new process. */
export function cold() {
  const samples = Array.from({ length: 11 }, () =>
    Number(execFileSync(process.execPath, [fileURLToPath(import.meta.url), "child"]).toString()),
  );
  console.log(
    `import to first result in a new process, ms, median (p10-p90): ${median(samples).toFixed(0)} (${quantile(samples, 0.1).toFixed(0)}-${quantile(samples, 0.9).toFixed(0)})`,
  );
  return { cold_ms: median(samples) };
}

if (process.argv[2] === "child") {
  const started = performance.now();
  const { quickJsSandbox } = await import("mcp-codemode/sandbox");
  const sandbox = quickJsSandbox();
  const result = await sandbox.run("1 + 1", {});
  if (result.value !== 2) throw new Error(JSON.stringify(result));
  console.log(performance.now() - started);
  await sandbox.close();
}
