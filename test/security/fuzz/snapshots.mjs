// Real snapshots with flipped bits, outside and inside of their compression: they are refused, or run and end like any script.
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { shorter } from "./random.mjs";

const HEADER_BYTES = 84;
const TABLE_AT = 76;

const PAUSED = [
  "const x = await ask('q'); return x + 1",
  "const seen = new Map([['k', [1, 2]]]); function* g() { let i = 0; for (;;) yield i++ } const it = g(); it.next(); const a = await ask('a'); seen.set(a, it.next().value); return [...seen].join()",
  "const all = await Promise.all([1, 2, 3].map((n) => ask(n))); return all.map((x) => JSON.stringify({ x })).join()",
  "class P { #n = 1; async up() { this.#n += (await ask('q')).length; return this.#n } } try { return await new P().up() } catch (e) { return e.message }",
  "setTimeout(() => console.log('late'), 5); const t = new Uint8Array(5000).fill(7); await ask('q'); await sleep(10); return t.length + /a(b+)/.exec('abb')[1]",
];

let originals;

/** What the scripts above left when they were paused. Made once. */
async function snapshotsOf(bench) {
  originals ??= await Promise.all(
    PAUSED.map(async (code) => {
      const result = await bench.sandbox.run(code, { externalFunctions: bench.functions });
      if (result.status !== "suspended") throw new Error(`not paused: ${JSON.stringify(result)}`);
      return result;
    }),
  );
  return originals;
}

function damaged(snapshot, { where, flips }) {
  if (where === "outside") return flipped(Buffer.from(snapshot), flips, 0);
  const head = Buffer.from(snapshot.subarray(0, HEADER_BYTES));
  const body = inflateRawSync(snapshot.subarray(HEADER_BYTES));
  // The table of ranges is left alone: it is checked, and what lies behind it is not.
  const from = where === "table" ? 0 : head.readUInt32LE(TABLE_AT) * 8 + head.readUInt32LE(TABLE_AT + 4);
  return Buffer.concat([head, deflateRawSync(flipped(body, flips, from), { level: 1 })]);
}

function flipped(bytes, flips, from) {
  for (const { at, bit } of flips) {
    const place = from + (at % (bytes.length - from));
    bytes[place] = (bytes[place] ?? 0) ^ (1 << bit);
  }
  return bytes;
}

export const snapshots = {
  name: "snapshots",
  make: (random) => ({
    script: random.below(PAUSED.length),
    where: random.pick(["memory", "memory", "memory", "memory", "table", "outside"]),
    flips: random.list(1, random.pick([1, 3, 40]), () => ({ at: random.below(2 ** 31), bit: random.below(8) })),
    session: random.oneIn(4),
  }),
  *shrink(input) {
    for (const flips of shorter(input.flips)) yield { ...input, flips };
  },
  async run(input, bench) {
    const { snapshot, pending } = (await snapshotsOf(bench))[input.script];
    const bytes = damaged(snapshot, input);
    if (input.session)
      return void (await bench.run("return typeof x + [3, 1].sort()", { from: bytes, keepSnapshot: true }));
    const answers = pending.map(({ id }) => ({ id, value: "answer" }));
    await bench.judged(() => bench.sandbox.resume(bytes, answers, bench.options({})));
  },
  show: (input) => JSON.stringify(input),
};
