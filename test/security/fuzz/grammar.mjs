// Scripts by a grammar: statements, classes, generators, async code and calls, on purpose with what should not be there.
import { oddText } from "./random.mjs";

const NAMES = [
  "a",
  "b",
  "c",
  "x",
  "evil",
  "RESULT",
  "inputs",
  "tools",
  "echo",
  "JSON",
  "Promise",
  "globalThis",
  "undefined",
  "constructor",
  "__proto__",
];
const PROPERTIES = [
  "a",
  "length",
  "constructor",
  "__proto__",
  "prototype",
  "then",
  "toJSON",
  "valueOf",
  "stack",
  "message",
  "name",
  "[Symbol.iterator]",
  "[Symbol.toPrimitive]",
  "[Symbol.species]",
  "[0]",
  "[-1]",
  "[2 ** 32]",
  "call",
  "get",
  "set",
  "value",
  "next",
];
const BUILT_INS = [
  "Object.keys",
  "Object.freeze",
  "Object.entries",
  "JSON.stringify",
  "JSON.parse",
  "Array.from",
  "Array.of",
  "Reflect.ownKeys",
  "Promise.all",
  "Promise.race",
  "structuredClone",
  "String",
  "Number",
  "Symbol",
  "new Map",
  "new Set",
  "new Date",
  "new Error",
  "new Uint8Array",
  "new Proxy",
  "new URL",
  "new Array",
  "new RegExp",
  "isNaN",
  "parseInt",
  "btoa",
  "eval",
  "new Function",
  "setTimeout",
  "sleep",
  "console.log",
  "console.table",
  "progress",
  "Object.defineProperty",
  "Object.setPrototypeOf",
  "Array.fromAsync",
  "queueMicrotask",
  "crypto.randomUUID",
  "atob",
  "new URLSearchParams",
  "BigInt",
  "Object.create",
];
const METHODS = [
  "map",
  "filter",
  "join",
  "concat",
  "slice",
  "sort",
  "reverse",
  "flat",
  "push",
  "at",
  "repeat",
  "split",
  "replace",
  "match",
  "padEnd",
  "then",
  "catch",
  "finally",
  "toString",
  "valueOf",
  "next",
  "return",
  "throw",
  "forEach",
  "fill",
  "normalize",
  "bind",
  "apply",
];
const CALLS = ["echo", "fail", "rich", "refuse", "ask", "odd", "call_tool", "tools.a.b", "tools.x"];

