import { describe, expect, it } from "vitest";
import { quickJsSandbox } from "../../src/sandbox/quickjs/provider.js";
import { inProcessSandbox } from "../../src/sandbox/quickjs/in-process.js";
import type { SandboxProvider } from "../../src/sandbox/provider.js";
import { isBlankScript, prepareScript, toFunctionBody } from "../../src/sandbox/script.js";
import { isUnreadable, readScript } from "../../src/sandbox/script/repair.js";
import { chained, originOf, thenEdit, unchanged } from "../../src/sandbox/script/rewrite.js";

function codeOf(text: string): string {
  const reading = readScript(text, 2000);
  if (isUnreadable(reading)) throw new Error(reading.failure.message);
  return reading.rewrite.code;
}

describe("a script that parses as it was sent", () => {
  it.each([
    "const a = 1;\nreturn a",
    "const s = 'import x from \"y\"; export default 1';\ns",
    "const t = `\n\\`\\`\\`js\nreturn 1\n\\`\\`\\`\n`;\nt",
    "a < b > (c)",
    "/* ```js */ 1",
    "'const a = 1;\\nreturn a'",
    "`return 42`",
    "~~~5",
    "label: { break label }",
    "{ let a = 1; a }",
    "if (x) { a: 1 }",
    "enum_ = 1; type = 2; as = 3\ntype\nas",
  ])("is not changed: %j", (text) => {
    expect(codeOf(text)).toBe(text);
    expect(prepareScript(text)).toEqual({ code: text, steps: [], notes: [] });
  });
});

describe("strings and templates", () => {
  it("are the same after every repair", () => {
    const strings = '\'import a from "b"\', `export ${1} \\n : number`, "x as T", /as number\\n/g';
    for (const text of [
      `const a: unknown[] = [${strings}]; a`,
      `import { z } from "zod";\nconst a = [${strings}]; a`,
      `export default [${strings}]`,
      `text\n\`\`\`js\n[${strings}]\n\`\`\``,
      `const a = 1;\\n[${strings}]`,
    ])
      expect(codeOf(text)).toContain(strings);
  });
});

describe("places in repaired code", () => {
  it.each([
    ["interface A { b: string }\nconst x: A = MARK as A, y = id<number>(MARK2)!", 2],
    ["export const a = 1, b = MARK;\nexport default MARK2", 2],
    ["import { z } from 'zod'; MARK;\nimport {\n a,\n b as c } from 'y'; c(a, MARK2)", 2],
    ["const a = 1;\\n\\tMARK;\\nMARK2", 2],
    ["Words\n\n```ts\nlet a: string = MARK; MARK2\n```\nwords", 2],
    ["{ a: 1, b: MARK, c: MARK2 }", 2],
  ])("are those of the text that was sent: %j", (text, marks) => {
    const reading = readScript(text, 2000);
    if (isUnreadable(reading)) throw new Error(reading.failure.message);
    const { code, steps } = reading.rewrite;
    const found = [...code.matchAll(/MARK2?/g)].map(({ index, 0: mark }) => [
      originOf(steps, index),
      text.indexOf(mark),
    ]);
    expect(found).toHaveLength(marks);
    for (const [origin, sent] of found) expect(origin).toBe(sent);
  });

  it("are kept over several steps, and stand at an insertion for what was inserted", () => {
    const first = thenEdit(unchanged("abc def"), [{ start: 0, end: 4, text: "" }]);
    const second = thenEdit(unchanged(first.code), [
      { start: 0, end: 0, text: "const x = " },
      { start: 1, end: 2, text: "EEE" },
    ]);
    const both = chained(first, second);
    expect(both.code).toBe("const x = dEEEf");
    expect(Array.from({ length: 15 }, (_char, at) => originOf(both.steps, at))).toEqual([
      ...Array<number>(10).fill(4),
      4,
      ...Array<number>(3).fill(5),
      6,
    ]);
  });
});

describe("a blank script", () => {
  it.each(["", " \n\t ", "// nothing", "/* a */ // b\n;;", "#!/bin/node", "\ufeff", "/* open"])("is %j", (text) => {
    expect(isBlankScript(text)).toBe(true);
  });
  it.each(["0", "{}", "// a\nb", "/* a */ b"])("is not %j", (text) => {
    expect(isBlankScript(text)).toBe(false);
  });
});

describe("a function that nobody calls", () => {
  it("is not called where it is kept for the next script", async () => {
    const sandbox = inProcessSandbox();
    const code = "let calls = 0;\nfunction count() { return ++calls }";
    const kept = await sandbox.run(code, { keepSnapshot: true });
    expect(kept).toMatchObject({ status: "completed", value: undefined, notes: [] });
    expect(await sandbox.run("count()", { from: kept.snapshot ?? new Uint8Array() })).toMatchObject({ value: 1 });
    expect(await sandbox.run(code, {})).toMatchObject({ value: 1 });
  });
});

/** Texts that keep a parser busy or overflow its stack. */
const HOSTILE: readonly [string, string][] = [
  ["types in types", "async<T>(".repeat(40)],
  ["arrows in types", `${"<T>(".repeat(40)}1`],
  ["brackets", "[".repeat(200_000)],
  ["brackets that close", `${"[".repeat(100_000)}${"]".repeat(100_000)}; let a: number`],
  ["arrows", `${"(a, b) => ".repeat(20_000)}: 1`],
  ["unary operators", `${"!".repeat(200_000)}: 1`],
  ["object literals", `${"{a:".repeat(60_000)}1`],
  ["templates", "`${".repeat(60_000)],
  ["fences", "```\n".repeat(60_000)],
  ["a fence with a long word", `\`\`\`${"a".repeat(250_000)}\``],
  ["comments", "/*".repeat(120_000)],
  ["literal line breaks", "a\\n".repeat(80_000)],
  ["line breaks and a word", `${"\n".repeat(250_000)}let x: number = ;`],
  ["imports", `${"import a from 'b';".repeat(10_000)}:`],
  ["quotes", "'\"`/".repeat(60_000)],
  ["nested groups of a regular expression", `/${"(?:".repeat(60_000)}/`],
  ["nested calls of import", "import(".repeat(30_000)],
  ["casts", `${"x as ".repeat(50_000)}y`],
  ["labels", "a:".repeat(100_000)],
  ["sums", `${"a+".repeat(100_000)}: 1`],
];

describe.each<[string, SandboxProvider]>([
  ["quickJsSandbox", quickJsSandbox({ limits: { timeoutMs: 2_000 }, maxWorkers: 1 })],
  ["inProcessSandbox", inProcessSandbox({ limits: { timeoutMs: 2_000 } })],
])("%s ends with a hostile text and goes on", (_name, sandbox) => {
  it.each(HOSTILE)("%s", async (_what, code) => {
    const started = performance.now();
    const result = await sandbox.run(code, {});
    expect(result).toMatchObject({
      status: "failed",
      error: { kind: expect.stringMatching(/^(syntax|stack|timeout|memory|runtime)$/) },
    });
    expect(performance.now() - started).toBeLessThan(3_500);
    const next = await sandbox.run("const a: number = 2; return a", {});
    expect(next).toMatchObject({ status: "completed", value: 2 });
  });
});

describe("the host", () => {
  it.each(HOSTILE)("takes no longer than half a second to read a hostile text: %s", async (_what, code) => {
    const started = performance.now();
    const { error } = await toFunctionBody(code);
    expect(error?.kind ?? "syntax").toMatch(/^(syntax|stack|timeout)$/);
    expect(performance.now() - started).toBeLessThan(1_500);
  });
});
