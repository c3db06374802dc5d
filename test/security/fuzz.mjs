// npm run fuzz -- --seconds N [--seed S] [--target NAME] [--case I]: random scripts, values, replies, frames and snapshots
// against the real sandbox. Prints its seed; what it finds is made smaller and printed, and the exit code is 1.
import { parseArgs } from "node:util";
import { ApprovalError, suspend } from "mcp-codemode";
import { quickJsSandbox } from "mcp-codemode/sandbox";
import { PROBE } from "./attack-bench.mjs";
import { Finding, LateFinding, newBench } from "./fuzz/bench.mjs";
import { frames } from "./fuzz/frames.mjs";
import { caseSeed, newRandom } from "./fuzz/random.mjs";
import { replies } from "./fuzz/replies.mjs";
import { scripts } from "./fuzz/scripts.mjs";
import { snapshots } from "./fuzz/snapshots.mjs";
import { values } from "./fuzz/values.mjs";
import { newWatchdog } from "./fuzz/watchdog.mjs";

const TARGETS = [scripts, values, replies, frames, snapshots];
/** Cases between two looks at everything a run can reach. */
const FULL_PROBE_EVERY = 40;
/** A case that is late so often is late because of itself. */
const TRIES = 3;
const MOST_SHRINKS = 150;
const MOST_FINDINGS = 5;

const { values: args } = parseArgs({
  options: {
    seconds: { type: "string", default: "30" },
    seed: { type: "string" },
    target: { type: "string" },
    case: { type: "string" },
  },
});
const seed = args.seed === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(args.seed);
const targets = TARGETS.filter(({ name }) => (args.target ?? name) === name);
const MOST_SHOWN = 3_000;
const out = (text) => process.stdout.write(`${text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text}\n`);
out(`seed ${seed}`);

const stray = [];
process.on("unhandledRejection", (reason) => stray.push(`unhandled rejection: ${reason?.stack ?? String(reason)}`));
process.on("uncaughtException", (error) => stray.push(`uncaught exception: ${error?.stack ?? String(error)}`));

const sandbox = quickJsSandbox({ maxWorkers: 2 });
const refused = () => new ApprovalError("not allowed", { details: { tool: "wipe" } });
const bench = newBench({ sandbox, suspend, refused });
const watchdog = newWatchdog();

const probe = async () => {
  const result = await sandbox.run(PROBE, { externalFunctions: bench.functions, limits: { timeoutMs: 20_000 } });
  return result.status === "completed" ? result.value : JSON.stringify(result);
};
const quickProbe = async () => {
  const result = await sandbox.run(
    "return [[3, 1, 2].sort().join(), JSON.stringify({ a: 1 }), typeof evil, typeof a].join()",
    {
      externalFunctions: bench.functions,
      limits: { timeoutMs: 5_000 },
    },
  );
  return result.status === "completed" ? result.value : JSON.stringify(result);
};
const [sound, quickSound] = [await probe(), await quickProbe()];

/** Why a case is a finding; undefined when it is none. */
async function judge(target, input, full) {
  let why;
  for (let tries = 0; tries < TRIES; tries++) {
    try {
      await target.run(structuredClone(input), bench);
      why = undefined;
    } catch (error) {
      why = error instanceof Finding ? error : new Finding(`threw ${error?.stack ?? String(error)}`);
    }
    if (!(why instanceof LateFinding)) break;
  }
  await new Promise((resolve) => setImmediate(resolve));
  if (why === undefined && stray.length > 0) why = new Finding(stray.splice(0).join("\n"));
  if (why === undefined && (await quickProbe()) !== quickSound)
    why = new Finding(`the next run is not sound: ${String(await quickProbe())}`);
  if (why === undefined && full && (await probe()) !== sound)
    why = new Finding(`the next run is not sound: ${String(await probe())}`);
  return why?.message;
}

/** The smallest input that is still a finding. */
async function minimised(target, input) {
  let [smallest, left] = [input, MOST_SHRINKS];
  search: while (left > 0) {
    for (const smaller of target.shrink(smallest)) {
      if (left-- <= 0) break search;
      if ((await judge(target, smaller, true)) === undefined) continue;
      smallest = smaller;
      continue search;
    }
    break;
  }
  return smallest;
}

const counts = Object.fromEntries(targets.map(({ name }) => [name, 0]));
const until = performance.now() + Number(args.seconds) * 1000;
const [first, last] = args.case === undefined ? [0, Infinity] : [Number(args.case), Number(args.case)];
let findings = 0;
for (let index = first; index <= last && performance.now() < until && findings < MOST_FINDINGS; index++) {
  const random = newRandom(caseSeed(seed, index));
  const target = targets[index % targets.length];
  const input = target.make(random);
  watchdog.doing(`${target.name}, seed ${seed}, case ${index}:\n${target.show(input)}`);
  counts[target.name]++;
  const why = await judge(target, input, index % FULL_PROBE_EVERY === 0 || args.case !== undefined);
  if (why === undefined) continue;
  findings++;
  const smallest = await minimised(target, input);
  out(
    `FOUND by ${target.name} (--seed ${seed} --target ${args.target ?? "any"} --case ${index}): ${why}\n${target.show(smallest)}\n`,
  );
}
const broken = (await probe()) !== sound;
if (broken) out("FOUND at the end: the next run is not sound");
for (const what of stray) out(`FOUND ${what}`);
await watchdog.stop();
await sandbox.close?.();
const total = findings + (broken ? 1 : 0) + stray.length;
out(
  `${Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(", ")}`,
);
out(total === 0 ? "fuzz: ok" : `fuzz: ${total} findings, seed ${seed}`);
process.exit(total === 0 ? 0 : 1);
