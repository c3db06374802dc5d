import { randomFillSync } from "node:crypto";

/** Words of a seed: the state of a script's random numbers. */
const SEED_WORDS = 4;

const pool = new Uint32Array(256 * SEED_WORDS);
let next = pool.length;

/** Four random 32-bit words, of which no run gets the same. Drawn in advance: each draw costs 5 us, as much as half a script. */
export function newSeed(): number[] {
  if (next >= pool.length) {
    randomFillSync(pool);
    next = 0;
  }
  const seed = Array.from(pool.subarray(next, next + SEED_WORDS));
  next += SEED_WORDS;
  return seed;
}
