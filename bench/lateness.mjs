import { Worker } from "node:worker_threads";
import { quickJsSandbox } from "mcp-codemode";
import { median, quantile } from "./measure.mjs";

const EVERY_MS = 5;
const SPIN_MS = 600;

/** How late a 5 ms timer of this thread fires, at worst, while `work` goes on. */
async function worstLatenessMs(work) {
  let last = performance.now();
  const late = [];
  const timer = setInterval(() => {
    const now = performance.now();
    late.push(now - last - EVERY_MS);
    last = now;
  }, EVERY_MS);
  await work();
  clearInterval(timer);
  return { median: median(late), worst: quantile(late, 1) };
}

/** A thread that does nothing but sleep: what the machine's own noise costs in the same time. */
const idleControl = () =>
  new Promise((resolve) => {
    const source = `setTimeout(() => process.exit(), ${SPIN_MS})`;
    new Worker(source, { eval: true }).once("exit", resolve);
  });

/** Lateness of the main thread while a script spins, beyond an idle control in the same run. */
export async function lateness() {
  const sandbox = quickJsSandbox();
  const spin = () => sandbox.run("for (;;);", { limits: { timeoutMs: SPIN_MS } });
  await spin();
  const script = [];
  const idle = [];
  for (let round = 0; round < 8; round++) {
    script.push(await worstLatenessMs(spin));
    idle.push(await worstLatenessMs(idleControl));
  }
  const worst = (samples) => median(samples.map((sample) => sample.worst));
  console.log(
    `main thread's timer late by at worst, ms, median of 8: while a script spins ${worst(script).toFixed(1)} | idle control ${worst(idle).toFixed(1)}`,
  );
  return { main_lateness_ms: Math.max(0, worst(script) - worst(idle)) };
}
