// Values of the host through a worker and back: what comes back must be what was sent.
import { inspect, isDeepStrictEqual } from "node:util";
import { newRandom, oddText } from "./random.mjs";

const KEYS = [
  "a",
  "@@",
  "v",
  "__proto__",
  "constructor",
  "toJSON",
  "then",
  "length",
  "0",
  "",
  "\0",
  "\ud800",
  "hasOwnProperty",
  "get",
  "set",
  "value",
];
const VIEWS = [
  Uint8Array,
  Int8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
];

const leaves = [
  () => null,
  (random) => random.oneIn(2),
  (random) => random.pick([0, -0, 1, -1.5, NaN, Infinity, -Infinity, 1e308, 5e-324, 2 ** 53]),
  oddText,
  (random) => BigInt(random.below(1e9)) ** BigInt(random.below(20)) * (random.oneIn(2) ? 1n : -1n),
  () => undefined,
  // None without a time: Node finds two of those different.
  (random) => new Date(random.below(2e9) * 1000),
  (random) => new RegExp(random.pick(["a+", "(?<n>x)", "[\\]]", "\\/", ""]), random.pick(["", "g", "imsuy"])),
  (random) =>
    Object.defineProperty(new Error(oddText(random)), "name", {
      value: random.pick(["Error", "TypeError", "x"]),
      writable: true,
      configurable: true,
    }),
  (random) => {
    const View = random.pick(VIEWS);
    return new View(Uint8Array.from({ length: 8 * random.below(5) }, () => random.below(256)).buffer);
  },
  (random) => Uint8Array.from({ length: random.below(20) }, () => random.below(256)).buffer,
];

/** A random value. `tree`: no part occurs twice. */
function valueOf(random, tree) {
  const known = [];
  const make = (depth) => {
    if (!tree && known.length > 0 && random.oneIn(8)) return random.pick(known);
    if (depth <= 0 || random.oneIn(3)) return random.pick(leaves)(random);
    return random.pick([arrayOf, objectOf, mapOf, setOf])(depth - 1);
  };
  const keep = (container, fill) => {
    known.push(container);
    fill();
    return container;
  };
  const arrayOf = (depth) => {
    const items = [];
    return keep(items, () => items.push(...random.list(0, 5, () => make(depth))));
  };
  const objectOf = (depth) => {
    const object = {};
    return keep(object, () => {
      for (const key of random.list(0, 5, () => (random.oneIn(3) ? oddText(random) : random.pick(KEYS))))
        Object.defineProperty(object, key, {
          value: make(depth),
          writable: true,
          enumerable: true,
          configurable: true,
        });
    });
  };
  const mapOf = (depth) => {
    const map = new Map();
    return keep(map, () => random.list(0, 4, () => map.set(make(depth), make(depth))));
  };
  const setOf = (depth) => {
    const set = new Set();
    return keep(set, () => random.list(0, 4, () => set.add(make(depth))));
  };
  return make(4);
}

const shown = (value) => inspect(value, { depth: 9 }).replace(/\n\s+at .*/g, "");

const LIMITS = { maxResultBytes: 1e6, timeoutMs: 5_000 };

export const values = {
  name: "values",
  make: (random) => ({ seed: random.below(2 ** 32), tree: random.oneIn(2) }),
  *shrink() {},
  async run({ seed, tree }, bench) {
    const value = valueOf(newRandom(seed), tree);
    const back = await bench.run("return inputs.value", { inputs: { value }, limits: LIMITS });
    bench.expect(sameOrTooLarge(back, value, tree), `came back as ${shown(back.value ?? back.error)}`);
    const taken = [];
    const take = (given) => (taken.push(given), given);
    const code = "return await take(inputs.value)";
    const through = await bench.run(code, { inputs: { value }, limits: LIMITS, externalFunctions: { take } });
    // Arguments are trees: what holds itself is refused.
    if (!tree && through.status === "failed") return;
    bench.expect(isDeepStrictEqual(taken, [value]), `was given to a function as ${shown(taken)}`);
  },
  show: ({ seed, tree }) => shown(valueOf(newRandom(seed), tree)),
};

/** Values that hold each other may take more than any limit once they are written out. */
const sameOrTooLarge = (back, value, tree) =>
  back.status === "completed" ? isDeepStrictEqual(back.value, value) : !tree && back.error.kind === "limit";
