import { setTimeout as sleep } from "node:timers/promises";
import { asJson, asList, asStrings, asText, type Json, knownKeys, Todo } from "./case.js";
import { matches, sameJson, shown } from "./compare.js";
import type { GatewayHost } from "./gateway-host.js";
import { checkHostKeys } from "./host-assertions.js";
import type { Reply } from "./reply.js";
import { REPLY_KEYS, replyFaults } from "./reply-assertions.js";
import { SEARCH_KEYS, searchFaults } from "./search-assertions.js";
import { callerOf, type Sender, World, type WorldParts } from "./world.js";

/** A background run: its reply, and the way to cancel it. */
interface Background {
  reply: Promise<Reply>;
  cancel: AbortController;
}

/** The steps of a case as they go: worlds, background runs, sessions, and what was wrong so far. */
export class StepRun {
  readonly faults: string[] = [];
  readonly aliases: ReadonlyMap<string, string>[] = [];
  readonly #parts: WorldParts;
  readonly worlds: World[];
  readonly #background: Background[] = [];
  readonly #sessions: string[] = [];
  #id = 0;

  constructor(parts: WorldParts, world = new World(parts)) {
    this.#parts = parts;
    this.worlds = [world];
  }

  /** The server that steps are about now. */
  get world(): World {
    return this.worlds.at(-1) as World;
  }

  async run(steps: readonly unknown[]): Promise<void> {
    for (const step of steps) await this.step(asJson(step, "step"));
  }

  async step(step: Json): Promise<void> {
    const kind = STEPS[String(step["do"])];
    if (kind === undefined) throw new Todo(`no step ${shown(step["do"])}`);
    knownKeys(step, ["do", "expect", ...kind.keys], `step ${String(step["do"])}`);
    await kind.run(this, step);
  }

  fault(step: Json, faults: readonly string[]): void {
    this.faults.push(...faults.map((text) => `step ${String(step["do"])}: ${text}`));
  }

  /** Starts an execute; the world is that of now, or one of its own when the step has a config. */
  start(step: Json): Background {
    const world = step["config"] === undefined ? this.world : this.#own(step["config"]);
    const cancel = new AbortController();
    const reply = world.execute(String(step["script"]), { ...this.sender(step), signal: cancel.signal });
    return { reply, cancel };
  }

