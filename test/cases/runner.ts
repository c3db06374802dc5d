import { setTimeout as sleep } from "node:timers/promises";
import { asJson, asList, asStrings, type Case, expandInput, type Json, knownKeys, Todo } from "./case.js";
import { shown } from "./compare.js";
import { checkHostKeys, hostFaults } from "./host-assertions.js";
import { checkGatewayConfigCase, GatewayConfigCase, isGatewayConfigCase } from "./gateway-case.js";
import { checkUpstreams } from "./gateway-host.js";
import { HostWatch } from "./host-facts.js";
import { checkOpenApiCase, isOpenApiCase, OpenApiCase } from "./openapi-case.js";
import { checkProbe, runProbes } from "./probes.js";
import { plannedRuns, type ScriptRun, type ServerPlan, serverPlans } from "./plan.js";
import type { Reply } from "./reply.js";
import { REPLY_KEYS, replyFaults } from "./reply-assertions.js";
import { searchFaults } from "./search-assertions.js";
import { signatureFaults } from "./signature.js";
import { expectFaults, searchArguments, StepRun } from "./steps.js";
import { callerOf, type SearchReply, World } from "./world.js";

/** What became of a case. */
export interface Outcome {
  status: "ok" | "FAIL" | "TODO";
  reason: string;
}

const INPUT_KEYS =
  `tools script variants runs repeatWithFence query queries limit filter catalogs callers caller repeat mix config
  configVariants alsoOrder alsoVia upstreams env via transport generate steps then probe scale`.split(/\s+/);
const STEP_ONLY = new Set(["noCrash", "noError"]);
const ASSERT_KEYS = [
  ...REPLY_KEYS.filter((key) => !STEP_ONLY.has(key)),
  "calls",
  "search",
  "signature",
  "host",
  "steps",
];

/** Faster than this, processes start too late for what a case expects of them. */
const LEAST_SCALE_OF_PROCESSES = 0.25;

/** Longer than any case may take. */
const CASE_TIMEOUT_MS = 120_000;

/** Runs one case. Never rejects. */
export async function runCase(subject: Case): Promise<Outcome> {
  const end = new AbortController();
  try {
    checkCase(subject);
    const work = kindOf(subject.input);
    const input = expandInput(withLeastScale(subject.input));
    const faults = await Promise.race([new work.Run(subject.assert, input).run(), tooLate(end.signal)]);
    return faults.length === 0 ? { status: "ok", reason: "" } : { status: "FAIL", reason: faults.join("; ") };
  } catch (error) {
    const reason =
      error instanceof Error ? `${error.name === "Error" ? "" : `${error.name}: `}${error.message}` : String(error);
    return error instanceof Todo ? { status: "TODO", reason: error.message } : { status: "FAIL", reason };
  } finally {
    end.abort();
  }
}

async function tooLate(signal: AbortSignal): Promise<string[]> {
  // Without a reference: cases count the timers that hold the process.
  await sleep(CASE_TIMEOUT_MS, undefined, { signal, ref: false }).catch(() => undefined);
  return [`it did not end within ${CASE_TIMEOUT_MS} ms`];
}

/** How a case is checked and run. */
interface Kind {
  check(input: Json, assert: Json): void;
  Run: new (assert: Json, input: Json) => { run(): Promise<string[]> };
}

function kindOf(input: Json): Kind {
  if (isGatewayConfigCase(input)) return { check: checkGatewayConfigCase, Run: GatewayConfigCase };
  if (isOpenApiCase(input)) return { check: checkOpenApiCase, Run: OpenApiCase };
  return { check: checkServerCase, Run: CaseRun };
}

function withLeastScale(input: Json): Json {
  const { scale, upstreams } = input;
  if (upstreams === undefined || typeof scale !== "number") return input;
  return { ...input, scale: Math.max(scale, LEAST_SCALE_OF_PROCESSES) };
}

function checkCase({ input, assert }: Case): void {
  kindOf(input).check(input, assert);
}

function checkServerCase(input: Json, assert: Json): void {
  knownKeys(input, INPUT_KEYS, "input");
  if (input["upstreams"] !== undefined) checkUpstreams(input["upstreams"]);
  knownKeys(assert, ASSERT_KEYS, "assert");
  if (Object.keys(assert).length === 0) throw new Todo("nothing is asserted");
  if (assert["host"] !== undefined) checkHostKeys(assert["host"]);
  if (input["probe"] !== undefined) checkProbe(asJson(input["probe"], "probe"));
  if (![undefined, "client-after-listTools"].includes(input["via"] as string))
    throw new Todo(`via: ${shown(input["via"])}`);
}

/** One case as it goes. */
class CaseRun {
  readonly #assert: Json;
  readonly #input: Json;
  readonly #faults: string[] = [];
  readonly #searches: SearchReply[] = [];
  readonly #stepRuns: StepRun[] = [];

  constructor(assert: Json, input: Json) {
    this.#assert = assert;
    this.#input = input;
  }

  get #probe(): Json {
    return asJson(this.#input["probe"] ?? {}, "probe");
  }

