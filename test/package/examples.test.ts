import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const run = promisify(execFile);
const EXAMPLES = fileURLToPath(new URL("../../examples/", import.meta.url));
/** The slowest takes 8 s on two idle cores; a machine that runs the whole suite needs more. */
const TIME_LIMIT_MS = 90_000;

const stories = readdirSync(EXAMPLES, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

describe("the examples", () => {
  it("are there", () => {
    expect(stories).toEqual(expect.arrayContaining(["demo", "quickstart", "two-endpoints", "custom-sandbox"]));
  });

  it.each(stories)("%s has an entry of its own name", (story) => {
    expect(existsSync(join(EXAMPLES, story, `${story}.mjs`))).toBe(true);
  });

  // Each asserts what it shows and exits with an error otherwise; a process that does not end by itself is killed.
  it.each(stories)("%s does what it says, and ends by itself", { timeout: TIME_LIMIT_MS + 10_000 }, async (story) => {
    const entry = join(EXAMPLES, story, `${story}.mjs`);
    const { stdout } = await run(process.execPath, [entry], { timeout: TIME_LIMIT_MS, killSignal: "SIGKILL" });
    expect(stdout.trim()).not.toBe("");
  });
});
