// What the attack corpus, the fuzzer and the soak have in common: attacks, the functions they may call, and the probe that
// tells whether the run after them is sound.
import { readFileSync } from "node:fs";
import { inspect, isDeepStrictEqual } from "node:util";

/** Deadline of every attack. */
export const TIMEOUT_MS = 300;

/** Kinds of failures, "completed" and "suspended". */
export const KNOWN_KINDS = new Set(
  "completed suspended syntax runtime timeout memory stack tool validation limit approval cancelled sandbox".split(" "),
);

/** The attacks, one JSON object a line: id, class, code, kinds, and value or overflow where they matter. */
export function loadAttacks() {
  const text = readFileSync(new URL("attacks.jsonl", import.meta.url), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/**
 * Functions that attacks may call. `refused` makes an error as a policy throws it.
 *
 * @param {() => Error} refused
 */
export const attackFunctions = (refused) => ({
  echo: (value) => value,
  fail: async (message) => {
    throw new Error(String(message).slice(0, 1000));
  },
  refuse: async () => {
    throw refused();
  },
  never: () => new Promise(() => {}),
  rich: () => ({ map: new Map([["k", 1]]), date: new Date(0), bytes: new Uint8Array(4), big: 2n }),
  call_tool: async (name, args) => ({ name, args }),
  progress: () => undefined,
});

/** The options of one attack's run. */
export const attackOptions = (attack, externalFunctions) => ({
  externalFunctions,
  limits: { timeoutMs: TIMEOUT_MS },
  resultOverflow: attack.overflow ?? "error",
});

/** "completed", or the kind of the failure. */
export const kindOf = (result) => (result.status === "failed" ? result.error.kind : result.status);

/** Why the result is not what the attack should end in; undefined when it is. */
export function misfit(attack, result) {
  const kind = kindOf(result);
  if (!attack.kinds.includes(kind)) {
    const what = result.error?.message ?? inspect(result.value);
    return `ended with ${kind} (${what.slice(0, 200)}), should be ${attack.kinds.join(" or ")}`;
  }
  if (kind !== "completed" || !("value" in attack)) return undefined;
  if (isDeepStrictEqual(result.value, attack.value)) return undefined;
  return `gave ${inspect(result.value).slice(0, 200)}, should be ${inspect(attack.value)}`;
}

/**
 * A script that looks at everything that can be reached from the global object: values, flags, names, prototypes. It gives
 * a short text that is equal in every sound run.
 */
export const PROBE = `
  const { getOwnPropertyDescriptor, getPrototypeOf, isExtensible } = Object, { ownKeys } = Reflect;
  const seen = new Map(), todo = [];
  let hash = 2166136261, facts = 0;
  const add = (text) => { facts++; for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619) };
  const nameOf = (value) => {
    if (value === null || (typeof value !== "object" && typeof value !== "function")) return typeof value + String(value);
    if (!seen.has(value)) { seen.set(value, seen.size); todo.push(value) }
    return "#" + seen.get(value);
  };
  nameOf(globalThis);
  for (const make of [() => {}, async () => {}, function* () {}, async function* () {}, [][Symbol.iterator](), new Map().entries(), new Set().values(), ""[Symbol.iterator](), /x/g[Symbol.matchAll]("")]) nameOf(getPrototypeOf(make));
  for (let at = 0; at < todo.length; at++) {
    const value = todo[at];
    add(typeof value + isExtensible(value) + nameOf(getPrototypeOf(value)));
    if (value === tools) continue;
    for (const key of ownKeys(value)) {
      const { value: held, get, set, ...flags } = getOwnPropertyDescriptor(value, key);
      add(String(key) + JSON.stringify(flags) + nameOf(held) + nameOf(get) + nameOf(set));
    }
  }
  const works = [[3, 1, 2].sort().join(), JSON.stringify({ a: [1] }), await Promise.resolve(3), "a-b".split("-").length, [...new Set([1, 1])].length, new URL("http://a/b").pathname, await echo("x"), structuredClone([1])[0], typeof Math.random()].join();
  return [seen.size, facts, hash >>> 0, works, typeof evil].join(" ");`;

/** Keys of the host's own prototypes: no attack may change them. */
export const hostPrototypes = () =>
  [Object, Array, Function, String, Promise, Error, Map, Set]
    .map((made) => Reflect.ownKeys(made.prototype).length)
    .join();
