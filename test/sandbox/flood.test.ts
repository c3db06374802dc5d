import { afterAll, describe, expect, it } from "vitest";
import { quickJsSandbox } from "../../src/sandbox/quickjs/provider.js";

const sandbox = quickJsSandbox({ maxWorkers: 1 });
afterAll(() => sandbox.close?.());

/** Longest time between two turns of the event loop while `work` goes on, in milliseconds. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let last = performance.now();
  let longest = 0;
  let open = true;
  const look = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (open) setImmediate(look);
  };
  look();
  await work();
  open = false;
  return longest;
}

/** Calls that are sent in one turn of the script, each of a megabyte that is slow to read. */
const FLOOD = "for (let i = 0; i < 24; i++) void take('\"'.repeat(500_000)); await null;";

describe("a flood of large calls", () => {
  it("lets the host's event loop turn in between", async () => {
    let taken = 0;
    const take = (): void => void taken++;
    const flood = () => sandbox.run(`${FLOOD} return 'sent'`, { externalFunctions: { take } });
    await flood();
    const turns = [await longestTurn(flood), await longestTurn(flood)];
    expect(taken).toBe(3 * 24);
    // The better of two: other processes take their time too.
    expect(Math.min(...turns)).toBeLessThan(60);
  });

  it("is not started any more once its run was killed", async () => {
    let taken = 0;
    const block = (): void => {
      const end = performance.now() + 600;
      while (performance.now() < end);
      taken++;
    };
    const code =
      "void block(); await null; for (let i = 0; i < 30; i++) void block(); await null; new Array(1e9).join()";
    const result = await sandbox.run(code, { externalFunctions: { block }, limits: { timeoutMs: 300 } });
    expect(result).toMatchObject({ status: "failed", error: { kind: "timeout" } });
    await new Promise((resolve) => setImmediate(resolve));
    expect(taken).toBeLessThan(31);
  });
});
