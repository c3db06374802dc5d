import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";

const RUNNER = fileURLToPath(new URL("run-cases.mjs", import.meta.url));
const SELF_CHECK = fileURLToPath(new URL("self-check.jsonl", import.meta.url));

/** The runner as users call it. */
function runCases(...args: string[]): Promise<{ code: number; lines: string[]; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [RUNNER, ...args], (error, stdout, stderr) => {
      resolve({ code: Number(error?.code ?? 0), lines: stdout.trimEnd().split("\n"), stderr });
    });
  });
}

/** The ids of a status, in order. */
const ids = (lines: readonly string[], status: string): string[] =>
  lines.filter((line) => line.startsWith(`${status} `)).map((line) => line.split(" ")[1] ?? "");

describe("the runner of behaviour cases", () => {
  let all: Awaited<ReturnType<typeof runCases>>;
  beforeAll(async () => {
    all = await runCases(SELF_CHECK);
  }, 60_000);

  it("passes what is right", () => {
    const passed = ids(all.lines, "ok");
    expect(passed.filter((id) => !id.startsWith("self/right-"))).toEqual([]);
    expect(all.lines.filter((line) => line.includes("self/right-") && !line.startsWith("ok "))).toEqual([]);
    expect(passed.length).toBeGreaterThan(8);
  });

  it("fails what is wrong, and says how", () => {
    const failed = ids(all.lines, "FAIL");
    expect(failed.length).toBeGreaterThan(8);
    expect(failed.filter((id) => !/^self\/(wrong-|text-is-no-number)/.test(id))).toEqual([]);
    expect(all.lines.find((line) => line.startsWith("FAIL self/wrong-value "))).toContain(
      "expected the value 2, got 1",
    );
  });

  it("marks what it does not know as TODO, never as passed", () => {
    const todo = ids(all.lines, "TODO");
    expect(todo.filter((id) => id.startsWith("self/unknown-"))).toHaveLength(12);
    expect(todo).toEqual(expect.arrayContaining(["self/nothing-asserted"]));
    expect(all.lines.find((line) => line.startsWith("TODO self/unknown-input-key "))).toContain("surprise");
  });

  it("ends with the counts of each group and of all, and a code that says that some failed", () => {
    const passed = ids(all.lines, "ok").length;
    const failed = ids(all.lines, "FAIL").length + ids(all.lines, "TODO").length;
    expect(all.lines.at(-1)).toBe(`${passed} passed, ${failed} failed`);
    expect(all.lines).toContainEqual(expect.stringMatching(/^gateway: 4 passed, 3 failed \(1 of them TODO\)$/));
    expect(all.code).toBe(1);
  });

  it("runs single groups and ids, and ends with 0 when they pass", async () => {
    const one = await runCases(SELF_CHECK, "--id", "self/right-value", "--id", "self/right-error");
    expect(one.lines).toEqual([
      "ok self/right-value",
      "ok self/right-error",
      "normalise: 1 passed, 0 failed",
      "limits: 1 passed, 0 failed",
      "2 passed, 0 failed",
    ]);
    expect(one.code).toBe(0);
    const group = await runCases(SELF_CHECK, "--group", "schema", "--group", "gateway");
    expect(group.lines.at(-1)).toBe("5 passed, 4 failed");
  }, 60_000);

  it("says what is wrong with a file it cannot read", async () => {
    const missing = await runCases("no-such-file.jsonl");
    expect(missing).toMatchObject({ code: 2 });
    expect(missing.stderr).toContain("no-such-file.jsonl");
    expect(await runCases()).toMatchObject({ code: 2 });
  }, 60_000);
});
