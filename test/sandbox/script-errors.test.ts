import { describe, expect, it } from "vitest";
import { inProcessSandbox } from "../../src/sandbox/quickjs/in-process.js";
import type { ScriptError } from "../../src/sandbox/provider.js";

const sandbox = inProcessSandbox({ limits: { timeoutMs: 5_000 } });
const externalFunctions = {
  call_tool: async (name: string) => {
    if (name === "fail") throw new Error("call_tool('fail') failed: no such row");
    return name === "text" ? "[1, 2]" : { items: [1] };
  },
  ask: async () => "some text",
};

async function errorOf(code: string): Promise<ScriptError> {
  const result = await sandbox.run(code, { externalFunctions });
  if (result.status !== "failed") throw new Error(`it succeeded: ${JSON.stringify(result)}`);
  return result.error;
}

interface Expected {
  says: string;
  at?: [line: number, column: number];
  hint?: string | RegExp;
}

const AWAIT = "A call had no answer yet: every call gives a promise. Write `await` before it to get its value.";
const TOOLS_ONLY = "tools are the only way out. Use `await call_tool(name, args)`.";

const cases: readonly [string, Expected][] = [
  // Names that are not there.
  [
    "fetch('https://x.y')",
    {
      says: "ReferenceError: 'fetch' is not defined",
      at: [1, 1],
      hint: `There is no network in a script: ${TOOLS_ONLY}`,
    },
  ],
  [
    "const a = 1;\nprocess.exit()",
    {
      says: "ReferenceError: 'process' is not defined",
      at: [2, 1],
      hint: `Node's globals do not exist in a script: ${TOOLS_ONLY}`,
    },
  ],
  [
    "return require('fs')",
    {
      says: "ReferenceError: 'require' is not defined",
      at: [1, 8],
      hint: `A script is no module and has no packages: ${TOOLS_ONLY}`,
    },
  ],
  [
    "Buffer.from('a')",
    {
      says: "ReferenceError: 'Buffer' is not defined",
      at: [1, 1],
      hint: `Node's globals do not exist in a script: ${TOOLS_ONLY}`,
    },
  ],
  ["module.exports = 1", { says: "ReferenceError: 'module' is not defined", at: [1, 1], hint: /no module/ }],
  ["window.alert(1)", { says: "ReferenceError: 'window' is not defined", at: [1, 1], hint: /no browser/ }],
  ["new Intl.NumberFormat()", { says: "ReferenceError: 'Intl' is not defined", at: [1, 5], hint: /toFixed/ }],
  [
    "cal_tool('x')",
    {
      says: "ReferenceError: 'cal_tool' is not defined",
      at: [1, 1],
      hint: "Did you mean call_tool? In scope: call_tool, ask, tools, console, and what JavaScript itself has.",
    },
  ],
  [
    "await call_tool('echo', { query })",
    { says: "ReferenceError: 'query' is not defined", hint: /^In scope: call_tool, ask, tools, console/ },
  ],
  ["x; let x = 1", { says: "ReferenceError: x is not initialized", at: [1, 1] }],
  // Modules.
  [
    "const fs = await import('node:fs')",
    {
      says: `ReferenceError: The module 'node:fs' does not exist: a script has no modules to import, and ${TOOLS_ONLY}`,
      at: [1, 18],
    },
  ],
  [
    "const a = 1;\nimport fs from 'fs';\nfs.x()",
    {
      says: `ReferenceError: The module 'fs' does not exist: a script has no modules to import, and ${TOOLS_ONLY}`,
      at: [2, 1],
    },
  ],
  // What was called is named.
  ["const o = {};\nlet z = o.foo(1, 2)", { says: "TypeError: o.foo is not a function", at: [2, 14] }],
  [
    "const o = { a: {} };\no\n  .a\n  .list()\n  .map((x) => x)",
    { says: "TypeError: o.a.list is not a function", at: [4, 8] },
  ],
  ["const rows = { b: 1 }; rows['a']('x')", { says: "TypeError: rows['a'] is not a function", at: [1, 33] }],
  ["undefined()", { says: "TypeError: undefined is not a function", at: [1, 10] }],
  ["[1].map(5)", { says: "TypeError: [1].map was not given a function", at: [1, 8] }],
  // Promises used as values.
  [
    "const r = call_tool('x'); return r.items.length",
    { says: "TypeError: cannot read property 'length' of undefined", at: [1, 41], hint: AWAIT },
  ],
  ["const r = call_tool('x');\nfor (const row of r) row", { says: "TypeError: value is not iterable", hint: AWAIT }],
  [
    "call_tool('x').filter((row) => row)",
    { says: "TypeError: call_tool('x').filter is not a function", at: [1, 22], hint: AWAIT },
  ],
  // Text used as an object.
  [
    "const t = await ask(); return t.rows.length",
    {
      says: "TypeError: cannot read property 'length' of undefined",
      at: [1, 37],
      hint: "ask gave text (a string). If it is JSON, read it with JSON.parse.",
    },
  ],
  ["return null.x", { says: "TypeError: cannot read property 'x' of null", at: [1, 12] }],
  // Thrown by the script.
  ["throw 'no rows'", { says: "Thrown: no rows" }],
  ["throw null", { says: "Thrown: null was thrown" }],
  ["throw ''", { says: "Thrown: an empty string was thrown" }],
  ["throw { code: 5 }", { says: 'Error: an object was thrown: {"code":5}' }],
  ["throw new Error('')", { says: "Error: Error without a message was thrown", at: [1, 16] }],
  ["class Mine extends Error { name = 'Mine' }\nthrow new Mine('own')", { says: "Mine: own", at: [2, 15] }],
  ["await call_tool('fail')", { says: "Error: call_tool('fail') failed: no such row", at: [1, 16] }],
  ["JSON.parse('{')", { says: "SyntaxError: expecting property name", at: [1, 11] }],
  // Where it is in the text that was sent.
  ["```js\nconst a = 1;\n\nnull.foo;\n```", { says: "TypeError: cannot read property 'foo' of null", at: [4, 5] }],
  [
    "Run this:\n\n```ts\nconst a: number = 1;  null.foo;\n```\nDone.",
    { says: "TypeError: cannot read property 'foo' of null", at: [4, 27] },
  ],
  [
    "const a: string | undefined = undefined; a!.length",
    { says: "TypeError: cannot read property 'length' of undefined", at: [1, 44] },
  ],
  [
    "interface A { b: string }\nenum E { X }\nconst a = { e: E.X } as unknown as A;  a.c.d",
    { says: "TypeError: cannot read property 'd' of undefined", at: [3, 43] },
  ],
  ["const a = 1;\\nconst b = 2;\\nreturn a + c;", { says: "ReferenceError: 'c' is not defined", at: [1, 40] }],
  ["{ a: 1, b: missing }", { says: "ReferenceError: 'missing' is not defined", at: [1, 12] }],
  ["export default async () => missing", { says: "ReferenceError: 'missing' is not defined", at: [1, 28] }],
  ["return missing", { says: "ReferenceError: 'missing' is not defined", at: [1, 8] }],
  ["async function main() {\n  return missing\n}", { says: "ReferenceError: 'missing' is not defined", at: [2, 10] }],
  ["const s = '😀é'; missing", { says: "ReferenceError: 'missing' is not defined", at: [1, 18] }],
  ["const a = 1;\r\n  missing", { says: "ReferenceError: 'missing' is not defined", at: [2, 3] }],
  // Scripts that do not parse.
  ["const a = ;", { says: "SyntaxError: Unexpected token ';' (read as JavaScript and as TypeScript)", at: [1, 11] }],
  [
    "const a: number = 1;\nconst b = ;",
    {
      says: "SyntaxError: As TypeScript: Unexpected token ';'. As JavaScript: Unexpected token ':' (line 1, column 8).",
      at: [2, 11],
    },
  ],
  ["f(1", { says: "SyntaxError: Unexpected end of the script (read as JavaScript and as TypeScript)", at: [1, 4] }],
  [
    "let a = 1; let a = 2",
    {
      says: "SyntaxError: Identifier 'a' has already been declared (read as JavaScript and as TypeScript)",
      at: [1, 16],
    },
  ],
  [
    "a \0 b",
    {
      says: "SyntaxError: Unexpected character U+0000 (read as JavaScript and as TypeScript)",
      at: [1, 3],
      hint: /NUL character/,
    },
  ],
  [
    "return “hi”",
    {
      says: "SyntaxError: Unexpected token '“' (read as JavaScript and as TypeScript)",
      at: [1, 8],
      hint: /typographic quotes/,
    },
  ],
  [
    "rows.map((r) => { return await call_tool(r) })",
    {
      says: "SyntaxError: Unexpected 'call_tool' (read as JavaScript and as TypeScript)",
      hint: /`async` before the function/,
    },
  ],
  [
    "def main():\n  return 1",
    {
      says: "SyntaxError: Unexpected 'main' (read as JavaScript and as TypeScript)",
      hint: "Scripts are JavaScript or TypeScript, not Python.",
    },
  ],
  ["const a = 1;\\n)", { says: "SyntaxError: As TypeScript", hint: /two characters \\n/ }],
  [
    "namespace N { export const a = 1 }\nN.a",
    { says: "SyntaxError: As TypeScript: Namespaces are not supported: use an object", at: [1, 14] },
  ],
  [
    "text\n```js\n1\n```\nmore\n```js\n2\n```",
    {
      says: "SyntaxError: The text holds 2 blocks of code: send one script, without text around it",
      at: [7, 1],
      hint: "Send only the script: one block of code, without text around it.",
    },
  ],
  ["```js\nconst a = 1;\nconst b = ;\n```", { says: "SyntaxError: Unexpected token ';'", at: [3, 11] }],
];

