import { asJson, asStrings, type Json, Todo } from "./case.js";
import { matches, sameJson, shown } from "./compare.js";
import type { GatewayFacts } from "./gateway-host.js";
import { childProcesses, type Measured } from "./host-facts.js";
import type { ProbeFacts } from "./probes.js";
import type { World } from "./world.js";

/** What facts are read from. */
export interface HostEvidence {
  measured: Measured;
  worlds: readonly World[];
  probe: ProbeFacts;
  /** The case runs steps: memory counts at its end, not at its peak. */
  steps: boolean;
  /** Alias maps that steps have stored: original name -> alias. */
  aliases: readonly ReadonlyMap<string, string>[];
}

/** Says what was found instead, or nothing. */
type Assertion = (evidence: HostEvidence, wanted: unknown) => unknown;

const HOLDS = Symbol("holds");

/** A fact that must be the wanted value. */
const exactly =
  (read: (evidence: HostEvidence) => unknown): Assertion =>
  async (evidence, wanted) => {
    const found = await read(evidence);
    return sameJson(found, wanted) ? HOLDS : found;
  };

/** A number that must not be over the wanted one. */
const atMost =
  (read: (evidence: HostEvidence) => Promise<number> | number): Assertion =>
  async (evidence, wanted) => {
    const found = await read(evidence);
    return found <= Number(wanted) ? HOLDS : found;
  };

const sumOver = (worlds: readonly World[], read: (world: World) => number): number =>
  worlds.reduce((sum, world) => sum + read(world), 0);

async function overConnections(worlds: readonly World[], read: "listChanged" | "elicited"): Promise<number> {
  const connections = await Promise.all(worlds.map((world) => world.connections));
  return connections.flat().reduce((sum, connection) => sum + connection[read](), 0);
}

const outerNames = async ({ worlds }: HostEvidence): Promise<string[]> =>
  (await Promise.all(worlds.map((world) => world.listTools()))).flat().map(({ name }) => name);

/** Of the only gateway of the case. */
async function gatewayFacts({ worlds }: HostEvidence): Promise<GatewayFacts> {
  const gateway = worlds.map((world) => world.gateway).find((host) => host !== undefined);
  if (gateway === undefined) throw new Todo("this fact needs a gateway");
  return gateway.facts();
}

/** Works after everything: on the same servers, by one more script. */
async function isAlive({ worlds }: HostEvidence): Promise<boolean> {
  const usable = worlds.filter((world) => !world.refused);
  const values = await Promise.all(usable.map(async (world) => (await world.execute("return 1")).value));
  return values.every((value) => value === 1);
}

