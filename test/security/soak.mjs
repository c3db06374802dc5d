// npm run soak -- --seconds N [--seed S]: many callers with good, hostile, asking and impatient scripts through real MCP
// servers and clients, for N seconds. Nothing may grow. Ends with `soak: ok`.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { availableParallelism } from "node:os";
import { codeMode, memoryStore, quickJsSandbox } from "mcp-codemode";
import { connect } from "./soak/callers.mjs";
import { newRandom } from "./fuzz/random.mjs";
import { figuresOf, grown, lineOf } from "./soak/figures.mjs";
import { workOf, Wrong } from "./soak/work.mjs";

const AT_ONCE = 8;
const ROUND_CALLERS = 32;
const KINDS = ["good", "session", "hostile", "hostile", "asking", "impatient"];
const CALLERS_OF_A_KIND = 6;
/** Rounds before anything is measured: code is compiled, the pool is full, allocators have their pages. */
const WARM_UP_PART = 0.3;

const { values: args } = parseArgs({
  options: { seconds: { type: "string", default: "60" }, seed: { type: "string", default: "1" } },
});
const out = (text) => process.stdout.write(`${text}\n`);
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");

const problems = [];
process.on("unhandledRejection", (reason) => problems.push(`unhandled rejection: ${reason?.stack ?? String(reason)}`));
process.on("uncaughtException", (error) => problems.push(`uncaught exception: ${error?.stack ?? String(error)}`));
process.on("warning", (warning) => problems.push(`warning: ${warning.stack}`));

const store = memoryStore();
const transform = codeMode({
  limits: { timeoutMs: 500 },
  policy: ({ annotations }) => (annotations?.destructiveHint === true ? { action: "ask" } : { action: "allow" }),
  session: {
    variables: true,
    key: ({ authInfo }) => (authInfo.clientId.startsWith("session") ? authInfo.clientId : undefined),
  },
  store,
});
const stored = async () => {
  let count = 0;
  for await (const key of store.list("")) if (key !== "") count++;
  return count;
};

const generator = newRandom(Number(args.seed));
const random = () => generator.below(2 ** 32) / 2 ** 32;
const counts = { callers: 0, good: 0, session: 0, hostile: 0, suspended: 0, aborted: 0, slow: 0 };
const world = { counts, random, seen: new Map(), runs: transform };
/** Names in use: a session is one caller's at a time. */
const busy = new Set();

function freeName(kind) {
  for (let turn = 0; turn < CALLERS_OF_A_KIND; turn++) {
    const name = `${kind}-${generator.below(CALLERS_OF_A_KIND)}`;
    if (!busy.has(name)) return name;
  }
  return `${kind}-${CALLERS_OF_A_KIND}-${counts.callers % 3}`;
}

/**
 * Kills every worker of the pool that code mode uses by default: how much memory each of them holds depends on what it ran
 * last, and is not what is measured.
 */
async function freshPool() {
  const kill = () => quickJsSandbox().run("new Array(1e9).join()", { limits: { timeoutMs: 30 } });
  await Promise.all(Array.from({ length: Math.max(4, availableParallelism()) }, kill));
}

async function oneCaller() {
  const kind = generator.pick(KINDS);
  const name = freeName(kind);
  if (busy.has(name)) return;
  busy.add(name);
  counts.callers++;
  try {
    const caller = await connect(transform, name);
    await workOf(caller, kind, world);
    await caller.close();
  } catch (error) {
    problems.push(error instanceof Wrong ? error.message : (error?.stack ?? String(error)));
  } finally {
    busy.delete(name);
  }
}

async function round() {
  let left = ROUND_CALLERS;
  const line = async () => {
    while (left-- > 0 && problems.length === 0) await oneCaller();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, line));
}

const [started, seconds] = [performance.now(), Number(args.seconds)];
const elapsed = () => (performance.now() - started) / 1000;
const samples = [];
const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
while (elapsed() < seconds && problems.length === 0) {
  await round();
  await freshPool();
  const figures = await figuresOf(collect, stored);
  const isWarm = elapsed() > seconds * WARM_UP_PART;
  if (isWarm) samples.push(figures);
  out(`${elapsed().toFixed(0)} s${isWarm ? "" : " (warming up)"}: ${lineOf(figures)}`);
}

out(
  `${Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(", ")} in ${elapsed().toFixed(0)} s`,
);
const late = [50, 99, 100].map((percent) => (delay.percentile(percent) / 1e6).toFixed(0));
out(`event loop of the host, ms between looks every 5: median ${late[0]}, 99 % ${late[1]}, most ${late[2]}`);
if (samples.length < 2) problems.push(`only ${samples.length} samples after the warm-up: give it more --seconds`);
else problems.push(...grown(samples));
// The outcome of a paused run is remembered for a while, and every session is kept: nothing else may be.
const [kept, known] = [await stored(), counts.suspended + world.seen.size];
if (kept > known) problems.push(`${kept} entries in the store for ${known} paused runs and sessions`);
for (const problem of problems.slice(0, 10)) out(`PROBLEM ${problem}`);
out(problems.length === 0 ? "soak: ok" : `soak: ${problems.length} problems`);
process.exit(problems.length === 0 ? 0 : 1);