/** The hint of every name that is nowhere. */
const LISTS_NAMES = /^In scope: call_tool, ask, tools, console, and what JavaScript itself has\.$/;

describe("the error of", () => {
  it.each(cases)("%j", async (code, { says, at, hint }) => {
    const error = await errorOf(code);
    const isHinted = hint instanceof RegExp ? hint.test(error.hint ?? "") : LISTS_NAMES.test(error.hint ?? "");
    expect({
      says: `${error.name}: ${error.message}`.slice(0, says.length),
      at: at && [error.line, error.column],
      hint: isHinted ? hint : error.hint,
    }).toEqual({ says, at, hint });
  });
});

describe("an error", () => {
  it("shows the lines around it as they were sent, with a caret under the place", async () => {
    const error = await errorOf(
      "```ts\nconst rows: unknown = { a: 1 };\n// find\n\tconst n = (rows as any).b.c;\nn\n```",
    );
    expect(error.frame).toBe(
      [
        "  2 | const rows: unknown = { a: 1 };",
        "  3 | // find",
        "> 4 |  const n = (rows as any).b.c;",
        "    |                           ^",
        "  5 | n",
      ].join("\n"),
    );
  });

  it("shows the part of a long line where it is", async () => {
    const { frame = "", column } = await errorOf(`const s = "${"x".repeat(5000)}"; missing;`);
    const [line = "", caret = ""] = frame.split("\n");
    expect(column).toBe(5015);
    expect(line.length).toBeLessThan(140);
    expect(line.slice(caret.indexOf("^"), caret.indexOf("^") + 7)).toBe("missing");
  });

  it.each([
    "return await call_tool('fail').catch((error) => error.stack)",
    "return await call_tool('x'.repeat(2 ** 21)).catch((error) => error.stack)",
  ])("has no frame of the sandbox's own code in its stack: %s", async (code) => {
    const result = await sandbox.run(code, { externalFunctions });
    expect(result).toMatchObject({ status: "completed", value: expect.stringContaining("script.js:1:") });
    expect((result as { value: string }).value).not.toMatch(/prelude|node:|\/src\/|native/);
  });

  it("is a failure also when it says nothing", async () => {
    for (const thrown of [
      "undefined",
      "''",
      "new Error()",
      "Object.create(null)",
      "Symbol('s')",
      "0",
      "false",
      "NaN",
    ]) {
      const { kind, message } = await errorOf(`throw ${thrown}`);
      expect([kind, message !== ""]).toEqual(["runtime", true]);
    }
  });
});

describe("a script that gives nothing of use", () => {
  it.each([
    [
      "const f = () => () => 1; f",
      "The script's result is a function, which is no value. Call it, and return what it gives.",
    ],
    ["class A {}; A", "The script's result is a class, which is no value. Call it, and return what it gives."],
    [
      "return `rows: ${call_tool('x')}`",
      "The result has the text [object Promise]: a promise was used as text. Write `await` before the call.",
    ],
    ["return { f() {}, g: 1 }", "Left out of the result: 1 function or symbols, which have no JSON form."],
    [
      "return [call_tool('x'), { y: call_tool('text') }]",
      "The result held 2 promises; they were awaited. Write `await` before a call to get its value.",
    ],
  ])("is told why: %s", async (code, note) => {
    const result = await sandbox.run(code, { externalFunctions });
    expect(result).toMatchObject({ status: "completed" });
    expect(result.notes?.join("\n")).toContain(note);
  });

  it("fails when a promise in its result does", async () => {
    expect(await errorOf("return { row: call_tool('fail') }")).toMatchObject({
      message: "call_tool('fail') failed: no such row",
    });
  });
});
