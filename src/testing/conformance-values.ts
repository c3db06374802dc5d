import { type Check, expectSame, expectThat, show } from "./conformance-bench.js";

/** JSON text with a `__proto__` key at two depths. */
const PROTO_TEXT = '{"__proto__":{"polluted":1},"inner":{"__proto__":{"polluted":2}},"ok":true}';

const isPlain = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null);

function expectUnpolluted(value: unknown, where: string): void {
  const object = value as { polluted?: unknown; inner?: { polluted?: unknown }; ok?: unknown };
  expectSame(object.ok, true, `${where}.ok`);
  expectThat(isPlain(value), `${where} should be a plain object of the host, its prototype is another`);
  expectThat(object.polluted === undefined, `${where} inherits "polluted" from a __proto__ key`);
  expectThat(object.inner?.polluted === undefined, `${where}.inner inherits "polluted" from a __proto__ key`);
  expectThat(!("polluted" in {}), `Object.prototype of the host was changed by ${where}`);
}

/** Text that C strings and UTF-8 do not survive unharmed. */
const AWKWARD_TEXT = "a\u0000b\ud800c\udc00\u2028é数😀";
const AWKWARD_SOURCE = '"a\\u0000b\\ud800c\\udc00\\u2028é数😀"';

const BIG_CHARACTERS = 1_000_000;

/** What crosses from the script to the host and back. */
export const VALUE_CHECKS: readonly Check[] = [
  {
    name: "returns the value that the script returns",
    async verify(bench) {
      expectSame(await bench.value("return 6 * 7"), 42);
    },
  },
  {
    name: "returns nested plain data unchanged",
    async verify(bench) {
      const data = { text: "x", list: [1, 2.5, -3, true, null, { deep: [[]] }], empty: {}, "odd key": 1e300 };
      expectSame(await bench.value(`return ${JSON.stringify(data)}`), data);
    },
  },
  {
    name: "returns nothing for a script that returns nothing",
    async verify(bench) {
      const value = await bench.value("const unused = 1;");
      expectThat(value == null, `the value should be absent, is ${show(value)}`);
    },
  },
  {
    name: "awaits a promise that the script returns",
    async verify(bench) {
      expectSame(await bench.value("return Promise.resolve({ ok: true })"), { ok: true });
    },
  },
  {
    name: "runs a script that awaits at its top",
    async verify(bench) {
      expectSame(await bench.value("const one = await Promise.resolve(1);\nreturn one + 1"), 2);
    },
  },
  {
    name: "gives the last expression of a script without return",
    async verify(bench) {
      if (bench.accepts === "function-body") return "does not apply: it accepts function bodies";
      expectSame(await bench.value("let x = 20;\nx += 1;\nx * 2"), 42);
    },
  },
  {
    name: "keeps NUL, lone surrogates and non-ASCII text in results",
    async verify(bench) {
      expectSame(await bench.value(`return [${AWKWARD_SOURCE}, ${AWKWARD_SOURCE}.length]`), [
        AWKWARD_TEXT,
        AWKWARD_TEXT.length,
      ]);
    },
  },
  {
    name: "keeps NUL, lone surrogates and non-ASCII text in arguments, answers and inputs",
    async verify(bench) {
      const seen: unknown[] = [];
      const echo = (text: string): string => (seen.push(text), text);
      const value = await bench.value(`return [await echo(${AWKWARD_SOURCE}), given]`, {
        externalFunctions: { echo },
        inputs: { given: AWKWARD_TEXT },
      });
      expectSame(seen, [AWKWARD_TEXT], "what the function got");
      expectSame(value, [AWKWARD_TEXT, AWKWARD_TEXT]);
    },
  },
  {
    name: "keeps a __proto__ key in a result from changing any prototype",
    async verify(bench) {
      expectUnpolluted(await bench.value(`return JSON.parse(${JSON.stringify(PROTO_TEXT)})`), "the value");
    },
  },
  {
    name: "keeps a __proto__ key in arguments from changing any prototype",
    async verify(bench) {
      let got: unknown;
      await bench.value(`await take(JSON.parse(${JSON.stringify(PROTO_TEXT)}))`, {
        externalFunctions: { take: (argument: unknown) => void (got = argument) },
      });
      expectUnpolluted(got, "the argument");
    },
  },
  {
    name: "keeps a __proto__ key in an answer from changing a prototype inside",
    async verify(bench) {
      const value = await bench.value("const got = await give(); return [({}).polluted ?? null, got.ok]", {
        externalFunctions: { give: () => JSON.parse(PROTO_TEXT) as unknown },
      });
      expectSame(value, [null, true]);
    },
  },
  {
    name: "gives inputs as globals",
    async verify(bench) {
      const inputs = { user: { name: "Ada", tags: ["a", "b"] }, count: 3, constructor: 5 };
      expectSame(await bench.value("return [user, count, constructor]", { inputs }), [inputs.user, 3, 5]);
    },
  },
  {
    name: "keeps the host's inputs unchanged when a script changes its own",
    async verify(bench) {
      const inputs = { list: [1], nested: { a: 1 } };
      await bench.value("list.push(2); nested.a = 2; return 1", { inputs });
      expectSame(inputs, { list: [1], nested: { a: 1 } }, "the host's inputs");
    },
  },
  {
    name: "never reads an input's name as code",
    async verify(bench) {
      const name = "a = (globalThis.hacked = 1), b";
      const options = { inputs: { [name]: 1 } };
      // Refusing the name, even by a rejection, is as good as not reading it.
      const value = await bench.value("return typeof globalThis.hacked", options).catch(() => "undefined");
      expectSame(value, "undefined", "typeof hacked");
    },
  },
  {
    name: "carries a result of a million characters",
    async verify(bench) {
      const value = await bench.value(`return "x".repeat(${BIG_CHARACTERS})`, { limits: { maxResultBytes: null } });
      expectSame((value as { length?: unknown }).length, BIG_CHARACTERS, "its length");
    },
  },
  {
    name: "carries an argument and an answer of a million characters",
    async verify(bench) {
      const echo = (text: string): string => text;
      const code = `return (await echo("y".repeat(${BIG_CHARACTERS}))).length`;
      expectSame(await bench.value(code, { externalFunctions: { echo } }), BIG_CHARACTERS, "the length of the answer");
    },
  },
  {
    name: "ends when the value contains itself",
    async verify(bench) {
      await bench.run("const a = { n: 1 }; a.self = a; return a");
    },
  },
  {
    name: "ends when the value is nested 50,000 levels deep",
    async verify(bench) {
      await bench.run("let a = {}; for (let i = 0; i < 50000; i++) a = { a }; return a");
    },
  },
  {
    name: "ends when the value is a function, a symbol or a BigInt",
    async verify(bench) {
      for (const value of ["() => 1", 'Symbol("s")', "10n"]) await bench.run(`return ${value}`);
    },
  },
  {
    name: "gives functions of the host plain data only",
    async verify(bench) {
      let got: unknown;
      await bench.run("class P { constructor() { this.x = 1 } get y() { return 2 } }\nawait take(new P())", {
        externalFunctions: { take: (argument: unknown) => void (got = argument) },
      });
      expectThat(got === undefined || isPlain(got), `the argument should be plain, is ${show(got)}`);
    },
  },
];
