// Fills the generated blocks of README.md, each between `<!-- NAME -->` and `<!-- /NAME -->`:
//   node build/readme.mjs transcript                    what the demo prints
//   npm run bench | node build/readme.mjs numbers       the figures of a bench run
//   node build/readme.mjs transcript --check            changes nothing; fails when the block is not what it would be
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const README = fileURLToPath(new URL("../README.md", import.meta.url));
const OXFMT = fileURLToPath(new URL("../node_modules/oxfmt/bin/oxfmt", import.meta.url));
const DEMO = fileURLToPath(new URL("../examples/demo/demo.mjs", import.meta.url));

/** What each figure of the bench is, in the order of the table. `unit` stands behind it. */
const FIGURES = {
  trivial_us: ["`1 + 1` in the sandbox, warm", "median of `sandbox.run` under continuous load", "us"],
  trivial_client_us: ["the same through an MCP client", "`callTool` of `execute` over the in-memory transport", "us"],
  vs_fresh_context: [
    "against a new QuickJS runtime and context for each run",
    "same process, rounds in turn; higher is better",
    "times faster",
  ],
  nested_us: ["one `call_tool` in a script", "100 sequential calls in one script, under continuous load", "us"],
  direct_us: ["one `client.callTool`", "100 sequential calls on the same server without code mode", "us"],
  nested_vs_direct: ["nested against direct", "median of the ratios, round by round", "times"],
  nested_vs_direct_rested: ["the same after rests", "20 ms of rest before each round", "times"],
  parallel_20x10ms: ["20 parallel calls of a 10 ms tool", "one script, concurrency 32", "ms"],
  one_mb_ms: ["a tool result of 1 MB, filtered in the script", "through an MCP client", "ms"],
  main_lateness_ms: [
    "lateness of the host's timers while a script spins",
    "worst of a run beyond an idle control, median",
    "ms",
  ],
  rss_per_worker_mb: ["resident memory of one more worker", "8 scripts at a time in a process of its own", "MB"],
  cold_ms: ["import of the package to the first result", "a new process each, median", "ms"],
};

function transcriptBlock() {
  const printed = execFileSync(process.execPath, [DEMO], { encoding: "utf8" });
  const from = printed.indexOf("--- search\n");
  const to = printed.indexOf("\ndemo: ok");
  if (from < 0 || to < 0) throw new Error(`The demo printed no transcript:\n${printed}`);
  return ["```text", printed.slice(from, to).trimEnd(), "```"].join("\n");
}

function numbersBlock(printed) {
  const figures = new Map([...printed.matchAll(/^([a-z]\w*)=(-?[\d.]+)$/gm)].map(([, name, value]) => [name, value]));
  const machine = /^Node .*$/m.exec(printed)?.[0];
  const missing = Object.keys(FIGURES).filter((name) => !figures.has(name));
  if (machine === undefined || missing.length > 0) {
    throw new Error(
      `This is no output of npm run bench: ${machine === undefined ? "no first line" : missing.join(", ")}`,
    );
  }
  const rows = Object.entries(FIGURES).map(
    ([name, [what, how, unit]]) => `| ${what} | ${figures.get(name)} ${unit} | ${how} | \`${name}\` |`,
  );
  const head = ["| what | figure | measured as | name |", "|---|---|---|---|"];
  return [`Printed by \`npm run bench\` on ${machine}:`, "", ...head, ...rows].join("\n");
}

function withBlock(readme, name, text) {
  const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const from = readme.indexOf(start);
  const to = readme.indexOf(end);
  if (from < 0 || to < from) throw new Error(`README.md has no block between ${start} and ${end}`);
  return `${readme.slice(0, from + start.length)}\n\n${text}\n\n${readme.slice(to)}`;
}

const [name, ...flags] = process.argv.slice(2);
if (name !== "transcript" && name !== "numbers") {
  throw new Error(
    "Usage: node build/readme.mjs transcript [--check], or npm run bench | node build/readme.mjs numbers",
  );
}
const text = name === "transcript" ? transcriptBlock() : numbersBlock(readFileSync(0, "utf8"));
const before = readFileSync(README, "utf8");
const after = withBlock(before, name, text);
if (!flags.includes("--check")) {
  writeFileSync(README, after);
  // Tables are padded by the formatter.
  execFileSync(process.execPath, [OXFMT, README]);
} else if (after !== before) {
  throw new Error(`The ${name} in README.md is not what it would be now: run node build/readme.mjs ${name}`);
}
