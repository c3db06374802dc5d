import type { CodeModeOptions } from "../options.js";
import type { LogEntry, SandboxProvider } from "../sandbox/provider.js";
import { quickJsSandbox } from "../sandbox/quickjs/provider.js";

/** Options of {@link Gateway.run} and {@link Gateway.runFile}. */
export interface RunOptions {
  /** What the script reads as `env`: nothing of the gateway's own environment. @default {} */
  env?: Readonly<Record<string, string>>;
  /** What the script reads as `args`. @default [] */
  args?: readonly string[];
  /** What the script reads as `inputs`. */
  inputs?: Readonly<Record<string, unknown>>;
  /** Longest time, in milliseconds. @default `limits.timeoutMs` of the configuration */
  timeoutMs?: number;
  /** False: console output is not part of the result. @default true */
  captureOutput?: boolean;
  /** Gets each line of console output when it is written. */
  onLog?: (entry: LogEntry) => void;
  signal?: AbortSignal;
}

/** The options of an engine for one run: the gateway's, with the globals and the time limit of this run. */
export function optionsForRun(options: CodeModeOptions, run: RunOptions): CodeModeOptions {
  const provider = options.sandboxProvider ?? quickJsSandbox();
  const limits = run.timeoutMs === undefined ? options.limits : { ...options.limits, timeoutMs: run.timeoutMs };
  return {
    ...options,
    ...(limits === undefined ? {} : { limits }),
    sandboxProvider: withGlobals(provider, run),
  };
}

/** The same sandbox with further globals: what a host gives a script, and no client can. */
function withGlobals(provider: SandboxProvider, { env = {}, args = [], onLog }: RunOptions): SandboxProvider {
  return {
    name: provider.name,
    ...(provider.accepts === undefined ? {} : { accepts: provider.accepts }),
    run: (code, options) =>
      provider.run(code, {
        ...options,
        inputs: { ...options.inputs, env: { ...env }, args: [...args] },
        onLog: (entry) => {
          onLog?.(entry);
          options.onLog?.(entry);
        },
      }),
  };
}
