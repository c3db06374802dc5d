// A write waits for a person: one process runs the script and ends, another one decides and goes on, and the file is
// written once. Both start their own copy of the published filesystem server.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const folder = await realpath(await mkdtemp(join(tmpdir(), "approval-")));
const files = join(folder, "files");
const report = join(files, "report.txt");
await mkdir(files);
for (const name of ["a.txt", "b.txt"]) await writeFile(join(files, name), name);

/** Another process: it shares nothing with this one but the folder of the store and its secret. */
async function inNewProcess(part, ...args) {
  const env = { ...process.env, APPROVAL_FILES: files, APPROVAL_STORE: join(folder, "store"), APPROVAL_SECRET: secret };
  const script = fileURLToPath(new URL(`./${part}.mjs`, import.meta.url));
  const { stdout } = await run(process.execPath, [script, ...args], { env });
  console.log(stdout.trimEnd());
  return stdout;
}
const secret = randomBytes(32).toString("base64");

try {
  console.log("--- process A runs the script");
  const paused = await inNewProcess("ask");
  assert.match(paused, /A person has to allow this call/);
  assert.equal(existsSync(report), false);

  console.log("\n--- process B decides, and resumes the run twice");
  const resumed = await inNewProcess("decide");
  assert.match(resumed, /written by the script/);
  assert.equal(await readFile(report, "utf8"), "2 files so far");

  console.log("\n--- process C asks once more: the outcome is recorded, the file untouched");
  const { mtimeMs } = await stat(report);
  const [id] = /[0-9a-f]{32}/.exec(paused);
  assert.match(await inNewProcess("decide", id), /recorded outcome/);
  assert.equal((await stat(report)).mtimeMs, mtimeMs);
} finally {
  await rm(folder, { recursive: true });
}
