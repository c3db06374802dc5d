import { describe, expect, it } from "vitest";
import { jsonResult } from "../../src/meta-tools/results/json.js";
import { outputErrorResult } from "../../src/meta-tools/results/output-error.js";
import { processResult } from "../../src/meta-tools/results/process.js";
import type { CodeModeOptions } from "../../src/options.js";
import { fakeSource } from "../../src/testing.js";
import { engineOf, execute, markOf, textOf, textsOf } from "./engine.js";

const image = { type: "image" as const, mimeType: "image/png", data: "AAAA" };
const source = () =>
  fakeSource(
    {
      ok: () => "fine",
      boom: () => {
        throw new Error("quota used up");
      },
      photo: () => ({ content: [image] }),
    },
    { name: "demo" },
  );
const run = (code: string, options: CodeModeOptions = {}) => execute(engineOf(source(), options), code);

describe("the text of a reply", () => {
  it.each([
    ["'plain'", "plain"],
    ["({ a: [1, 2] })", '{"a":[1,2]}'],
    ["5", "5"],
    ["null", "null"],
    ["false", "false"],
    ["''", ""],
    ["10n", "10"],
    ["[NaN, -0, new Date(0), new Map([['k', 1]]), new Set([1])]", '["NaN",0,"1970-01-01T00:00:00.000Z",{"k":1},[1]]'],
  ])("of %s is %s", async (code, text) => {
    expect(textsOf(await run(code))).toEqual([text]);
  });

  it("has console output and notes in blocks of their own, in order", async () => {
    const reply = await run("console.log('one'); console.warn('two'); console.log('three'); undefined");
    expect(textsOf(reply)).toEqual([
      "Console:\none\n[warn] two\nthree",
      "Note: Nothing was returned. End the script with `return value`.",
    ]);
  });

  it("has console output of a failed script too", async () => {
    const [error, logs] = textsOf(await run("console.log('loaded 3 rows'); throw new Error('bad')"));
    expect(error).toMatch(/^Error: bad\n/);
    expect(logs).toBe("Console:\nloaded 3 rows");
  });

  it("never takes a thrown nothing for a success", async () => {
    for (const code of ["throw ''", "throw null", "throw undefined", "throw new Error('')", "throw 'text'"]) {
      const reply = await run(code);
      expect(reply.isError).toBe(true);
      expect(textOf(reply).length).toBeGreaterThan(3);
    }
  });

  it("that is too large is cut, still valid JSON, and says so", async () => {
    const reply = await run("({ rows: [{ detail: 'x'.repeat(70000) }] })", { limits: { maxResultBytes: 24_000 } });
    const [json = "", note] = textsOf(reply);
    expect(JSON.parse(json)).toHaveProperty("rows");
    expect(note).toContain("truncated");
    expect(markOf(reply).truncated).toBe(true);
    expect(textOf(await run("'z'.repeat(23000)", { limits: { maxResultBytes: 24_000 } }))).toHaveLength(23_000);
  });
});

describe("structuredOutput", () => {
  const structured = async (code: string): Promise<unknown> =>
    (await run(code, { structuredOutput: "value" })).structuredContent;

  it("carries an object as it is and anything else as { result }", async () => {
    expect(await structured("({ a: 1 })")).toEqual({ a: 1 });
    expect(await structured("[1]")).toEqual({ result: [1] });
    expect(await structured("'text'")).toEqual({ result: "text" });
    expect(await structured("null")).toEqual({ result: null });
  });

  it("carries nothing for nothing, for a failure, and by default", async () => {
    expect(await structured("undefined")).toBeUndefined();
    expect(await structured("throw new Error('x')")).toBeUndefined();
    expect(await run("({ a: 1 })")).not.toHaveProperty("structuredContent");
  });
});

