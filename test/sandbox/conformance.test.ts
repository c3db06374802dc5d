import { describe, expect, it } from "vitest";
import { inProcessSandbox } from "../../src/sandbox/quickjs/in-process.js";
import { quickJsSandbox } from "../../src/sandbox/quickjs/provider.js";
import type { SandboxProvider } from "../../src/sandbox/provider.js";
import { sandboxConformance } from "../../src/testing.js";

describe.each<[string, () => SandboxProvider]>([
  ["quickJsSandbox", () => quickJsSandbox({ maxWorkers: 2 })],
  ["inProcessSandbox", () => inProcessSandbox()],
])("%s", (_name, provider) => {
  it("keeps every promise of a sandbox", { timeout: 120_000 }, async () => {
    const broken: string[] = [];
    let checks = 0;
    for await (const { name, ok, reason } of sandboxConformance(provider)) {
      checks++;
      if (!ok) broken.push(`${name}: ${reason ?? ""}`);
    }
    expect(broken).toEqual([]);
    expect(checks).toBeGreaterThan(40);
  });
});