  #own(config: unknown): World {
    const world = new World({ ...this.#parts, config: asJson(config, "step.config") });
    this.worlds.unshift(world);
    return world;
  }

  keep(background: Background): void {
    this.#background.push(background);
  }

  get newest(): Background {
    const newest = this.#background.at(-1);
    if (newest === undefined) throw new Todo("no background run");
    return newest;
  }

  /** All background runs, in start order; then none is left. */
  awaitAll(): Promise<Reply[]> {
    return Promise.all(this.#background.splice(0).map(({ reply }) => reply));
  }

  sender(step: Json): Sender {
    const { caller, session, id, restart } = step;
    const args = { ...asJson(step["arguments"] ?? {}, "arguments"), ...(restart === undefined ? {} : { restart }) };
    return {
      caller: callerOf(caller),
      session: session === undefined ? undefined : asText(session, "session"),
      id,
      args,
    };
  }

  newWorld(step: Json): void {
    const { tools, capabilities } = step;
    this.worlds.push(
      new World({
        ...this.#parts,
        tools: asList(tools ?? [], "newServer.tools"),
        capabilities: capabilities === undefined ? undefined : asJson(capabilities, "capabilities"),
      }),
    );
  }

  async openSessions(step: Json): Promise<void> {
    const opened = Array.from({ length: Number(step["count"]) }, () => `opened-${++this.#id}`);
    this.#sessions.push(...opened);
    const replies = await Promise.all(opened.map((session) => this.world.execute(String(step["script"]), { session })));
    this.fault(
      step,
      replies.filter(({ isError }) => isError).map(({ summary }) => summary),
    );
  }

  async closeSessions(step: Json): Promise<void> {
    for (const session of this.#sessions.splice(0, Number(step["count"]))) await this.world.disconnect(session);
  }

  async close(): Promise<void> {
    for (const world of this.worlds) await world.close();
  }
}

interface Step {
  keys: readonly string[];
  run(run: StepRun, step: Json): Promise<void>;
}

const RUN_KEYS = ["script", "arguments", "config", "caller", "session", "restart", "id", "background"];

const STEPS: Readonly<Record<string, Step>> = {
  execute: { keys: RUN_KEYS, run: executeStep },
  await: { keys: [], run: awaitStep },
  cancel: {
    keys: [],
    run: async (run) => run.newest.cancel.abort(),
  },
  search: { keys: ["query", "limit", "filter", "caller"], run: searchStep },
  callMeta: { keys: ["tool", "arguments", "caller"], run: callMetaStep },
  callTool: { keys: ["name", "arguments", "caller"], run: callToolStep },
  listTools: { keys: [], run: listToolsStep },
  newServer: { keys: ["tools", "capabilities"], run: async (run, step) => run.newWorld(step) },
  connect: { keys: [], run: connectStep },
  capabilities: { keys: [], run: capabilitiesStep },
  addTool: { keys: ["tool"], run: async (run, step) => void run.world.fixture.add(step["tool"]) },
  updateTool: {
    keys: ["name", "set"],
    run: async (run, step) => run.world.fixture.update(step["name"], asJson(step["set"], "updateTool.set")),
  },
  removeTool: { keys: ["name"], run: async (run, step) => run.world.fixture.remove(step["name"]) },
  enableTool: { keys: ["name", "caller"], run: enableStep },
  aliases: { keys: ["save"], run: aliasesStep },
  wait: {
    keys: ["ms"],
    run: async (_run, step) => {
      await sleep(Number(step["ms"]));
    },
  },
  repeat: { keys: ["times", "steps"], run: repeatStep },
  parallel: { keys: ["steps"], run: parallelStep },
  listen: {
    keys: ["upstream", "events"],
    run: (run, step) => gatewayOf(run).listen(String(step["upstream"]), asStrings(step["events"], "listen.events")),
  },
  killUpstream: { keys: ["upstream"], run: (run, step) => gatewayOf(run).kill(String(step["upstream"])) },
  closeGateway: { keys: [], run: closeGatewayStep },
  openSessions: { keys: ["count", "script"], run: (run, step) => run.openSessions(step) },
  closeSessions: { keys: ["count"], run: (run, step) => run.closeSessions(step) },
};

function gatewayOf(run: StepRun): GatewayHost {
  if (run.world.gateway === undefined) throw new Todo("the case has no gateway");
  return run.world.gateway;
}

async function closeGatewayStep(run: StepRun, step: Json): Promise<void> {
  const { maxMs, ...rest } = asJson(step["expect"] ?? {}, "closeGateway.expect");
  knownKeys(rest, [], "closeGateway.expect");
  const start = performance.now();
  await (await gatewayOf(run).gateway).close();
  const ms = performance.now() - start;
  if (maxMs !== undefined && ms > Number(maxMs)) run.fault(step, [`took ${ms.toFixed(0)} ms, at most ${shown(maxMs)}`]);
}

async function executeStep(run: StepRun, step: Json): Promise<void> {
  const started = run.start(step);
  if (step["background"] === true) run.keep(started);
  else run.fault(step, expectFaults(await started.reply, step["expect"]));
}

/** What is wrong with one reply; `host.maxMs` is about this reply alone. */
export function expectFaults(reply: Reply, expect: unknown, extra: readonly string[] = []): string[] {
  if (expect === undefined) return [];
  const { host = {}, ...wanted } = asJson(expect, "expect");
  knownKeys(wanted, [...REPLY_KEYS, ...extra], "expect");
  checkHostKeys(host);
  const { maxMs, ...rest } = asJson(host, "expect.host");
  if (Object.keys(rest).length > 0) throw new Todo(`expect.host: only maxMs is known of one step`);
  const slow =
    maxMs !== undefined && reply.ms > Number(maxMs) ? [`took ${reply.ms.toFixed(0)} ms, at most ${shown(maxMs)}`] : [];
  return [...replyFaults(reply, wanted, { index: 0, label: undefined }), ...slow];
}

async function awaitStep(run: StepRun, step: Json): Promise<void> {
  const replies = await run.awaitAll();
  const expected = step["expect"] === undefined ? [] : asList(step["expect"], "await.expect");
  if (expected.length > replies.length)
    run.fault(step, [`${expected.length} expected, ${replies.length} in the background`]);
  replies.forEach((reply, index) => run.fault(step, expectFaults(reply, expected[index])));
}

async function searchStep(run: StepRun, step: Json): Promise<void> {
  const { query, limit, filter } = step;
  const search = await run.world.search(searchArguments({ query, limit, filter }), run.sender(step));
  run.fault(step, searchFaults([search], asJson(step["expect"] ?? {}, "search.expect")));
}

/** The arguments of the search tool. */
export function searchArguments({ query, limit, filter }: Json): Json {
  const { server, ...rest } = asJson(filter ?? {}, "filter");
  if (Object.keys(rest).length > 0) throw new Todo(`filter: unknown key ${Object.keys(rest).join(", ")}`);
  return {
    ...(query === undefined ? {} : { query }),
    ...(limit === undefined ? {} : { limit }),
    ...(server === undefined ? {} : { server }),
  };
}

async function callMetaStep(run: StepRun, step: Json): Promise<void> {
  const { world } = run;
  const role = step["tool"];
  if (role !== "search" && role !== "execute") throw new Todo(`no meta-tool ${shown(role)}`);
  if (role === "execute") {
    run.fault(
      step,
      expectFaults(await world.callTool(world.names.execute, step["arguments"], asSender(run, step)), step["expect"]),
    );
    return;
  }
  const search = await world.search(asJson(step["arguments"] ?? {}, "arguments"), asSender(run, step));
  const expect = asJson(step["expect"] ?? {}, "expect");
  const own = Object.fromEntries(Object.entries(expect).filter(([key]) => REPLY_KEYS.includes(key)));
  const rest = Object.fromEntries(Object.entries(expect).filter(([key]) => !REPLY_KEYS.includes(key)));
  knownKeys(rest, SEARCH_KEYS, "expect");
  run.fault(step, [...expectFaults(search.reply, own), ...searchFaults([search], rest)]);
}

const asSender = (run: StepRun, step: Json): Sender => ({ ...run.sender({ caller: step["caller"] }) });

async function callToolStep(run: StepRun, step: Json): Promise<void> {
  const reply = await run.world.callTool(String(step["name"]), step["arguments"] ?? {}, asSender(run, step));
  const { structuredContent, ...expect } = asJson(step["expect"] ?? {}, "expect");
  run.fault(step, expectFaults(reply, expect));
  const found = reply.result?.structuredContent;
  if (structuredContent !== undefined && !sameJson(found, structuredContent)) {
    run.fault(step, [`structuredContent should be ${shown(structuredContent)}, is ${shown(found)}: ${reply.summary}`]);
  }
}

async function listToolsStep(run: StepRun, step: Json): Promise<void> {
  const expect = asJson(step["expect"] ?? {}, "expect");
  knownKeys(expect, ["includes", "excludes", "namesMatch", "maxMs"], "listTools.expect");
  const start = performance.now();
  const names = (await run.world.listTools()).map(({ name }) => name);
  const ms = performance.now() - start;
  const { includes = [], excludes = [], namesMatch, maxMs = Number.POSITIVE_INFINITY } = expect;
  const holds =
    asList(includes, "includes").every((name) => names.includes(String(name))) &&
    asList(excludes, "excludes").every((name) => !names.includes(String(name))) &&
    (namesMatch === undefined || names.every((name) => matches(name, namesMatch))) &&
    ms <= Number(maxMs);
  if (!holds) run.fault(step, [`expected ${shown(expect)}, got ${shown(names)} after ${ms.toFixed(0)} ms`]);
}

async function connectStep(run: StepRun, step: Json): Promise<void> {
  const { maxMs, ...rest } = asJson(step["expect"] ?? {}, "expect");
  knownKeys(rest, [], "connect.expect");
  const start = performance.now();
  await run.world.connection();
  const ms = performance.now() - start;
  if (maxMs !== undefined && ms > Number(maxMs)) run.fault(step, [`took ${ms.toFixed(0)} ms`]);
}

async function capabilitiesStep(run: StepRun, step: Json): Promise<void> {
  const expect = asJson(step["expect"] ?? {}, "expect");
  knownKeys(expect, ["at", "value", "valueAnyOf"], "capabilities.expect");
  let found: unknown = (await run.world.connection()).capabilities();
  for (const key of String(expect["at"]).split(".")) found = (found as Json | undefined)?.[key];
  const allowed = "valueAnyOf" in expect ? asList(expect["valueAnyOf"], "valueAnyOf") : [expect["value"]];
  if (!allowed.some((value) => sameJson(found ?? null, value))) {
    run.fault(step, [`${String(expect["at"])} should be one of ${shown(allowed)}, is ${shown(found)}`]);
  }
}

async function enableStep(run: StepRun, step: Json): Promise<void> {
  const { authInfo, sessionId } = callerOf(step["caller"]);
  run.world.fixture.enable(step["name"], sessionId ?? (authInfo as { clientId?: string } | undefined)?.clientId);
}

/** How scripts call each tool, as a serializer is told. */
async function aliasesStep(run: StepRun, step: Json): Promise<void> {
  if (step["save"] !== true) throw new Todo("aliases: only save is known");
  const { context } = await run.world.search({ query: "" });
  if (context.identifiers === undefined) throw new Todo("the library does not say how scripts call its tools");
  run.aliases.push(new Map(context.identifiers));
}

async function repeatStep(run: StepRun, step: Json): Promise<void> {
  for (let time = 0; time < Number(step["times"]); time++) await run.run(asList(step["steps"], "repeat.steps"));
}

/** Starts all together. Runs with one JSON-RPC id on one connection may be answered in any order. */
async function parallelStep(run: StepRun, step: Json): Promise<void> {
  const steps = asList(step["steps"], "parallel.steps").map((inner) => asJson(inner, "step"));
  const ids = steps.map(({ id, session, caller }) =>
    id === undefined ? undefined : JSON.stringify([id, session, caller]),
  );
  const shared = ids.some((id, index) => id !== undefined && ids.indexOf(id) !== index);
  if (!shared) {
    await Promise.all(steps.map((inner) => run.step(inner)));
    return;
  }
  const replies = await Promise.all(steps.map((inner) => run.start(inner).reply));
  for (const inner of steps) {
    const found = replies.findIndex((reply) => expectFaults(reply, inner["expect"]).length === 0);
    if (found < 0) run.fault(inner, expectFaults(replies[0] as Reply, inner["expect"]));
    else replies.splice(found, 1);
  }
}