  /** Everything that is wrong. */
  async run(): Promise<string[]> {
    const plans = serverPlans(this.#input);
    const watch = new HostWatch(this.#probe["heartbeatMs"] as number | undefined);
    try {
      for (const plan of plans) await this.#runPlan(plan);
      this.#checkSearches();
      await this.#checkHost(watch, plans);
    } finally {
      watch.stop();
      for (const run of this.#stepRuns) await run.close();
    }
    return this.#faults;
  }

  async #runPlan(plan: ServerPlan): Promise<void> {
    const runs = plannedRuns(this.#input);
    if (this.#input["steps"] !== undefined) await this.#runSteps(await this.#open(plan), "steps");
    else if (runs.length === 0) await this.#runOnServer(await this.#open(plan), []);
    // Every run gets its own server, except repetitions of one.
    else for (const group of runs) await this.#runOnServer(await this.#open(plan), group);
  }

  async #open(plan: ServerPlan): Promise<StepRun> {
    const run = new StepRun(plan.parts);
    this.#stepRuns.push(run);
    // Its upstreams live from the beginning, not from the first step that needs them.
    await run.world.gateway?.gateway;
    return run;
  }

  async #runSteps(run: StepRun, key: "steps" | "then"): Promise<void> {
    const steps = this.#input[key];
    if (steps !== undefined) await run.run(asList(steps, key));
    this.#faults.push(...run.faults.splice(0));
  }

  async #runOnServer(run: StepRun, scripts: readonly ScriptRun[]): Promise<void> {
    for (const script of scripts) await this.#runScript(run.world, script);
    await this.#runSearches(run.world);
    this.#checkCalls(run.world);
    if (this.#assert["signature"] !== undefined) {
      this.#faults.push(...(await signatureFaults(run.world, asJson(this.#assert["signature"], "signature"))));
    }
    await this.#runSteps(run, "then");
  }

  async #runScript(world: World, script: ScriptRun): Promise<void> {
    const caller = callerOf(this.#input["caller"]);
    const [reply] = await Promise.all([world.execute(script.code, { caller }), this.#secondExecute(world)]);
    const faults =
      script.expectKind === undefined ? this.#replyFaults(reply, script) : unlessKind(reply, script.expectKind);
    this.#faults.push(...faults.map((fault) => `${script.name}${fault}`));
  }

  #replyFaults(reply: Reply, { index, label }: ScriptRun): string[] {
    return replyFaults(reply, this.#assert, { index, label });
  }

  async #secondExecute(world: World): Promise<void> {
    if (this.#probe["secondExecute"] === undefined) return;
    const second = asJson(this.#probe["secondExecute"], "secondExecute");
    knownKeys(second, ["afterMs", "script", "expect"], "secondExecute");
    await sleep(Number(second["afterMs"]));
    const reply = await world.execute(String(second["script"]));
    this.#faults.push(...expectFaults(reply, second["expect"]).map((fault) => `second execute: ${fault}`));
  }

  async #runSearches(world: World): Promise<void> {
    const { query, queries, callers, repeat, script } = this.#input;
    const { firstMs, laterMs } = asJson(this.#assert["search"] ?? {}, "search");
    const asked = queries === undefined ? (query === undefined ? [] : [query]) : asList(queries, "queries");
    // Times of later searches need later searches.
    const times = script === undefined ? Number(repeat ?? ((firstMs ?? laterMs) ? 12 : 1)) : 1;
    for (const text of asked) {
      for (const name of callers === undefined ? [undefined] : asStrings(callers, "callers")) {
        for (let time = 0; time < times; time++) this.#searches.push(await this.#search(world, text, name));
      }
    }
  }

  #search(world: World, query: unknown, caller: string | undefined): Promise<SearchReply> {
    const { limit, filter } = this.#input;
    return world.search(searchArguments({ query, limit, filter }), {
      caller: callerOf(caller ?? this.#input["caller"]),
    });
  }

  #checkSearches(): void {
    if (this.#assert["search"] === undefined) return;
    this.#faults.push(...searchFaults(this.#searches, asJson(this.#assert["search"], "search")));
  }

  #checkCalls(world: World): void {
    for (const [tool, times] of Object.entries(asJson(this.#assert["calls"] ?? {}, "calls"))) {
      const found = world.gateway?.callsOf(tool) ?? world.fixture.calls.get(tool) ?? 0;
      if (found !== times) this.#faults.push(`${tool} should have run ${shown(times)} times, ran ${found} times`);
    }
  }

  async #checkHost(watch: HostWatch, [plan]: readonly ServerPlan[]): Promise<void> {
    const measured = watch.measure();
    const probe = await runProbes(this.#probe, this.#input, () => new World(plan?.parts ?? { tools: [], config: {} }));
    if (this.#assert["host"] === undefined) return;
    const worlds = this.#stepRuns.flatMap((run) => run.worlds);
    const aliases = this.#stepRuns.flatMap((run) => run.aliases);
    const evidence = { measured, worlds, probe, steps: this.#input["steps"] !== undefined, aliases };
    this.#faults.push(...(await hostFaults(evidence, asJson(this.#assert["host"], "host"))));
  }
}

const unlessKind = (reply: Reply, kind: string): string[] =>
  reply.isError && reply.kind === kind ? [] : [`expected an error of kind ${kind}, got ${reply.summary}`];