/** A grammar over `random`: each method gives source text. `depth` bounds nesting. */
export function newGrammar(random) {
  const pick = random.pick;

  const literal = () =>
    pick([
      () => String(random.below(10)),
      () =>
        pick([
          "0",
          "-0",
          "NaN",
          "Infinity",
          "1e308",
          "2 ** 31",
          "2n ** 70n",
          "null",
          "undefined",
          "true",
          "/(a+)+$/g",
          "/x/y",
          "Symbol('s')",
          "globalThis",
          "this",
          "new.target",
          "import.meta",
          "arguments",
        ]),
      () => JSON.stringify(oddText(random)),
      () => "`" + oddText(random).replaceAll("`", "") + "`",
    ])();

  const name = () => pick(NAMES);
  const member = (depth) => {
    const property = pick(PROPERTIES);
    return `(${expression(depth - 1)})${random.oneIn(3) ? "?." : property.startsWith("[") ? "" : "."}${property}`;
  };
  const parameters = (depth) =>
    random
      .list(0, 2, () =>
        pick([
          () => name(),
          () => `...${name()}`,
          () => `{ ${name()} = ${expression(depth - 1)} }`,
          () => `[${name()}]`,
        ])(),
      )
      .join(", ");
  const func = (depth) =>
    pick([
      () => `(${parameters(depth)}) => ${expression(depth - 1)}`,
      () => `async (${parameters(depth)}) => { ${block(depth - 1)} }`,
      () => `function ${pick(["", "f"])}(${parameters(depth)}) { ${block(depth - 1)} }`,
      () => `function* () { yield ${expression(depth - 1)}; yield* ${expression(depth - 1)} }`,
      () => `async function* () { yield ${expression(depth - 1)}; await ${expression(depth - 1)} }`,
    ])();
  const object = (depth) =>
    `({ ${random
      .list(0, 3, () =>
        pick([
          () =>
            `${pick(["a", "b", '"@@"', "v", '["__proto__"]', "then", "toJSON", "length"])}: ${expression(depth - 1)}`,
          () => `get ${pick(["a", "then", "length", "message"])}() { ${block(depth - 1)} }`,
          () => `toJSON() { return ${expression(depth - 1)} }`,
          () => `[${expression(depth - 1)}]: ${expression(depth - 1)}`,
          () => `...${expression(depth - 1)}`,
        ])(),
      )
      .join(", ")} })`;
  const proxy = (depth) =>
    `new Proxy(${pick(["{}", "[]", "() => {}", "globalThis"])}, { ${pick(["get", "has", "ownKeys", "getPrototypeOf", "getOwnPropertyDescriptor", "apply", "set", "defineProperty"])}: (t, k, r) => ${expression(depth - 1)} })`;
  const call = (depth) => `${pick(CALLS)}(${random.list(0, 2, () => expression(depth - 1)).join(", ")})`;

  function expression(depth) {
    if (depth <= 0) return random.oneIn(2) ? literal() : name();
    return pick([
      literal,
      name,
      () => member(depth),
      () => `(${func(depth)})`,
      () => object(depth),
      () => proxy(depth),
      () =>
        `[${random.list(0, 3, () => (random.oneIn(5) ? `...${expression(depth - 1)}` : expression(depth - 1))).join(", ")}]`,
      () => call(depth),
      () => `await ${call(depth)}`,
      () => `await ${expression(depth - 1)}`,
      () => `${pick(BUILT_INS)}(${random.list(0, 3, () => expression(depth - 1)).join(", ")})`,
      () => `(${expression(depth - 1)}).${pick(METHODS)}(${random.list(0, 2, () => expression(depth - 1)).join(", ")})`,
      () =>
        `(${expression(depth - 1)})${pick([" + ", " ?? ", " && ", " in ", " instanceof ", " ** ", " === ", ", "])}(${expression(depth - 1)})`,
      () => `(${name()} = ${expression(depth - 1)})`,
      () => `${pick(["typeof ", "void ", "!", "-", "delete ", "+"])}(${expression(depth - 1)})`,
      () => `(${expression(depth - 1)} ? ${expression(depth - 1)} : ${expression(depth - 1)})`,
      () => `(class ${pick(["", "K"])} { static s = ${expression(depth - 1)}; #p = 1; get a() { return this.#p } })`,
      () => `(class extends (${expression(depth - 1)}) { constructor(...a) { super(...a) } })`,
      () => `((s) => s)\`${random.list(0, 2, () => `x\${${expression(depth - 1)}}`).join("")}\``,
    ])();
  }

  function statement(depth) {
    const kinds = [
      () => `${expression(depth)};`,
      () =>
        `${pick(["const", "let", "var"])} ${pick([name(), `{ a: ${name()} }`, `[${name()}]`])} = ${expression(depth)};`,
      () => `${name()} = ${expression(depth)}`,
      () => `if (${expression(depth - 1)}) { ${block(depth - 1)} } else { ${block(depth - 1)} }`,
      () => `for (let i = 0; i < ${pick(["3", "1000", "1e9"])}; i++) { ${block(depth - 1)} }`,
      () => `for (const x of ${expression(depth - 1)}) { ${block(depth - 1)} }`,
      () => `for await (const x of ${expression(depth - 1)}) { ${block(depth - 1)} }`,
      () => `for (const k in ${expression(depth - 1)}) { ${block(depth - 1)} }`,
      () => `try { ${block(depth - 1)} } catch (e) { ${block(depth - 1)} } finally { ${block(depth - 1)} }`,
      () => `throw ${expression(depth)}`,
      () => `function ${pick(["f", "g", "main"])}(${parameters(depth)}) { ${block(depth - 1)} }`,
      () => `class ${pick(["A", "B"])} { ${pick(["static", ""])} m() { ${block(depth - 1)} } }`,
      () => `l: { ${block(depth - 1)}; break l }`,
      () => `return ${expression(depth)}`,
      () => `with (${expression(depth - 1)}) { ${block(depth - 1)} }`,
      () => `setTimeout(${func(depth)}, ${pick(["0", "1", "5", "-1", "NaN"])})`,
      () =>
        `Object.prototype.${pick(["a", "get", "value", "toJSON", "then", "kind", "details"])} = ${expression(depth - 1)}`,
      () =>
        `${pick(["Array", "Promise", "Map", "String", "Object", "Error"])}.prototype.${pick(METHODS)} = ${func(depth)}`,
      () => `import ${pick(["x", "{ x }", "* as x"])} from "${pick(["fs", "mcp_tools/a", "x"])}"`,
      () =>
        `const n: ${pick(["number", "Array<string>", "{ a?: 1 }"])} = ${expression(depth - 1)} as ${pick(["any", "const"])}`,
    ];
    return pick(kinds)();
  }

  const block = (depth) => (depth <= 0 ? `${expression(0)};` : random.list(1, 2, () => statement(depth)).join("\n"));
  return { statement, expression };
}
