/** Middle value. */
export const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

/** Value below which the part `p` (0 to 1) of all lie. */
export const quantile = (values, p) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * p))];

/** Microseconds that `work` takes. */
export async function timeUs(work) {
  const started = performance.now();
  await work();
  return (performance.now() - started) * 1000;
}

/**
 * Times several variants in turn, round by round, so that drift of the machine meets all of them alike. In each round a
 * variant runs `block` times in a row: 1 shows a first run after other work, more show runs that follow each other.
 * Returns the times of each, in microseconds.
 */
export async function interleaved(variants, { rounds, warmUp = 20, restMs = 0, block = 1 }) {
  const names = Object.keys(variants);
  const times = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = -warmUp; round < rounds; round++) {
    for (const name of names) {
      if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs));
      for (let turn = 0; turn < block; turn++) {
        const us = await timeUs(variants[name]);
        if (round >= 0) times[name].push(us);
      }
    }
  }
  return times;
}

/** "median (p10-p90)" of times in microseconds. */
export const spread = (times) =>
  `${median(times).toFixed(0)} (${quantile(times, 0.1).toFixed(0)}-${quantile(times, 0.9).toFixed(0)})`;

/** Median of the ratios of two variants, pair by pair. */
export const ratio = (times, others) => median(times.map((time, index) => time / others[index]));