const ASSERTIONS: Readonly<Record<string, Assertion>> = {
  alive: exactly(isAlive),
  unhandledRejections: exactly(({ measured }) => measured.unhandledRejections),
  uncaughtExceptions: exactly(({ measured }) => measured.uncaughtExceptions),
  maxMs: atMost(({ measured }) => measured.ms),
  maxEventLoopBlockMs: atMost(({ measured }) => measured.maxEventLoopBlockMs),
  maxRssGrowthMb: atMost(({ measured, steps }) => (steps ? measured.finalRssGrowthMb : measured.peakRssGrowthMb)),
  exitsWithinMs: atMost(({ probe }) => probe.exitMs ?? Number.POSITIVE_INFINITY),
  signalAborted: exactly(({ worlds }) => sumOver(worlds, ({ fixture }) => fixture.abortedSignals) > 0),
  liveEngines: exactly(({ measured }) => measured.liveEngines),
  activeTimers: exactly(({ measured }) => measured.activeTimers),
  maxInFlight: exactly(({ worlds }) => Math.max(...worlds.map(({ fixture }) => fixture.maxInFlight))),
  objectPrototypeUnchanged: exactly(({ measured }) => measured.objectPrototypeUnchanged),
  defaultsUnchanged: exactly(({ worlds }) => worlds.every((world) => world.defaultsUnchanged)),
  networkRequests: exactly(({ measured }) => measured.networkRequests),
  fileReads: ({ measured }, wanted) => (measured.fileReads.length === wanted ? HOLDS : measured.fileReads),
  outputExcludes: ({ measured, worlds }, wanted) => {
    const said = worlds.flatMap(({ replies, gateway }) => [
      ...replies.map((reply) => reply.everything),
      ...(gateway?.log ?? []),
    ]);
    const everything = [measured.output, ...said];
    const found = asStrings(wanted, "outputExcludes").filter((part) => everything.some((text) => text.includes(part)));
    return found.length === 0 ? HOLDS : found;
  },
  outerNamesMatch: async (evidence, wanted) => {
    const names = (await outerNames(evidence)).filter((name) => !matches(name, wanted));
    return names.length === 0 ? HOLDS : names;
  },
  distinctNames: exactly(async (evidence) => {
    const perWorld = await Promise.all(evidence.worlds.map((world) => outerNames({ ...evidence, worlds: [world] })));
    return perWorld.every((names) => new Set(names).size === names.length);
  }),
  aliasesStable: exactly(({ aliases }) => isStable(aliases)),
  listChangedNotifications: exactly(({ worlds }) => overConnections(worlds, "listChanged")),
  middlewareCalls: exactly(({ worlds }) => sumOver(worlds, ({ fixture }) => fixture.middlewareCalls)),
  elicited: exactly(({ worlds }) => overConnections(worlds, "elicited")),
  maxDescriptionChars: atMost(async ({ worlds }) => {
    const tools = (await Promise.all(worlds.map((world) => world.listTools()))).flat();
    return Math.max(...tools.map(({ description }) => description?.length ?? 0));
  }),
  docExamplesPass: exactly(
    ({ probe }) => probe.docFaults === undefined || probe.docFaults.length === 0 || probe.docFaults,
  ),
  children: (_evidence, wanted) => {
    const children = childProcesses();
    return children.length === wanted ? HOLDS : children;
  },
  stdoutClean: exactly(({ measured }) => measured.stdout === ""),
  distinctExposedNames: exactly(async (evidence) => {
    const { tools } = await gatewayFacts(evidence);
    return new Set(tools).size === tools.length || tools;
  }),
  tools: async (evidence, wanted) => {
    const { tools } = await gatewayFacts(evidence);
    const holds = typeof wanted === "number" ? tools.length === wanted : sameJson(tools, wanted);
    return holds ? HOLDS : tools;
  },
  maxStarts: async (evidence, wanted) => {
    const { starts } = await gatewayFacts(evidence);
    const over = Object.entries(asJson(wanted, "maxStarts")).filter(
      ([id, most]) => !((starts.get(id) ?? 0) <= Number(most)),
    );
    return over.length === 0 ? HOLDS : Object.fromEntries(starts);
  },
  maxRelists: atMost(async (evidence) => (await gatewayFacts(evidence)).relists),
  startMs: atMost(async (evidence) => (await gatewayFacts(evidence)).startMs),
  failedUpstreams: exactly(async (evidence) => (await gatewayFacts(evidence)).failedUpstreams),
  listenersCalled: exactly(async (evidence) => (await gatewayFacts(evidence)).listenersCalled),
  refreshes: exactly(async (evidence) => (await gatewayFacts(evidence)).refreshes),
  packOk: exactly(({ probe }) => probe.packFault ?? true),
  bundleOk: exactly(({ probe }) => probe.bundleFault ?? true),
};

/** Facts that only an OpenAPI import has: cases about those check them. */
const LATER = new Set(["importMs", "specUnchanged"]);

/** The facts that can be asserted. */
export const HOST_KEYS: readonly string[] = Object.keys(ASSERTIONS);

/** @throws {Todo} for a fact that is not known, before anything is run. */
export function checkHostKeys(wanted: unknown): void {
  for (const key of Object.keys(asJson(wanted, "host"))) {
    if (LATER.has(key)) throw new Todo(`host.${key} needs the OpenAPI import`);
    if (!(key in ASSERTIONS)) throw new Todo(`host: unknown key ${key}`);
  }
}

/** What is wrong with the process and the servers. */
export async function hostFaults(evidence: HostEvidence, wanted: Json): Promise<string[]> {
  const faults: string[] = [];
  for (const [key, value] of Object.entries(wanted)) {
    const found = await ASSERTIONS[key]?.(evidence, value);
    if (found !== HOLDS) faults.push(`host.${key} should be ${shown(value)}, found ${shown(found)}`);
  }
  return faults;
}

function isStable(maps: readonly ReadonlyMap<string, string>[]): boolean {
  const known = new Map<string, string>();
  for (const [name, alias] of maps.flatMap((map) => [...map])) {
    if ((known.get(name) ?? alias) !== alias) return false;
    known.set(name, alias);
  }
  return maps.length > 0;
}
