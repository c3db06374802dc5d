/** A form in which models write scripts, and what comes of it. The table of docs/scripts.md is made from these. */
export interface Shape {
  name: string;
  code: string;
  /** The value; undefined: none. */
  value?: unknown;
  /** The error instead of a value: its kind, and a part of its message. */
  error?: { kind: "syntax" | "runtime"; message: string };
  /** A part of the note that says what was repaired. */
  note?: string;
  /** Does not apply to sandboxes that run function bodies, for this reason. */
  onlyScripts?: string;
}

const ENGINE_DEPENDENT = "what import() does is up to the sandbox";

/** `call_tool("add", { x, y })` gives `{ result: x + y }`. */
export const SHAPES: readonly Shape[] = [
  { name: "return", code: "return 1 + 1", value: 2 },
  { name: "last expression", code: "let x = 20;\nx += 1;\nx * 2", value: 42 },
  {
    name: "top-level await and return",
    code: 'const { result } = await call_tool("add", { x: 1, y: 2 });\nreturn result',
    value: 3,
  },
  { name: "a promise as the last expression", code: "(async () => ({ ok: true }))()", value: { ok: true } },
  { name: "a promise that nobody awaited", code: "return tools.add({ x: 1, y: 2 })", value: 3 },
  {
    name: "promises inside the result",
    code: "return { sum: tools.add({ x: 1, y: 2 }) }",
    value: { sum: 3 },
    note: "The result held a promise; it was awaited.",
    onlyScripts: "a result is read as the sandbox gives it",
  },
  { name: "if at the end", code: "if (1 > 2) { 'more' } else { 'less' }", value: "less" },
  { name: "try at the end", code: "try { JSON.parse('{') } catch { 'no JSON' }", value: "no JSON" },
  { name: "a function after the expression", code: "twice(4)\nfunction twice(n) { return n * 2 }", value: 8 },
  { name: "comment at the end", code: "return 5 // five", value: 5 },
  { name: "empty statements at the end", code: "6 * 7;;\n;", value: 42 },
  { name: "assigned RESULT", code: "const RESULT = [1, 2]", value: [1, 2] },
  { name: "nothing", code: "const a = 1;" },
  { name: "arrow function", code: "async () => { return 11; }", value: 11 },
  { name: "arrow function and semicolons", code: "async () => 42;;", value: 42 },
  { name: "arrow function after statements", code: "const x = 1;\nasync () => x", value: 1 },
  { name: "function in parentheses", code: "(async function () { return 11 })", value: 11 },
  { name: "function without a name", code: "async function () { return 11 }", value: 11 },
  { name: "function called at once", code: "(async () => { return 11; })()", value: 11 },
  { name: "unnamed function called at once", code: "function () { return 11 }()", value: 11 },
  { name: "strict mode", code: '"use strict";\nasync () => 42', value: 42 },
  {
    name: "function that nobody calls",
    code: 'async function main() {\n  return (await call_tool("add", { x: 1, y: 2 })).result;\n}',
    value: 3,
    note: "Nothing called `main`, so it was called for you.",
  },
  {
    name: "arrow function in a constant",
    code: "const fetchAll = async () => 42",
    value: 42,
    note: "Nothing called `fetchAll`, so it was called for you.",
  },
  {
    name: "main among helpers",
    code: "const LIMIT = 2;\nfunction twice(n) { return n * LIMIT }\nasync function main() { return twice(4) }",
    value: 8,
    note: "Nothing called `main`, so it was called for you.",
  },
  {
    name: "two functions, no call",
    code: "function a() { return 1 }\nfunction b() { return 2 }",
    note: "Nothing ran: the script only declares `a`, `b` and calls none of them.",
  },
  {
    name: "function that needs arguments",
    code: "const add = (a, b) => a + b",
    note: "Nothing ran: the script only declares `add` and calls nothing.",
  },
  { name: "object literal", code: "{ count: 3 }", value: { count: 3 } },
  { name: "object literal with several keys", code: "{ a: 1, b: [2] };", value: { a: 1, b: [2] } },
  {
    name: "object literal after statements",
    code: "const n = 3;\n{ count: n, next: n + 1 }",
    value: { count: 3, next: 4 },
  },
  { name: "block", code: "{ let n = 3; n + 1 }", value: 4 },
  { name: "export default function", code: "export default async () => { return 11; };", value: 11 },
  {
    name: "export default named function",
    code: "export default async function main() { return help() }\nconst help = () => 11",
    value: 11,
  },
  { name: "export default value", code: "const a = { b: 1 }\nexport default a", value: { b: 1 } },
  {
    name: "export default class",
    code: "export default class Report { rows = [] }",
    note: "The script's result is a class, which is no value.",
    onlyScripts: "a result is read as the sandbox gives it",
  },
  {
    name: "export const",
    code: "export const a = 1;\nexport function main() { return a }",
    value: 1,
    note: "Nothing called `main`",
  },
  {
    name: "types",
    code: "interface Pair { a: number; b: number }\nconst p: Pair = { a: 1, b: 2 } satisfies Pair;\nreturn (p as Pair).a",
    value: 1,
  },
  { name: "generics", code: "function id<T>(v: T): T { return v; }\nreturn id<number>(7)!;", value: 7 },
  { name: "enum", code: 'enum Color { Red, Green = "g" }\nreturn [Color.Red, Color.Green]', value: [0, "g"] },
  {
    name: "declare and type",
    code: "declare const x: string;\ntype A = { b: number };\nconst a: A = { b: 2 };\na.b",
    value: 2,
  },
  {
    name: "a line kept apart only by a type",
    code: "const seen: number[] = []\nconst a = 1 as number\n[1, 2].forEach((n: number) => seen.push(n))\nseen",
    value: [1, 2],
  },
  {
    name: "a type between two lines",
    code: "const a = 1\ntype B = string\n(() => {})()\nreturn a as number",
    value: 1,
  },
  { name: "no semicolon after a type", code: "const a = [3] as number[]\n(() => {})()\na[0]", value: 3 },
  { name: "unused import", code: 'import { z } from "zod";\nimport type { Row } from "./rows";\nreturn 1', value: 1 },
  {
    name: "unused import in JavaScript",
    code: 'import { z } from "zod";\nreturn 1',
    value: 1,
    note: 'The import of "zod" was left out',
  },
  {
    name: "import",
    code: "import fs from 'node:fs';\nreturn fs.readFileSync('/etc/hostname', 'utf8');",
    error: {
      kind: "runtime",
      message:
        "The module 'node:fs' does not exist: a script has no modules to import, and tools are the only way out. Use `await call_tool(name, args)`.",
    },
    onlyScripts: ENGINE_DEPENDENT,
  },
  {
    name: "dynamic import",
    code: "const m = await import('fs'); return typeof m;",
    error: { kind: "runtime", message: "The module 'fs' does not exist" },
    onlyScripts: ENGINE_DEPENDENT,
  },
  { name: "require", code: "const fs = require('fs'); return 1", error: { kind: "runtime", message: "require" } },
  { name: "module.exports", code: "module.exports = async () => 42", error: { kind: "runtime", message: "module" } },
  { name: "code fence", code: "```js\nreturn 42\n```", value: 42 },
  { name: "code fence with a type word", code: "```typescript   \nconst a: number = 42;\nreturn a\n```\n", value: 42 },
  { name: "code fence without a word", code: "```\n40 + 2\n```", value: 42 },
  { name: "code fence that does not close", code: "```js\nreturn 42", value: 42 },
  { name: "code fence on one line", code: "```js return 42 ```", value: 42 },
  {
    name: "text around a code fence",
    code: "Here is the script:\n\n```js\nreturn 42\n```\n\nIt returns 42.",
    value: 42,
    note: "Only the fenced code was run",
  },
  {
    name: "one word and a code fence",
    code: "Script:\n~~~ts\nconst a: number = 42; a\n~~~",
    value: 42,
    note: "Only the fenced code was run",
  },
  {
    name: "two code fences",
    code: "First:\n```js\n1\n```\nThen:\n```js\n2\n```",
    error: { kind: "syntax", message: "The text holds 2 blocks of code: send one script, without text around it" },
  },
  { name: "fence in a comment", code: "/*\n```js\n1\n```\n*/\n5", value: 5 },
  {
    name: "literal \\n instead of line breaks",
    code: "const a = 1;\\nconst b = 'x\\n';\\n// sum\\nreturn a + b;",
    value: "1x\n",
    note: "The script had the two characters \\n instead of line breaks",
  },
  {
    name: "everything escaped twice",
    code: 'const a = \\"x\\";\\nreturn a',
    value: "x",
    note: "The script had the two characters \\n instead of line breaks",
  },
  {
    name: "names of the harness",
    code: "const result = 1, args = 2, code = 3;\nlet tools = 4, main = 5, exports = 6, console2 = console;\nreturn result + args + code + tools + main + exports",
    value: 21,
  },
  { name: "shebang", code: "#!/usr/bin/env node\nreturn 1", value: 1 },
  { name: "byte order mark and CRLF", code: "\ufeffconst a = 1;\r\nreturn a;\r\n", value: 1 },
  { name: "HTML comment", code: "<!-- start\n1 + 1", value: 2 },
  { name: "U+2028 between statements", code: "const a = 1\u2028return a", value: 1 },
  {
    name: "letters of other scripts",
    code: "const 数 = '😀é\\u0000z';\nreturn [数, [...数].length];",
    value: ["😀é\u0000z", 4],
  },
  {
    name: "raw U+0000",
    code: "globalThis.x = 1; \u0000 return 2;",
    error: { kind: "syntax", message: "Unexpected character U+0000" },
  },
  {
    name: "no sense in any reading",
    code: "const a: number = 1;\nconst b = ;",
    error: {
      kind: "syntax",
      message: "As TypeScript: Unexpected token ';'. As JavaScript: Unexpected token ':' (line 1, column 8).",
    },
  },
  { name: "thrown text", code: 'throw "no rows"', error: { kind: "runtime", message: "no rows" } },
  { name: "thrown null", code: "throw null", error: { kind: "runtime", message: "null" } },
];
