import { ArgumentPlans, type ArgumentOptions } from "../../src/calls/arguments.js";
import { RunCalls } from "../../src/calls/call-tool.js";
import { resolveRunLimits, type Limits } from "../../src/calls/limits.js";
import type { CallPolicy } from "../../src/calls/policy.js";
import { Catalog } from "../../src/catalog/catalog.js";
import { withoutParameters } from "../../src/catalog/hidden-parameters.js";
import type { ToolSource } from "../../src/catalog/tool.js";
import { isPlainJson } from "../../src/sandbox/values/plain.js";

export interface Setup extends ArgumentOptions {
  sources?: readonly ToolSource[];
  limits?: Limits;
  policy?: CallPolicy;
  callerId?: string;
  signal?: AbortSignal;
  metaToolNames?: readonly string[];
}

/** The calls of one run over real sources, as an engine wires them. */
export function runCalls(source: ToolSource, setup: Setup = {}): RunCalls {
  const plans = new ArgumentPlans(setup);
  const show = (tool: Parameters<typeof withoutParameters>[0]) => withoutParameters(tool, plans.for(tool).hidden);
  const catalog = new Catalog({ source, sources: setup.sources, show });
  const context = { signal: setup.signal ?? new AbortController().signal, callerId: setup.callerId };
  return new RunCalls({
    catalog: catalog.view(context),
    limits: resolveRunLimits(setup.limits),
    plans,
    policy: setup.policy,
    context,
    metaToolNames: new Set(setup.metaToolNames),
  });
}

/** What was thrown, with what a script sees of it. Fails when nothing was. */
export async function thrownBy(call: Promise<unknown>): Promise<{ kind: string; message: string; details: unknown }> {
  const value: unknown = await call.then(
    () => {
      throw new Error("nothing was thrown");
    },
    (error: unknown) => error,
  );
  const { kind, message, details } = value as { kind: string; message: string; details: unknown };
  if (kind === undefined) throw value;
  if (details !== undefined && !isPlainJson(details)) throw new Error("details are not plain JSON");
  return { kind, message, details };
}
