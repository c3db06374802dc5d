import { type Bench, type Check, expectSame, expectThat, show } from "./conformance-bench.js";

/** Fails unless `probe` gives the same after a run of `code` as before it. */
async function expectUntouched(bench: Bench, code: string, probe: string): Promise<void> {
  const before = await bench.value(probe);
  await bench.run(code);
  expectSame(await bench.value(probe), before, `after "${code}", "${probe}"`);
}

const untouched = (name: string, code: string, probe: string): Check => ({
  name,
  verify: (bench) => expectUntouched(bench, code, probe),
});

const BETWEEN_RUNS: readonly Check[] = [
  untouched(
    "starts without the globals of the run before",
    "globalThis.leak = 'A'; return 1",
    "return typeof globalThis.leak",
  ),
  untouched(
    "starts without what the run before put on prototypes",
    "Array.prototype.evil = 1; Object.prototype.evil = 2; return 1",
    "return [[].evil ?? null, ({}).evil ?? null]",
  ),
  untouched(
    "starts with prototypes that the run before has frozen",
    "Object.freeze(Object.prototype); Object.freeze(Array.prototype); return 1",
    "return [Object.isFrozen(Object.prototype), Object.isFrozen(Array.prototype)]",
  ),
  untouched(
    "starts with its own JSON, Promise and Object after a run that replaced them",
    "JSON.stringify = () => 'evil'; JSON.parse = () => 'evil'; Promise.prototype.then = () => 0; Object.keys = () => []; return 1",
    "return [JSON.stringify([1]), JSON.parse('2'), await Promise.resolve(3), Object.keys({ a: 1 })]",
  ),
  untouched(
    "starts without the globals of a run that failed",
    "globalThis.leak = 'A'; throw new Error('x')",
    "return typeof globalThis.leak",
  ),
  {
    name: "gives the right answers to a script that has replaced JSON and Promise.prototype.then",
    async verify(bench) {
      const code =
        "JSON.parse = () => 'forged'; JSON.stringify = () => 'forged'; Array.prototype.map = () => [];\nreturn [await echo(5)]";
      let got: unknown;
      const echo = (n: unknown): unknown => (got = n);
      expectSame(await bench.value(code, { externalFunctions: { echo } }), [5]);
      expectSame(got, 5, "what the function got");
    },
  },
  {
    name: "never calls a function of the run before",
    async verify(bench) {
      let calls = 0;
      const count = (): number => ++calls;
      await bench.run("globalThis.keep = count; await count(); return 1", { externalFunctions: { count } });
      await bench.run("await globalThis.keep?.()");
      expectSame(calls, 1, "calls of the first run's function");
    },
  },
];

/** Each gives a value of the script, or of the host, whose constructor's constructor may be the host's Function. */
const WAYS_OUT: Readonly<Record<string, string>> = {
  "a function": "() => {}",
  "an async function": "async () => {}",
  "a generator": "(function* () {})()",
  "an object": "({})",
  this: "globalThis",
  "an error": "new Error('x')",
  "an engine error": "(() => { try { null.x } catch (e) { return e } })()",
  "a stack overflow": "(() => { const f = () => f(); try { f() } catch (e) { return e } })()",
  "a function of the host": "host",
  "the promise of a call": "host()",
  "an answer": "await host()",
  "a part of an answer": "(await host()).list",
  "an error of the host": "await refuse().catch((e) => e)",
  "an input": "given",
  "a part of an input": "given.list",
  "the console": "globalThis.console",
  "a method of the console": "globalThis.console?.log",
  "a dynamic import": "import('node:process').catch(() => null)",
};

const IN_REACH = "typeof process !== 'undefined' || typeof require !== 'undefined' || typeof Buffer !== 'undefined'";

/** Tries every way out in one run and returns the names of those that worked. */
const ESCAPE_SCRIPT = `
const reached = [];
const probe = (name, value) => {
  for (const start of [value, value?.constructor, value?.__proto__?.constructor]) {
    try { if (start.constructor(${JSON.stringify(`return ${IN_REACH}`)})() === true) reached.push(name) } catch {}
    try { if (start.constructor.constructor(${JSON.stringify(`return ${IN_REACH}`)})() === true) reached.push(name) } catch {}
  }
};
${Object.entries(WAYS_OUT)
  .map(([name, code]) => `try { probe(${JSON.stringify(name)}, ${code}) } catch {}`)
  .join("\n")}
return [...new Set(reached)]`;

const OUT_OF_REACH: readonly Check[] = [
  {
    name: "has no process, require, Buffer, fetch or module of the host",
    async verify(bench) {
      const names = ["process", "require", "Buffer", "fetch", "module", "XMLHttpRequest", "Deno", "Bun"];
      const code = `return ${JSON.stringify(names)}.filter((name) => typeof globalThis[name] !== "undefined")`;
      expectSame(await bench.value(code), [], "the globals of the host in reach");
    },
  },
  {
    name: "imports no module of the host",
    async verify(bench) {
      const code = "try { return typeof (await import('node:fs')).readFileSync } catch { return 'refused' }";
      const result = await bench.run(code);
      const value = result.status === "completed" ? result.value : "refused";
      expectThat(value === "refused" || value === "undefined", `import('node:fs') gave ${show(value)}`);
    },
  },
  {
    name: "keeps the host out of reach of every constructor chain",
    async verify(bench) {
      const reached = await bench.value(ESCAPE_SCRIPT, {
        externalFunctions: {
          host: async () => ({ list: [1] }),
          refuse: async () => Promise.reject(new Error("refused")),
        },
        inputs: { given: { list: [1] } },
      });
      expectSame(reached, [], "the ways to the host");
    },
  },
  {
    name: "never shows frames of the host to Error.prepareStackTrace",
    async verify(bench) {
      const code = `const seen = [];
Error.prepareStackTrace = (e, frames) => { for (const f of frames ?? []) seen.push(String(f.getFileName?.() ?? "")); return "" };
const fail = async () => { try { await refuse() } catch (e) { return String(e.stack) } };
await fail(); String(new Error("x").stack);
return seen.filter((file) => file.includes("node:") || file.includes("node_modules") || file.startsWith("file:"))`;
      const refuse = async (): Promise<never> => Promise.reject(new Error("refused"));
      expectSame(await bench.value(code, { externalFunctions: { refuse } }), [], "frames of the host");
    },
  },
  {
    name: "leaves the prototypes of the host as they are",
    async verify(bench) {
      const before = prototypeKeys();
      await bench.run(
        "for (const C of [Object, Array, Function, String, Promise, Error]) C.prototype.evil = 1;\n(await host()).__proto__.evil = 1;\nhost.__proto__.evil = 1;\ngiven.__proto__.evil = 1;\nreturn 1",
        { externalFunctions: { host: async () => ({}) }, inputs: { given: {} } },
      );
      expectSame(prototypeKeys(), before, "the keys of the host's prototypes");
    },
  },
];

const prototypeKeys = (): string[][] =>
  [Object, Array, Function, String, Promise, Error].map((made) => Object.getOwnPropertyNames(made.prototype).sort());

/** What one run may know of another, and of the host: nothing. */
export const ISOLATION_CHECKS: readonly Check[] = [...BETWEEN_RUNS, ...OUT_OF_REACH];
