// Seeded randomness: the same seed gives the same cases on every machine.

/** Mulberry32. */
export function newRandom(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let word = Math.imul(state ^ (state >>> 15), state | 1);
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61);
    return (word ^ (word >>> 14)) >>> 0;
  };
  const random = {
    /** A whole number below `most`. */
    below: (most) => next() % most,
    /** True in one of `every` cases. */
    oneIn: (every) => next() % every === 0,
    pick: (items) => items[next() % items.length],
    /** Between `least` and `most` items of `make`. */
    list: (least, most, make) =>
      Array.from({ length: least + (next() % (most - least + 1)) }, (_, index) => make(index)),
  };
  return random;
}

/** The seed of one case of a run. */
export const caseSeed = (seed, index) => Math.imul(seed ^ Math.imul(index + 1, 0x9e3779b1), 0x85ebca6b) >>> 0;

const ODD_TEXTS = [
  "",
  "@@",
  '"@@":',
  "__proto__",
  "\0",
  "\ud800",
  "\u2028",
  "a".repeat(300),
  "€",
  "\u202e",
  "\\",
  '"',
  "${",
  "`",
  "]]>",
  "constructor",
  "then",
  "toJSON",
];

/** Text that is hard on readers. */
export const oddText = (random) =>
  random.oneIn(3)
    ? random.pick(ODD_TEXTS)
    : random
        .list(0, 6, () => String.fromCharCode(random.oneIn(4) ? random.below(65_536) : 32 + random.below(95)))
        .join("");

/** The text with a few characters taken away, doubled or exchanged. */
export function mutatedText(random, text) {
  let result = text;
  for (let times = 1 + random.below(3); times > 0; times--) {
    const at = random.below(result.length + 1);
    const length = random.below(12);
    const insert = random.pick(["", oddText(random), result.slice(at, at + length).repeat(1 + random.below(4))]);
    result = result.slice(0, at) + insert + result.slice(at + (random.oneIn(2) ? length : 0));
  }
  return result;
}

/** Everything that is shorter by a part of a list: halves first, then single items. */
export function* shorter(items) {
  for (let size = Math.ceil(items.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let from = 0; from < items.length; from += size) yield [...items.slice(0, from), ...items.slice(from + size)];
}
