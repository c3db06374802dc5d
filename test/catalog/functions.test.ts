import { afterAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { z as zod3 } from "zod3";
import * as zod40 from "zod3/v4";
import { functionSource, type FunctionTool } from "../../src/catalog/functions.js";
import { createCodeMode } from "../../src/create-code-mode.js";
import { ConfigurationError } from "../../src/errors.js";
import { inProcessSandbox } from "../../src/sandbox/quickjs/in-process.js";

const sandboxProvider = inProcessSandbox();
afterAll(() => sandboxProvider.close?.());

const nobody = () => ({ signal: new AbortController().signal });
type Numbers = { a: number; b: number };
const add = ({ a, b }: Numbers) => a + b;

/** What a script gives whose tools are these functions. */
async function run(tools: Record<string, FunctionTool>, code: string) {
  const engine = createCodeMode(functionSource(tools), { sandboxProvider });
  const outcome = await engine.execute({ code });
  if (outcome.status === "suspended") throw new Error("paused");
  return outcome.status === "completed" ? outcome.value : outcome.error;
}
const listed = async (tool: FunctionTool) => (await functionSource({ tool }).listTools(nobody()))[0];

const INPUTS: [string, unknown][] = [
  ["zod 4", z.object({ a: z.number(), b: z.number().default(5) })],
  ["zod 3", zod3.object({ a: zod3.number(), b: zod3.number().default(5) })],
];

describe.each(INPUTS)("a function whose input is %s", (_, input) => {
  it("is listed with JSON Schema in which a default is no requirement", async () => {
    expect((await listed({ input, run: add }))?.inputSchema).toMatchObject({
      type: "object",
      properties: { a: { type: "number" }, b: { type: "number", default: 5 } },
      required: ["a"],
    });
  });
  it("gets its defaults", async () => {
    expect(await run({ add: { input, run: add } }, `return await tools.add({ a: 2 })`)).toBe(7);
  });
  it("is not run with arguments that do not fit, and the script hears what fits", async () => {
    const spy = vi.fn<(args: Numbers) => number>(add);
    const error = await run({ add: { input, run: spy } }, `await tools.add({ a: "two" })`);
    expect(error).toMatchObject({ kind: "validation" });
    expect((error as { message: string }).message).toMatch(
      /call_tool\('add'\).*a: .*number[\s\S]*a\* \(number\), b \(number\)/,
    );
    expect(spy).not.toHaveBeenCalled();
  });
});

describe("a schema's own check has the last word", () => {
  it.each([
    ["zod 4", z.object({ n: z.coerce.number() })],
    ["zod 3", zod3.object({ n: zod3.coerce.number() })],
  ])("coercion and transforms of %s reach the function", async (_, input) => {
    const value = await run(
      { twice: { input, run: ({ n }: { n: number }) => n * 2 } },
      `return await tools.twice({ n: "21" })`,
    );
    expect(value).toBe(42);
  });
  it("an async refinement is waited for", async () => {
    const input = z.object({ id: z.string().refine(async (id) => id === "known", "no such id") });
    const error = await run({ get: { input, run: () => 1 } }, `await tools.get({ id: "x" })`);
    expect(error).toMatchObject({ kind: "validation", message: expect.stringMatching(/id: no such id/) as string });
  });
  it("JSON Schema is checked before the call", async () => {
    const input = { properties: { n: { type: "integer" } }, required: ["n"] };
    const spy = vi.fn<() => number>(() => 1);
    const error = await run({ get: { input, run: spy } }, `await tools.get({ n: "x" })`);
    expect(error).toMatchObject({
      kind: "validation",
      message: expect.stringMatching(/n: expected integer/) as string,
    });
    expect(spy).not.toHaveBeenCalled();
  });
  it("a date is no JSON: the schema shows nothing of it and still checks it", async () => {
    const input = z.object({ when: z.date() });
    expect((await listed({ input, run: () => 1 }))?.inputSchema).toMatchObject({ properties: { when: {} } });
    expect(await run({ get: { input, run: () => 1 } }, `await tools.get({ when: "today" })`)).toMatchObject({
      kind: "validation",
    });
  });
});

describe("what a function gives", () => {
  const script = `return await call_tool("f", {})`;
  it.each([
    ["a string as text", () => "hello", "hello"],
    ["an object as it is", () => ({ id: 1, items: [2] }), { id: 1, items: [2] }],
    ["a number under result", () => 7, { result: 7 }],
    ["a list under result", () => [1, 2], { result: [1, 2] }],
    ["false under result", () => false, { result: false }],
    ["nothing as null", () => undefined, null],
    ["a promise's value", async () => ({ late: true }), { late: true }],
    ["the text of a CallToolResult", () => ({ content: [{ type: "text", text: "ready" }] }), "ready"],
    ["an object whose content is no list of blocks", () => ({ content: ["a"] }), { content: ["a"] }],
    ["a date inside as text", () => ({ at: new Date(0) }), { at: "1970-01-01T00:00:00.000Z" }],
  ])("%s", async (_, f, expected) => {
    expect(await run({ f: { run: f } }, script)).toEqual(expected);
  });
  it("what it throws is the tool's error", async () => {
    const f = (): never => {
      throw new Error("no seats left");
    };
    expect(await run({ f: { run: f } }, script)).toMatchObject({
      kind: "tool",
      message: "call_tool('f') failed: no seats left",
    });
  });
  it("a value that is no JSON is the tool's error", async () => {
    const loop: { self?: unknown } = {};
    loop.self = loop;
    expect(await run({ f: { run: () => loop } }, script)).toMatchObject({ kind: "tool" });
  });
  it("isError of a CallToolResult is the tool's error", async () => {
    const f = () => ({ content: [{ type: "text", text: "refused" }], isError: true });
    expect(await run({ f: { run: f } }, script)).toMatchObject({
      kind: "tool",
      message: "call_tool('f') failed: refused",
    });
  });
  it("an error with a JSON-RPC code passes with its code", async () => {
    const f = (): never => {
      throw Object.assign(new Error("go there first"), { code: -32042, data: { elicitations: [] } });
    };
    await expect(functionSource({ f: { run: f } }).callTool("f", {}, nobody())).rejects.toMatchObject({ code: -32042 });
  });
});

describe.each([
  ["zod 4", z.object({ id: z.number() }), z.array(z.number())],
  ["zod 3", zod3.object({ id: zod3.number() }), zod3.array(zod3.number())],
])("an output of %s", (_, object, list) => {
  it("is listed", async () => {
    expect((await listed({ output: object, run: () => 1 }))?.outputSchema).toMatchObject({
      properties: { id: { type: "number" } },
    });
  });
  it("is listed under result when it is no object, and given so", async () => {
    expect((await listed({ output: list, run: () => 1 }))?.outputSchema).toMatchObject({
      type: "object",
      properties: { result: { type: "array", items: { type: "number" } } },
      required: ["result"],
    });
    expect(await run({ f: { output: list, run: () => [1, 2] } }, `return await call_tool("f", {})`)).toEqual({
      result: [1, 2],
    });
    expect(await run({ f: { output: list, run: () => [1, 2] } }, `return await tools.f()`)).toEqual([1, 2]);
  });
  it("that the value does not fit is the tool's error", async () => {
    const error = await run({ f: { output: object, run: () => ({ id: "x" }) } }, `await tools.f()`);
    expect(error).toMatchObject({
      kind: "tool",
      message: expect.stringMatching(/does not fit its output: id: /) as string,
    });
  });
});

describe("functionSource refuses what it cannot read", () => {
  it.each<[string, unknown, RegExp]>([
    ["a misspelt key", { run: add, inputSchema: {} }, /tools\.t\.inputSchema.*Did you mean input/],
    ["no function", { run: "add" }, /tools\.t\.run must be a function/],
    ["a text as a schema", { run: add, input: "number" }, /tools\.t\.input must be a schema.*got string/],
    ["a plain object of schemas", { run: add, input: { a: z.number() } }, /tools\.t\.input.*wrap it, as in z\.object/],
    [
      "zod 4.0, which gives no JSON Schema",
      { run: add, input: zod40.object({ a: zod40.number() }) },
      /update zod to 4\.2/,
    ],
  ])("%s", (_, tool, message) => {
    const making = () => functionSource({ t: tool as FunctionTool });
    expect(making).toThrow(ConfigurationError);
    expect(making).toThrow(message);
  });
  it.each([z.string(), zod3.string(), { type: "array" }])(
    "an input that is no object, when it is listed",
    async (input) => {
      await expect(listed({ input, run: add })).rejects.toThrow(/tools\.tool\.input must be a schema of an object/);
    },
  );
});

describe("the source of functions", () => {
  it("has tools with names that objects inherit", async () => {
    const names = ["constructor", "toString"];
    const source = functionSource(Object.fromEntries(names.map((name) => [name, { run: () => name }])));
    expect((await source.listTools(nobody())).map(({ name }) => name)).toEqual(names);
    expect(await run({ constructor: { run: () => "mine" } }, `return await call_tool("constructor", {})`)).toBe("mine");
  });
  it("knows only its own", async () => {
    await expect(functionSource({}).callTool("toString", {}, nobody())).rejects.toThrow(/Unknown tool: toString/);
  });
  it("keeps its list, and its name, annotations and marks", async () => {
    const annotations = { readOnlyHint: true };
    const source = functionSource({ f: { run: add, annotations, _meta: { tags: ["x"] } } }, { name: "mine" });
    expect(source.name).toBe("mine");
    expect(await source.listTools(nobody())).toBe(await source.listTools(nobody()));
    expect(await source.listTools(nobody())).toMatchObject([{ annotations, _meta: { tags: ["x"] } }]);
  });
  it("gives a function its caller and the signal of the call", async () => {
    const seen: unknown[] = [];
    const source = functionSource({ f: { run: (_: object, context: object) => void seen.push(context) } });
    const engine = createCodeMode(source, { sandboxProvider });
    await engine.execute({ code: `await tools.f()` }, { authInfo: { clientId: "me" } });
    expect(seen).toMatchObject([{ callerId: 'client:["me"]', signal: expect.any(AbortSignal) as AbortSignal }]);
  });
});
