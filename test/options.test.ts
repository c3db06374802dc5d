import { describe, expect, it } from "vitest";
import { DEFAULT_LIMITS } from "../src/calls/limits.js";
import type { Tool } from "../src/catalog/tool.js";
import { resolveOptions, type CodeModeOptions } from "../src/options.js";

const tool = (name: string): Tool => ({ name, inputSchema: { type: "object" } });
const resolve = (options: unknown) => () => resolveOptions(options as CodeModeOptions);

describe("options", () => {
  it("have a default each", () => {
    const options = resolveOptions();
    expect(options).toMatchObject({
      enabled: true,
      sources: [],
      include: undefined,
      searchToolName: "search",
      executeToolName: "execute",
      executeDescription: undefined,
      structuredOutput: "none",
      defaultArguments: {},
      policy: undefined,
      directCalls: "allow",
      limits: DEFAULT_LIMITS,
      sandboxLimits: {},
      hasDirectTools: false,
    });
    expect(options.metaTools).toHaveLength(2);
    expect(options.searchStrategy.name).toBe("bm25");
    expect(options.isDirect(tool("any"))).toBe(false);
  });

  it("that are undefined count as not given", () => {
    expect(resolveOptions({ enabled: undefined } as unknown as CodeModeOptions).enabled).toBe(true);
  });

  it.each([
    [{ serchStrategy: () => [] }, /Unknown option "serchStrategy"\. Did you mean searchStrategy\?/],
    [{ maxToolCalls: 5 }, /Unknown option "maxToolCalls"/],
    [{ session: true }, /session must be false or/],
    [{ limits: { maxToolCall: 5 } }, /Unknown limit "maxToolCall".*maxToolCalls/],
    [{ limits: { maxToolCalls: "5" } }, /limits\.maxToolCalls must be a number/],
    [{ limits: { timeoutMs: -1 } }, /limits\.timeoutMs/],
    [{ limits: [] }, /Option limits must be an object, got a list/],
    [{ enabled: "yes" }, /Option enabled must be true or false, got "yes"/],
    [{ include: ["a"] }, /Option include must be a function, got a list/],
    [{ directTools: [1] }, /Option directTools must be a list of tool names or a function/],
    [{ directTools: "none" }, /Option directTools must be a list of tool names or a function or "auto", got "none"/],
    [{ catalogInDescription: "all" }, /Option catalogInDescription must be false or "auto" or "names"/],
    [{ catalogInDescription: { tokens: 0 } }, /Option catalogInDescription/],
    [{ catalogInDescription: { tokens: 10, lines: 3 } }, /Option catalogInDescription/],
    [{ learnedTypes: { shared: true } }, /Option learnedTypes must be true or false or \{ share \}/],
    [{ aliases: { add: "plus" } }, /aliases\.add must be a list of strings/],
    [{ sources: [{ listTools() {} }] }, /Option sources\[0\] must be an object with listTools and callTool/],
    [{ metaTools: [{}] }, /Option metaTools must be a list of functions/],
    [{ searchStrategy: "bm25" }, /Option searchStrategy must be a function or an object with search, got "bm25"/],
    [{ searchResultSerializer: "json" }, /Option searchResultSerializer must be a function/],
    [{ sandboxProvider: { name: "x" } }, /Option sandboxProvider must be an object with run/],
    [{ structuredOutput: true }, /Option structuredOutput must be "none" or "value"/],
    [{ directCalls: "deny" }, /Option directCalls must be "allow" or "policy" or "refuse"/],
    [{ directCalls: "policy" }, /directCalls is "policy", but there is no `policy`/],
    [{ searchToolName: "two words" }, /Option searchToolName must be a tool name/],
    [{ executeToolName: "x".repeat(65) }, /Option executeToolName must be a tool name of 1 to 64 characters/],
    [{ policy: {} }, /Option policy must be a function/],
    [null, /The options must be an object/],
    [[], /The options must be an object, got a list/],
  ])("%o is refused, with the path", (options, message) => {
    expect(resolve(options)).toThrow(message);
    expect(resolve(options)).toThrow(expect.objectContaining({ name: "ConfigurationError" }) as Error);
  });

  it("9: cannot give search and execute one name", () => {
    expect(resolve({ searchToolName: "run", executeToolName: "run" })).toThrow(/collides.*unique/);
    expect(resolve({ searchToolName: "execute" })).toThrow(/collides/);
  });
});

describe("limits", () => {
  it("59: are never shared between two resolutions, nor with what was given", () => {
    const limits = { maxToolCalls: 7 };
    const first = resolveOptions({ limits }).limits;
    first.maxToolCalls = 1;
    expect(resolveOptions({ limits }).limits.maxToolCalls).toBe(7);
    expect(resolveOptions().limits.maxToolCalls).toBe(50);
    expect(limits).toEqual({ maxToolCalls: 7 });
  });

  it("57, 58: replace the defaults they name, and null removes one", () => {
    const { limits } = resolveOptions({ limits: { toolTimeoutMs: null, maxConcurrentCalls: 2 } });
    expect(limits).toEqual({ ...DEFAULT_LIMITS, toolTimeoutMs: Infinity, maxConcurrentCalls: 2 });
  });

  it("reach the sandbox only where they were given: a provider has limits of its own", () => {
    const { sandboxLimits } = resolveOptions({ limits: { timeoutMs: null, maxResultBytes: 10, maxToolCalls: 1 } });
    expect(sandboxLimits).toEqual({ timeoutMs: null, maxResultBytes: 10 });
  });

  it("has every documented key", () => {
    expect(Object.keys(DEFAULT_LIMITS).sort()).toEqual(
      `clientTimeoutMs cpuMs humanWaitMs maxArgumentBytes maxBridgeMessages maxCallResultBytes maxCodeBytes
       maxConcurrentCalls maxDiscoveryBytes maxHydratedTools maxLogBytes maxResultBytes maxStackBytes maxToolCalls
       maxTotalResultBytes memoryBytes timeoutMs toolTimeoutMs`.split(/\s+/),
    );
  });
});

describe("directTools", () => {
  it("are names or a function", () => {
    expect(resolveOptions({ directTools: ["a"] }).isDirect(tool("a"))).toBe(true);
    expect(resolveOptions({ directTools: ["a"] }).isDirect(tool("constructor"))).toBe(false);
    const byFunction = resolveOptions({ directTools: ({ name }) => name.startsWith("get_") });
    expect([byFunction.isDirect(tool("get_x")), byFunction.isDirect(tool("x"))]).toEqual([true, false]);
    expect(byFunction.hasDirectTools).toBe(true);
  });
});

describe("directCalls", () => {
  it("follow the policy as soon as there is one", () => {
    const policy = () => ({ action: "allow" as const });
    expect(resolveOptions({ policy }).directCalls).toBe("policy");
    expect(resolveOptions({ policy, directCalls: "allow" }).directCalls).toBe("allow");
  });
});
