import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { type Case, readCases } from "./case.js";
import { watchProcess } from "./host-facts.js";
import { CHILD_FLAG, runProbeChild } from "./probe-exit.js";
import { type Outcome, runCase } from "./runner.js";
import { World } from "./world.js";

const USAGE = "usage: run-cases FILE [--group NAME]... [--id ID]... [--verbose]";
const SHORT_REASON_CHARACTERS = 300;

/** Runs the cases of a file. The exit code is 0 when all passed, 1 when some did not, 2 when they could not be run. */
async function main(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      group: { type: "string", multiple: true },
      id: { type: "string", multiple: true },
      verbose: { type: "boolean" },
    },
  });
  const [file, ...rest] = positionals;
  if (file === undefined || rest.length > 0) throw new Error(USAGE);
  const cases = readCases(readFileSync(file, "utf8")).filter(
    ({ group, id }) => (values.group?.includes(group) ?? true) && (values.id?.includes(id) ?? true),
  );
  watchProcess();
  await warmUp();
  return runAll(cases, values.verbose === true);
}

/** The first run of a process starts a worker and compiles the engine: no case should pay for it. */
async function warmUp(): Promise<void> {
  const world = new World({ tools: [], config: {} });
  const reply = await world.execute("return 1");
  if (reply.isError) throw new Error(`the library does not run: ${reply.summary}`);
  await world.close();
}

async function runAll(cases: readonly Case[], verbose: boolean): Promise<number> {
  const counts = new Map<string, { passed: number; failed: number; todo: number }>();
  for (const subject of cases) {
    const outcome = await runCase(subject);
    print(lineOf(subject, outcome, verbose));
    const count = counts.get(subject.group) ?? { passed: 0, failed: 0, todo: 0 };
    counts.set(subject.group, count);
    if (outcome.status === "ok") count.passed++;
    else count.failed++;
    if (outcome.status === "TODO") count.todo++;
  }
  for (const [group, { passed, failed, todo }] of counts) {
    print(`${group}: ${passed} passed, ${failed} failed${todo > 0 ? ` (${todo} of them TODO)` : ""}`);
  }
  const sum = (key: "passed" | "failed"): number =>
    [...counts.values()].reduce((total, count) => total + count[key], 0);
  print(`${sum("passed")} passed, ${sum("failed")} failed`);
  return sum("failed") === 0 ? 0 : 1;
}

function lineOf({ id, title, expected }: Case, { status, reason }: Outcome, verbose: boolean): string {
  const flat = reason.replaceAll(/\s*\n\s*/g, " | ");
  const short =
    verbose || flat.length <= SHORT_REASON_CHARACTERS ? flat : `${flat.slice(0, SHORT_REASON_CHARACTERS)}...`;
  const line = short === "" ? `${status} ${id}` : `${status} ${id} ${short}`;
  return verbose && status !== "ok" ? `${line}\n    ${title}\n    expected: ${expected}` : line;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

const args = process.argv.slice(2);
try {
  if (args[0] === CHILD_FLAG) await runProbeChild(args[1] ?? "{}");
  else process.exit(await main(args));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(2);
}
