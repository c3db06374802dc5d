import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { caseSeed, mutatedText, newRandom, shorter } from "./fuzz/random.mjs";

/** A fuzz of a few seconds, as `npm run fuzz` runs it for longer. */
function fuzz(...args: string[]): Promise<{ code: number; out: string }> {
  const file = fileURLToPath(new URL("fuzz.mjs", import.meta.url));
  return new Promise((resolve) => {
    execFile(process.execPath, [file, ...args], (error, stdout, stderr) => {
      resolve({ code: Number(error?.code ?? 0), out: stdout + stderr });
    });
  });
}

describe("the fuzzer", () => {
  it("finds nothing in a few seconds, and says what it has done", async () => {
    const { code, out } = await fuzz("--seconds", "4", "--seed", "11");
    expect(out).toMatch(/^seed 11\n/);
    expect(out).toMatch(
      /scripts [1-9]\d*, values [1-9]\d*, replies [1-9]\d*, frames [1-9]\d*, snapshots [1-9]\d*\nfuzz: ok\n$/,
    );
    expect(code).toBe(0);
  }, 60_000);

  it("makes the same case from the same seed, and another one from another", () => {
    const text = (seed: number): string => mutatedText(newRandom(caseSeed(seed, 3)), "const x = 1; return x");
    expect(text(1)).toBe(text(1));
    expect(new Set([1, 2, 3, 4, 5].map(text)).size).toBeGreaterThan(1);
  });

  it("makes a finding smaller by leaving parts out, halves first", () => {
    const isFinding = (items: readonly string[]): boolean => items.includes("bad") && items.includes("worse");
    let smallest: readonly string[] = ["a", "b", "bad", "c", "d", "worse", "e", "f", "g"];
    for (let found: readonly string[] | undefined = smallest; found !== undefined;) {
      smallest = found;
      found = [...shorter(smallest)].find(isFinding);
    }
    expect(smallest).toEqual(["bad", "worse"]);
  });
});
