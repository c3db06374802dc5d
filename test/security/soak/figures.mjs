// What must stay flat: memory, threads, open files, handles, listeners.
import { readdirSync, readFileSync } from "node:fs";

const MB = 2 ** 20;

/** Figures of this process now. `collect` runs the garbage collector. */
export async function figuresOf(collect, stored) {
  for (let turn = 0; turn < 3; turn++) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const { rss, heapUsed, arrayBuffers } = process.memoryUsage();
  const listeners = process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0);
  return {
    rssMb: rss / MB,
    heapMb: heapUsed / MB,
    buffersMb: arrayBuffers / MB,
    handles: process.getActiveResourcesInfo().length,
    listeners,
    stored: await stored(),
    ...linuxFigures(),
  };
}

/** Threads and open files are told by Linux alone. */
function linuxFigures() {
  try {
    const threads = Number(/^Threads:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]);
    return { threads, files: readdirSync("/proc/self/fd").length };
  } catch {
    return {};
  }
}

/** How much more of each there may be at the end than after the warm-up. */
const MOST_GROWTH = { rssMb: 48, heapMb: 12, buffersMb: 16, handles: 4, listeners: 0, threads: 4, files: 8 };

/** The figures that grew too much: the middle of the last samples against that of the first ones. */
export function grown(samples) {
  const part = Math.max(1, Math.floor(samples.length / 3));
  const middle = (some, name) => some.map((sample) => sample[name] ?? 0).sort((a, b) => a - b)[some.length >> 1];
  return Object.entries(MOST_GROWTH).flatMap(([name, most]) => {
    const [before, after] = [middle(samples.slice(0, part), name), middle(samples.slice(-part), name)];
    return after - before > most
      ? [`${name} grew from ${before.toFixed(1)} to ${after.toFixed(1)}, at most ${most} more`]
      : [];
  });
}

/** One line. */
export const lineOf = (figures) =>
  Object.entries(figures)
    .map(([name, value]) => `${name} ${name.endsWith("Mb") ? value.toFixed(1) : value}`)
    .join(", ");
