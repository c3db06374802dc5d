import type { CatalogView } from "../catalog/catalog.js";
import type { CallContext } from "../catalog/tool.js";
import type { RunCalls } from "../calls/call-tool.js";
import { CodeModeError } from "../errors.js";
import { portablePrelude } from "../sandbox/portable-prelude.js";
import type { CallAnswer, LogEntry, SandboxResult, SandboxRunOptions, ScriptError } from "../sandbox/provider.js";
import { toFunctionBody } from "../sandbox/script.js";
import { discoveryFunctions } from "./discovery-functions.js";
import { progressFunction, type RunProgress } from "./progress.js";
import type { RunParts } from "./run-script.js";

/** What a script in the sandbox reaches on the host. */
export interface ScriptHost {
  parts: RunParts;
  calls: RunCalls;
  view: CatalogView;
  context: CallContext;
  progress: RunProgress | undefined;
  /** Text of the script. */
  code: string;
}

/** How one part of a run is started: what it has left of its limits, and what it starts from. */
export type PartOptions = Pick<SandboxRunOptions, "inputs" | "from" | "keepSnapshot"> & {
  /** null: none. */
  timeoutMs?: number | null | undefined;
  cpuMs?: number | null | undefined;
};

/** Runs a script until it ends or is paused. Never rejects. */
export async function startScript(host: ScriptHost, part: PartOptions, logs: LogEntry[]): Promise<SandboxResult> {
  const { sandbox } = host.parts;
  if (sandbox.accepts === "script")
    return settled(logs, (onLog) => sandbox.run(host.code, optionsOf(host, part, onLog)));
  // A provider without a prelude of its own gets the body of an async function that builds one.
  const read = await toFunctionBody(host.code);
  if ("error" in read) return { status: "failed", error: read.error };
  const body = portablePrelude(read.body);
  const result = await settled(logs, (onLog) => sandbox.run(body, optionsOf(host, part, onLog)));
  return { ...result, notes: [...read.notes, ...(result.notes ?? [])] };
}

/** Goes on with a paused script until it ends or is paused again. Never rejects. */
export async function continueScript(
  host: ScriptHost,
  paused: { snapshot: Uint8Array; answers: readonly CallAnswer[] },
  part: PartOptions,
  logs: LogEntry[],
): Promise<SandboxResult> {
  const { sandbox } = host.parts;
  return settled(logs, async (onLog) => {
    if (sandbox.resume === undefined) return { status: "failed", error: CANNOT_RESUME };
    return sandbox.resume(paused.snapshot, paused.answers, { ...optionsOf(host, part, onLog), code: host.code });
  });
}

const CANNOT_RESUME: ScriptError = {
  kind: "sandbox",
  name: "SandboxError",
  message: "The sandbox of this server cannot go on with paused scripts.",
};

type OnLog = (entry: LogEntry) => void;

function optionsOf(host: ScriptHost, part: PartOptions, onLog: OnLog): SandboxRunOptions {
  const { parts, calls, view, context, progress } = host;
  const { timeoutMs, cpuMs, ...start } = part;
  return {
    externalFunctions: {
      call_tool: (name: unknown, ...given: unknown[]) => calls.callTool(name, ...given),
      progress: progressFunction(progress),
      ...discoveryFunctions(calls, view, parts.settings, context),
    },
    limits: {
      ...parts.sandboxLimits,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(cpuMs === undefined ? {} : { cpuMs }),
    },
    signal: context.signal,
    resultOverflow: "truncate",
    onLog,
    ...start,
  };
}

/** What the script printed goes to `logs`, whether the provider tells it line by line or at the end. */
async function settled(logs: LogEntry[], run: (onLog: OnLog) => Promise<unknown>): Promise<SandboxResult> {
  const heard: LogEntry[] = [];
  try {
    const given = await run((entry) => heard.push(entry));
    const result: SandboxResult = isSandboxResult(given) ? given : { status: "completed", value: given };
    logs.push(...(result.logs ?? heard));
    return result;
  } catch (error) {
    logs.push(...heard);
    return { status: "failed", error: sandboxFailure(error) };
  }
}

const STATUSES: ReadonlySet<unknown> = new Set(["completed", "failed", "suspended"]);

function isSandboxResult(result: unknown): result is SandboxResult {
  return typeof result === "object" && result !== null && STATUSES.has((result as { status?: unknown }).status);
}

/** A provider that rejects was called wrongly or is broken; only errors of this package are written for readers. */
function sandboxFailure(error: unknown): ScriptError {
  const message = CodeModeError.isInstance(error) ? error.message : "The sandbox failed before the script could run.";
  const kind = CodeModeError.isInstance(error) ? error.kind : "sandbox";
  return { kind, name: "SandboxError", message };
}
