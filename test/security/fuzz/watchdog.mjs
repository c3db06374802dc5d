// A thread that looks whether the main one still turns: a host that hangs cannot say so itself.
import { writeSync } from "node:fs";
import { isMainThread, Worker, workerData } from "node:worker_threads";

const MOST_STUCK_MS = 15_000;
const TEXT_BYTES = 1 << 16;
const HEADER_BYTES = 8;

/** Tells the watchdog what is being done. Call `stop()` at the end. */
export function newWatchdog() {
  const shared = new SharedArrayBuffer(HEADER_BYTES + TEXT_BYTES);
  const words = new Int32Array(shared, 0, 2);
  const text = new Uint8Array(shared, HEADER_BYTES);
  const worker = new Worker(new URL(import.meta.url), { workerData: shared });
  worker.unref();
  const beat = setInterval(() => Atomics.add(words, 0, 1), 500);
  return {
    doing(what) {
      const bytes = Buffer.from(what).subarray(0, TEXT_BYTES);
      text.set(bytes);
      Atomics.store(words, 1, bytes.length);
    },
    async stop() {
      clearInterval(beat);
      await worker.terminate();
    },
  };
}

if (!isMainThread) {
  const words = new Int32Array(workerData, 0, 2);
  let last = -1;
  let since = Date.now();
  setInterval(() => {
    const beats = Atomics.load(words, 0);
    if (beats !== last) [last, since] = [beats, Date.now()];
    if (Date.now() - since < MOST_STUCK_MS) return;
    const doing = Buffer.from(new Uint8Array(workerData, HEADER_BYTES, Atomics.load(words, 1))).toString();
    writeSync(1, `FOUND the event loop of the host stands still while it does\n${doing}\n`);
    process.kill(process.pid, "SIGKILL");
  }, 1000);
}
