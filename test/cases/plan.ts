import { asJson, asList, asStrings, asText, type Json, knownKeys, Todo } from "./case.js";
import { checkUpstreams } from "./gateway-host.js";
import type { WorldParts } from "./world.js";

/** One server of a case. */
export interface ServerPlan {
  parts: WorldParts;
}

/** One execute of a case. */
export interface ScriptRun {
  code: string;
  index: number;
  label: string | undefined;
  /** Head of its faults. */
  name: string;
  /** For a run that `mix` has replaced: how it has to fail. */
  expectKind?: string;
}

/** The servers that a case asks for: every catalog or order of the tools, under every config. */
export function serverPlans(input: Json): ServerPlan[] {
  const { tools, catalogs, alsoOrder, alsoVia, config, configVariants } = input;
  if (![undefined, "reversed"].includes(alsoOrder as string)) throw new Todo(`alsoOrder: ${String(alsoOrder)}`);
  const given = asList(tools ?? [], "tools");
  const lists = catalogs === undefined ? [given] : asList(catalogs, "catalogs").map((list) => asList(list, "catalog"));
  if (alsoOrder === "reversed") lists.push(given.toReversed());
  const configs = configVariants === undefined ? [config ?? {}] : asList(configVariants, "configVariants");
  if (![undefined, "gateway"].includes(alsoVia as string)) throw new Todo(`alsoVia: ${String(alsoVia)}`);
  return configs.flatMap((one) => {
    const parts = lists.map((list) => partsOf(input, list, asJson(one, "config")));
    return [...parts, ...(alsoVia === "gateway" ? parts.map(viaGateway) : [])].map((each) => ({ parts: each }));
  });
}

/** The same tools behind an upstream, under the same names. */
function viaGateway({ tools, ...parts }: WorldParts): WorldParts {
  const upstreams = [{ id: "upstream", prefix: "", tools }];
  checkUpstreams(upstreams);
  return { ...parts, tools: [], upstreams };
}

function partsOf(input: Json, tools: unknown[], config: Json): WorldParts {
  const steps = [...asList(input["steps"] ?? [], "steps"), ...asList(input["then"] ?? [], "then")];
  const requires = tools.some((tool) => asJson(tool, "tool")["requires"] !== undefined);
  const enables = steps.some(
    (step) => asJson(step, "step")["do"] === "enableTool" && asJson(step, "step")["caller"] !== undefined,
  );
  return {
    tools,
    config,
    transport: input["transport"],
    perCaller: requires || enables || input["callers"] !== undefined,
    ...(input["upstreams"] === undefined ? {} : { upstreams: asList(input["upstreams"], "upstreams") }),
    ...(input["env"] === undefined ? {} : { env: input["env"] }),
    listToolsFirst: input["via"] === "client-after-listTools",
  };
}

/** The executes of a case, in groups that share a server. */
export function plannedRuns(input: Json): ScriptRun[][] {
  const { script, variants, runs, repeatWithFence, repeat, mix } = input;
  if (variants !== undefined) return alone(asStrings(variants, "variants"));
  if (runs !== undefined) return labelled(asJson(runs, "runs"));
  if (script === undefined) return [];
  const code = asText(script, "script");
  if (repeatWithFence !== undefined)
    return alone(asStrings(repeatWithFence, "repeatWithFence").map((word) => fenced(code, word)));
  if (repeat !== undefined) return [repeated(code, Number(repeat), shares(mix))];
  return [[{ code, index: 0, label: undefined, name: "" }]];
}

const alone = (codes: readonly string[]): ScriptRun[][] =>
  codes.map((code, index) => [{ code, index, label: undefined, name: `variant ${index + 1}: ` }]);

const labelled = (runs: Json): ScriptRun[][] =>
  Object.entries(runs).map(([label, code], index) => [{ code: String(code), index, label, name: `run ${label}: ` }]);

/** The script with another word behind the fence of its first line. */
const fenced = (code: string, word: string): string =>
  code.replace(/^(```+|~~~+)js/, (_all, fence: string) => fence + word);

/** Scripts that fail, by how. */
const FAILING: Readonly<Record<string, { code: string; kind: string }>> = {
  timeout: { code: "for (;;) {}", kind: "timeout" },
  throws: { code: "throw new Error('mixed in')", kind: "runtime" },
  memory: { code: "const a = []; for (;;) a.push('x'.repeat(1e4) + a.length);", kind: "memory" },
};

/** Shares of failing runs: one number for all kinds together, or one for each. */
function shares(mix: unknown): Map<string, number> {
  if (mix === undefined) return new Map();
  const kinds = Object.keys(FAILING);
  if (typeof mix === "number") return new Map(kinds.map((kind) => [kind, mix / kinds.length]));
  const given = asJson(mix, "mix");
  knownKeys(given, kinds, "mix");
  return new Map(Object.entries(given).map(([kind, share]) => [kind, Number(share)]));
}

/** Repetitions on one server, the failing ones spread evenly. */
function repeated(code: string, times: number, mix: ReadonlyMap<string, number>): ScriptRun[] {
  return Array.from({ length: times }, (_, index): ScriptRun => {
    const name = `run ${index + 1}: `;
    const due = [...mix].find(([, share]) => Math.floor((index + 1) * share) > Math.floor(index * share));
    const failing = due === undefined ? undefined : FAILING[due[0]];
    if (failing === undefined) return { code, index, label: undefined, name };
    return { code: failing.code, index, label: undefined, name, expectKind: failing.kind };
  });
}
