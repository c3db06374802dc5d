import { existsSync } from "node:fs";
import vm from "node:vm";
import { describe, expect, it } from "vitest";
import { CancelledError, ToolCallError } from "../src/errors.js";
import type { SandboxProvider } from "../src/sandbox/provider.js";
import { type ConformanceOptions, type ConformanceResult, fakeSource, sandboxConformance } from "../src/testing.js";

async function conformance(
  provider: SandboxProvider | (() => SandboxProvider),
  options?: ConformanceOptions,
): Promise<ConformanceResult[]> {
  const results: ConformanceResult[] = [];
  for await (const result of sandboxConformance(provider, options)) results.push(result);
  return results;
}

const failing = (results: readonly ConformanceResult[]): string[] =>
  results.filter(({ ok }) => !ok).map(({ name }) => name);

describe("sandboxConformance finds what is wrong with a sandbox", () => {
  it("that answers 42 to everything", async () => {
    const results = await conformance({ name: "forty-two", run: async () => ({ status: "completed", value: 42 }) });
    const holding = results.filter(({ ok }) => ok).map(({ name }) => name);
    expect(holding).toContain("returns the value that the script returns");
    expect(failing(results).length).toBeGreaterThan(40);
    expect(results.find(({ name }) => name === "ends an endless loop at timeoutMs")).toMatchObject({
      ok: false,
      reason: "the run succeeded with 42 and should have failed",
    });
  });

  it("that fails every run with the same kind", async () => {
    const error = { kind: "runtime", name: "Error", message: "no" } as const;
    const results = await conformance({ name: "no", run: async () => ({ status: "failed", error }) });
    expect(failing(results)).toContain("ends an endless loop at timeoutMs");
    expect(failing(results)).toContain("returns the value that the script returns");
  });

  it("that rejects, with the rejection in the reason", async () => {
    const run = async (): Promise<never> => Promise.reject(new Error("cannot"));
    const results = await conformance({ name: "rejecting", run });
    const [first] = results.filter(({ name }) => name === "returns the value that the script returns");
    expect(first?.reason).toContain("run() rejected instead of resolving to a failed result: cannot");
  });

  it("that never answers, without hanging itself", async () => {
    const run = (): Promise<never> => new Promise(() => undefined);
    const results = await conformance({ name: "silent", accepts: "script", run }, { checkTimeoutMs: 5 });
    expect(results.filter(({ ok }) => ok).map(({ name }) => name)).toEqual(["has a name"]);
    expect(results.at(-1)?.reason).toBe("nothing came within 5 ms");
  });

  it("that has no name", async () => {
    const nameless = { name: "", run: async () => 1 } as unknown as SandboxProvider;
    expect(failing(await conformance(nameless, { only: (name) => name === "has a name" }))).toEqual(["has a name"]);
  });

  it("that runs scripts in node:vm: the host is in reach, and runs share globals", async () => {
    const context = vm.createContext({});
    const results = await conformance(
      {
        name: "vm",
        async run(code, { inputs, externalFunctions }) {
          Object.assign(context, inputs, externalFunctions);
          return (await vm.runInContext(`(async () => {${code}\n})()`, context)) as never;
        },
      },
      { only: (name) => /out of reach|globals of the run before|returns the value/.test(name) },
    );
    expect(failing(results)).toEqual([
      "starts without the globals of the run before",
      "keeps the host out of reach of every constructor chain",
    ]);
    expect(results.at(-1)?.reason).toContain("a function of the host");
  });
});

/** Providers of this package; each is tried as soon as its file exists. */
const OWN = [
  { file: "../src/sandbox/quickjs/in-process.ts", factory: "inProcessSandbox" },
  { file: "../src/sandbox/quickjs/provider.ts", factory: "quickJsSandbox" },
];

describe.each(OWN)("$factory", ({ file, factory }) => {
  it.skipIf(!existsSync(new URL(file, import.meta.url)))(
    "keeps every promise of a sandbox",
    { timeout: 120_000 },
    async () => {
      const module = (await import(file)) as Record<string, () => SandboxProvider>;
      const make = module[factory];
      if (make === undefined) throw new Error(`${file} does not export ${factory}`);
      const results = await conformance(() => make());
      expect(results.filter(({ ok }) => !ok)).toEqual([]);
      expect(results.length).toBeGreaterThan(60);
    },
  );
});

const context = { signal: new AbortController().signal };

describe("fakeSource", () => {
  it("lists its tools, with a schema that takes any object where none is given", async () => {
    const source = fakeSource({
      now: () => "noon",
      greet: { description: "Greets", annotations: { readOnlyHint: true }, handler: () => "hi" },
    });
    expect(await source.listTools(context)).toEqual([
      { name: "now", inputSchema: { type: "object" } },
      { name: "greet", description: "Greets", annotations: { readOnlyHint: true }, inputSchema: { type: "object" } },
    ]);
  });

  it("answers with text, structured content, or the result a handler made", async () => {
    const made = { content: [{ type: "text", text: "as it is" }], isError: true };
    const source = fakeSource({
      text: () => "hi",
      object: ({ a }) => ({ a }),
      list: () => [1],
      none: () => undefined,
      made: () => made,
    });
    const call = (name: string): Promise<unknown> => source.callTool(name, { a: 1 }, context);
    expect(await call("text")).toEqual({ content: [{ type: "text", text: "hi" }] });
    expect(await call("object")).toEqual({ content: [{ type: "text", text: '{"a":1}' }], structuredContent: { a: 1 } });
    expect(await call("list")).toEqual({ content: [{ type: "text", text: "[1]" }] });
    expect(await call("none")).toEqual({ content: [] });
    expect(await call("made")).toBe(made);
  });

  it("turns what a handler throws into a result with isError", async () => {
    const source = fakeSource({
      boom: () => {
        throw new Error("quota used up");
      },
    });
    expect(await source.callTool("boom", {}, context)).toEqual({
      content: [{ type: "text", text: "quota used up" }],
      isError: true,
    });
  });

  it("rejects for an unknown tool, also for names that objects inherit", async () => {
    const source = fakeSource({});
    for (const name of ["nope", "constructor", "__proto__"]) {
      await expect(source.callTool(name, {}, context)).rejects.toThrow(ToolCallError);
    }
  });

  it("remembers its calls", async () => {
    const source = fakeSource({ greet: () => "hi" });
    await source.callTool("greet", { name: "Ada" }, context);
    expect(source.calls).toEqual([{ name: "greet", args: { name: "Ada" } }]);
  });

  it("rejects as soon as the caller gives up", async () => {
    const controller = new AbortController();
    const source = fakeSource({ never: () => new Promise(() => undefined) });
    const call = source.callTool("never", {}, { signal: controller.signal });
    controller.abort();
    await expect(call).rejects.toThrow(CancelledError);
    await expect(source.callTool("never", {}, { signal: controller.signal })).rejects.toThrow(CancelledError);
  });

  it("tells its listeners of added and removed tools until they stop listening", async () => {
    const source = fakeSource({});
    let told = 0;
    const stop = source.onToolsChanged(() => told++);
    source.set("late", () => "late");
    expect((await source.listTools(context)).map(({ name }) => name)).toEqual(["late"]);
    expect([source.remove("late"), source.remove("late")]).toEqual([true, false]);
    stop();
    source.set("later", () => "later");
    expect(told).toBe(2);
  });
});
