/* oxlint-disable unicorn/no-thenable, typescript/only-throw-error -- hosts give and throw what they like */
// What functions of the host give and throw, and answers to paused scripts: whatever they are, the run ends.
import { newGrammar } from "./grammar.mjs";
import { oddText, shorter } from "./random.mjs";

const thrower = () => {
  throw new Error("trap");
};
const cyclic = () => {
  const value = { list: [] };
  value.self = value.list[0] = value;
  return value;
};

/** Values that are hard to send. Each is made anew for every call. */
export const ODD_VALUES = {
  nothing: () => undefined,
  text: () => "\0\ud800".repeat(100),
  large: () => "x".repeat(300_000),
  rows: () => Array.from({ length: 5_000 }, (_, index) => ({ index, text: "y".repeat(10) })),
  getter: () => ({
    get x() {
      throw new Error("getter");
    },
  }),
  proxy: () => new Proxy({}, { get: thrower, ownKeys: thrower, getPrototypeOf: thrower }),
  arrayProxy: () => new Proxy([], { get: (target, key) => (key === "length" ? 3 : target[key]) }),
  function: () => () => 1,
  symbol: () => Symbol("s"),
  cycle: cyclic,
  shared: () => {
    let value = [1];
    for (let index = 0; index < 40; index++) value = [value, value];
    return value;
  },
  deep: () => {
    let value = 1;
    for (let index = 0; index < 5_000; index++) value = [value];
    return value;
  },
  thenable: () => ({ then: (resolve) => resolve("then") }),
  rejecting: () => ({ then: (_, reject) => reject(null) }),
  instance: () =>
    new (class Point {
      x = 1;
      toJSON() {
        return { "@@": "Set", v: { length: 1e9 } };
      }
    })(),
  tagged: () => ({ "@@": "Set", v: { length: 1e300 } }),
  json: () => JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":2}}}'),
  expression: () => /[[a-z]--[b]]/v,
  bytes: () => Buffer.from("bytes"),
  global: () => globalThis,
  error: () => new Error("as a value", { cause: cyclic() }),
  throwsNull: () => {
    throw null;
  },
  throwsProxy: () => {
    throw new Proxy({}, { get: thrower, has: thrower, getOwnPropertyDescriptor: thrower });
  },
  throwsDetails: () => {
    throw Object.assign(new Error("m".repeat(100_000)), {
      [Symbol.for("mcp-codemode.error")]: true,
      kind: "approval",
      details: cyclic(),
    });
  },
  throwsKind: () => {
    throw Object.assign(new Error("k"), {
      [Symbol.for("mcp-codemode.error")]: true,
      kind: { toString: thrower },
      details: 1n,
    });
  },
};

const NAMES = Object.keys(ODD_VALUES);

export const replies = {
  name: "replies",
  make: (random) => {
    const grammar = newGrammar(random);
    const use = () =>
      random.pick([
        `await odd(${JSON.stringify(random.pick(NAMES))})`,
        `await ask(${JSON.stringify(random.pick(NAMES))})`,
      ]);
    const parts = random.list(1, 4, () =>
      random.pick([
        () => `const v${random.below(1000)} = ${use()};`,
        () => `try { log(${use()}) } catch (e) { console.log(e.name, e.message, e.kind, e.details) }`,
        () => `await echo(${use()});`,
        () => `void ${use().replace("await ", "")};`,
        () => `for (const x of [${use()}].flat()) ${grammar.expression(1)};`,
        () => `throw await odd("error").catch((e) => e);`,
        () => `return ${use()};`,
      ])(),
    );
    return {
      parts,
      answers: random.list(3, 3, () => random.pick(NAMES)),
      idShift: random.oneIn(6) ? random.below(3) : 0,
      text: oddText(random),
    };
  },
  *shrink(input) {
    for (const parts of shorter(input.parts)) yield { ...input, parts };
  },
  run: ({ parts, answers, idShift, text }, bench) => {
    const value = (index) => {
      try {
        return ODD_VALUES[answers[index % answers.length]]();
      } catch {
        return text;
      }
    };
    const answer = ({ id }, index) =>
      index % 3 === 2
        ? { id: id + idShift, error: { message: text, kind: "approval" } }
        : { id: id + idShift, value: value(index) };
    return bench.toTheEnd(parts.join("\n"), {}, answer);
  },
  show: (input) => `${input.parts.join("\n")}\n// answers: ${input.answers.join()}, ids shifted by ${input.idShift}`,
};
