// npm run test:attacks: every attack on the default sandbox, with what it must not do. Options: --class NAME, --only ID.
import { parseArgs } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { ApprovalError } from "mcp-codemode";
import { quickJsSandbox } from "mcp-codemode/sandbox";
import { attackFunctions, attackOptions, hostPrototypes, loadAttacks, misfit, PROBE } from "./attack-bench.mjs";
import { contention, idleLateness, watched } from "./lateness.mjs";

/** An attack has ended by then, deadline, grace and kill included. */
const MOST_MS = 600;
/** The host's event loop may be late by so much more than it is while nothing runs. */
const MOST_LATE_MS = 50;
/** What is too late is tried again: a machine that does something else for a moment is no finding. */
const TRIES = 4;
/** Memory that a process may have gained by all of them: pages that the allocator of the host keeps. */
const MOST_GROWTH_MB = 64;

const { values: options } = parseArgs({ options: { class: { type: "string" }, only: { type: "string" } } });
const attacks = loadAttacks().filter(
  ({ id, class: name }) => (options.class ?? name) === name && (options.only ?? id) === id,
);
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");

const stray = [];
process.on("unhandledRejection", (reason) => stray.push(`unhandled rejection: ${String(reason)}`));
process.on("uncaughtExceptionMonitor", (error) => process.stderr.write(`uncaught: ${error.stack}\n`));

const sandbox = quickJsSandbox();
const functions = attackFunctions(() => new ApprovalError("not allowed", { details: { tool: "wipe" } }));
const probe = () => sandbox.run(PROBE, { externalFunctions: functions, limits: { timeoutMs: 20_000 } });
const residentMb = () => process.memoryUsage().rss / 2 ** 20;
const worst = { ms: 0, lateMs: 0, id: { ms: "", lateMs: "" } };
const note = (what, value, id) => {
  if (value > worst[what]) [worst[what], worst.id[what]] = [value, id];
};

/** Why an attack was withstood too late; undefined when it was not. */
async function tooLate(attack, { ms, lateMs }) {
  const scale = contention();
  const idleMs = lateMs > MOST_LATE_MS ? await idleLateness(Math.min(ms, MOST_MS)) : 0;
  if (ms > MOST_MS * scale)
    return `took ${ms.toFixed(0)} ms (the machine was ${scale.toFixed(1)} times slower than idle)`;
  if (lateMs - idleMs <= MOST_LATE_MS) return undefined;
  return `made the host's event loop ${lateMs.toFixed(0)} ms late (${idleMs.toFixed(0)} ms when idle)`;
}

async function attempt(attack, sound) {
  const prototypes = hostPrototypes();
  const seen = await watched(() => sandbox.run(attack.code, attackOptions(attack, functions)));
  const after = await probe();
  const wrong =
    misfit(attack, seen.result) ??
    (after.value === sound ? undefined : `left the next run unsound: ${JSON.stringify(after.value ?? after.error)}`) ??
    (hostPrototypes() === prototypes ? undefined : "changed a prototype of the host") ??
    stray.shift();
  return { wrong, late: wrong === undefined ? await tooLate(attack, seen) : undefined, seen };
}

/** Why the attack was not withstood; undefined when it was. */
async function withstand(attack, sound) {
  let last;
  for (let tries = 0; tries < TRIES; tries++) {
    last = await attempt(attack, sound);
    if (last.wrong !== undefined) return last.wrong;
    if (last.late === undefined) break;
  }
  note("ms", last.seen.ms, attack.id);
  note("lateMs", last.seen.lateMs, attack.id);
  return last.late;
}

const { value: sound } = await probe();
/** As after any attack: with a worker that has lately given up an instance of the largest memory. */
async function settle() {
  await sandbox.run("const all = []; for (;;) all.push('x'.repeat(1e5) + all.length)", {
    limits: { timeoutMs: 5_000 },
  });
  for (let index = 0; index < 20; index++) await sandbox.run("1", {});
  await new Promise((resolve) => setTimeout(resolve, 500));
  collect();
}
await settle();
const before = residentMb();
const [scaleBefore, started] = [contention(), performance.now()];

let failed = 0;
for (const attack of attacks) {
  const why = await withstand(attack, sound).catch((error) => `the sandbox rejected: ${error.stack}`);
  if (why === undefined) continue;
  failed++;
  console.log(`FAILED ${attack.id}: ${why}\n  ${attack.code.slice(0, 300)}`);
}

const seconds = (performance.now() - started) / 1000;
await settle();
const growth = residentMb() - before;
console.log(
  `${attacks.length} attacks in ${seconds.toFixed(0)} s; slowest ${worst.ms.toFixed(0)} ms (${worst.id.ms}; at most ${MOST_MS} on an idle machine), ` +
    `latest event loop ${worst.lateMs.toFixed(0)} ms (${worst.id.lateMs}); machine ${scaleBefore.toFixed(1)} to ${contention().toFixed(1)} times slower than idle; ` +
    `resident memory ${before.toFixed(0)} MB before, ${growth.toFixed(0)} MB more after`,
);
if (growth > MOST_GROWTH_MB) {
  failed++;
  console.log(`FAILED memory: ${growth.toFixed(0)} MB more than before, at most ${MOST_GROWTH_MB}`);
}
for (const what of stray) {
  failed++;
  console.log(`FAILED ${what}`);
}
await sandbox.close?.();
console.log(`${attacks.length + (growth > MOST_GROWTH_MB ? 1 : 0) + stray.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