describe("the mark of a run", () => {
  it("tells how it ended, the calls in order, and how long it took", async () => {
    const mark = markOf(await run("await call_tool('ok'); try { await call_tool('boom') } catch {} return 1"));
    expect(mark).toMatchObject({
      kind: "ok",
      truncated: false,
      calls: [
        { tool: "ok", server: "demo", ok: true },
        { tool: "boom", server: "demo", ok: false },
      ],
    });
    expect(mark.durationMs).toBeGreaterThan(0);
  });

  it("lists so many calls and counts the rest", async () => {
    const mark = markOf(
      await run("for (let i = 0; i < 210; i++) await call_tool('ok')", { limits: { maxToolCalls: null } }),
    );
    expect(mark.calls).toHaveLength(200);
    expect(mark.callsOmitted).toBe(10);
  });

  it("is there beside what a serializer of the user gives", async () => {
    const executeResultSerializer = () => ({ content: [], _meta: { mine: 1 } });
    expect(await run("1", { executeResultSerializer })).toEqual({
      content: [],
      _meta: { mine: 1, "mcp-codemode/run": expect.objectContaining({ kind: "ok" }) as object },
    });
    expect(textsOf(await run("1", { executeResultSerializer: () => "MINE" }))).toEqual(["MINE"]);
  });
});

describe("jsonResult", () => {
  const json = async (code: string): Promise<unknown> =>
    JSON.parse(textOf(await run(code, { executeResultSerializer: jsonResult() })));

  it("is one object for programs", async () => {
    expect(await json("console.log('hi'); await call_tool('ok'); 5")).toMatchObject({
      ok: true,
      result: 5,
      logs: [{ level: "log", text: "hi" }],
      calls: [{ tool: "ok", ok: true }],
    });
    expect(await json("await call_tool('okk')")).toMatchObject({
      ok: false,
      error: { kind: "tool", message: expect.stringContaining("Unknown tool: okk") as string },
    });
  });

  it("has images behind it", async () => {
    const reply = await run("await call_tool('photo')", { executeResultSerializer: jsonResult() });
    expect(reply.content[1]).toEqual(image);
  });
});

describe("outputErrorResult", () => {
  const options = { executeResultSerializer: outputErrorResult() };

  it("gives what was printed and the error of the script as separate fields", async () => {
    const reply = await run("console.log('loaded 3 rows'); null.x", options);
    const { output, error } = JSON.parse(textOf(reply)) as { output: string; error: string };
    expect(output).toBe("loaded 3 rows");
    expect(error).toMatch(/^TypeError: /);
    expect(markOf(reply).kind).toBe("runtime");
  });

  it("never makes a success of a tool that failed or a limit", async () => {
    expect(await run("await call_tool('boom')", options)).toMatchObject({ isError: true });
    const limited = { ...options, limits: { maxToolCalls: 0 } };
    expect(await run("await call_tool('ok')", limited)).toMatchObject({ isError: true });
  });

  it("gives the value of a success", async () => {
    expect(textOf(await run("({ a: 1 })", options))).toBe('{"a":1}');
  });
});

describe("processResult", () => {
  const exec = async (code: string, limits = {}): Promise<Record<string, unknown>> =>
    JSON.parse(textOf(await run(code, { executeResultSerializer: processResult(), limits }))) as Record<
      string,
      unknown
    >;

  it("tells a run in the words of a process", async () => {
    const result = await exec("console.log('a'); console.error('b'); console.info('c'); await call_tool('ok')");
    expect(result).toEqual({
      stdout: "a\nc",
      stderr: "b",
      result: "fine",
      error: null,
      returncode: 0,
      duration_seconds: expect.any(Number) as number,
      tool_calls: [{ server: "demo", tool: "ok", duration_seconds: expect.any(Number) as number, ok: true }],
    });
  });

  it("has 1 for a script that failed and null for one that the host ended", async () => {
    expect(await exec("throw new Error('x')")).toMatchObject({ returncode: 1, result: null });
    expect(await exec("for (;;) {}", { timeoutMs: 100 })).toMatchObject({ returncode: null });
  });
});
