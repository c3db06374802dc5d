// Builds beside the old dist and swaps at the end, so that whoever uses dist meanwhile finds it whole.
import { execFileSync } from "node:child_process";
import { mkdtempSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

mkdirSync(".tmp", { recursive: true });
const fresh = mkdtempSync(join(".tmp", "dist-"));
const old = `${fresh}-old`;
try {
  execFileSync(process.execPath, [join("node_modules", "tsup", "dist", "cli-default.js"), "--out-dir", fresh], {
    stdio: "inherit",
  });
  try {
    renameSync("dist", old);
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
  }
  renameSync(fresh, "dist");
} finally {
  rmSync(old, { recursive: true, force: true });
  rmSync(fresh, { recursive: true, force: true });
}
