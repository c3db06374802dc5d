// How late the host's event loop is, and how busy the machine is with other things.

const EVERY_MS = 5;

/** Result of `work`, how long it took, and how late a 5 ms timer of this thread fired at worst meanwhile, in milliseconds. */
export async function watched(work) {
  let last = performance.now();
  let lateMs = 0;
  const look = () => {
    const now = performance.now();
    lateMs = Math.max(lateMs, now - last - EVERY_MS);
    last = now;
  };
  const timer = setInterval(look, EVERY_MS);
  const started = performance.now();
  try {
    const result = await work();
    return { result, ms: performance.now() - started, lateMs: (look(), lateMs) };
  } finally {
    clearInterval(timer);
  }
}

/** Lateness of a thread that only sleeps for as long. */
export const idleLateness = async (ms) =>
  (await watched(() => new Promise((resolve) => setTimeout(resolve, ms)))).lateMs;

/** Wall time of a fixed piece of work over its processor time: 1 on an idle machine, more where others take their share. */
export function contention() {
  const [cpu, started] = [process.cpuUsage(), performance.now()];
  let sum = 0;
  while (performance.now() - started < 60) for (let index = 0; index < 10_000; index++) sum += index % 7;
  const { user, system } = process.cpuUsage(cpu);
  return sum < 0 ? 1 : Math.max(1, (performance.now() - started) / Math.max(1, (user + system) / 1000));
}

const CACHE_MS = 2_000;
let cached = { at: -Infinity, value: 1 };

/** The same, measured at most every two seconds. */
contention.cached = () => {
  if (performance.now() - cached.at > CACHE_MS) cached = { value: contention(), at: performance.now() };
  return cached.value;
};
