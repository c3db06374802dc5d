import { messageOf, type ErrorKind } from "../errors.js";
import type { SandboxProvider, SandboxResult, SandboxRunOptions, ScriptError } from "../sandbox/provider.js";

/** One promise of a sandbox, in words, and how to find out. */
export interface Check {
  /** The promise, as a sentence about the sandbox. */
  name: string;
  /** Throws when the promise is broken. Resolves to the reason when it does not apply to this provider. */
  verify(bench: Bench): Promise<string | void>;
}

/** A broken promise. Its message says what was wanted and what came. */
export class BrokenPromise extends Error {
  override readonly name = "BrokenPromise";
}

/** Long enough for a slow machine, short enough that a suite with a few hanging runs still ends. */
const RUN_TIMEOUT_MS = 5_000;
/** A run has to end by itself this long after its own deadline; later counts as "never ends". */
const GRACE_MS = 3_000;

/** A provider under test. Every run has a deadline of its own, so that a provider that never answers is a finding, not a hang. */
export class Bench {
  readonly #provider: SandboxProvider;
  /** What `code` is for this provider. */
  readonly accepts: "script" | "function-body";

  constructor(provider: SandboxProvider) {
    this.#provider = provider;
    this.accepts = provider.accepts ?? "function-body";
  }

  get providerName(): unknown {
    return this.#provider.name;
  }

  /** The outcome of a run; a bare value is read as completed, as the contract says. */
  async run(code: string, options: SandboxRunOptions = {}): Promise<SandboxResult> {
    const limits = { timeoutMs: RUN_TIMEOUT_MS, ...options.limits };
    const started = this.#start(code, { ...options, limits });
    const outcome = await withinMs((limits.timeoutMs ?? RUN_TIMEOUT_MS) + GRACE_MS, started);
    return asResult(outcome);
  }

  async #start(code: string, options: SandboxRunOptions): Promise<unknown> {
    try {
      return await this.#provider.run(code, options);
    } catch (error) {
      throw new BrokenPromise(`run() rejected instead of resolving to a failed result: ${messageOf(error)}`);
    }
  }

  /** The value of a run that has to succeed. */
  async value(code: string, options?: SandboxRunOptions): Promise<unknown> {
    const result = await this.run(code, options);
    if (result.status === "completed") return result.value;
    if (result.status === "suspended") throw new BrokenPromise("the run was suspended and nobody asked for it");
    throw new BrokenPromise(`the run failed: ${result.error.kind}: ${result.error.message}`);
  }

  /** The error of a run that has to fail. */
  async error(code: string, options?: SandboxRunOptions): Promise<ScriptError> {
    const result = await this.run(code, options);
    if (result.status === "failed") return result.error;
    if (result.status === "suspended") throw new BrokenPromise("the run was suspended and nobody asked for it");
    throw new BrokenPromise(`the run succeeded with ${show(result.value)} and should have failed`);
  }
}

/** Fails unless `error` has one of the kinds. */
export function expectKind(error: ScriptError, ...kinds: ErrorKind[]): void {
  if (!kinds.includes(error.kind)) {
    throw new BrokenPromise(`kind should be ${kinds.join(" or ")}, is ${error.kind}: ${error.message}`);
  }
}

/** Fails unless both are the same JSON. Undefined equals a missing key; -0 equals 0. */
export function expectSame(actual: unknown, wanted: unknown, what = "the value"): void {
  const [left, right] = [canonical(actual), canonical(wanted)];
  if (left !== right) throw new BrokenPromise(`${what} should be ${cut(right)}, is ${cut(left)}`);
}

/** Fails unless `holds`. */
export function expectThat(holds: boolean, reason: string): void {
  if (!holds) throw new BrokenPromise(reason);
}

/** A value as text for a message: short, never throws. */
export function show(value: unknown): string {
  return cut(canonical(value));
}

const cut = (text: string): string => (text.length > 200 ? `${text.slice(0, 200)}...` : text);

/** JSON text with sorted keys. */
function canonical(value: unknown): string {
  try {
    return JSON.stringify(value, sortedKeys) ?? "undefined";
  } catch (error) {
    return `<no JSON: ${messageOf(error)}>`;
  }
}

function sortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.assign(Object.create(null) as object, Object.fromEntries(Object.entries(value).sort(byKey)));
}

const byKey = ([left]: [string, unknown], [right]: [string, unknown]): number => (left < right ? -1 : 1);

function asResult(outcome: unknown): SandboxResult {
  const status = (outcome as { status?: unknown } | null | undefined)?.status;
  if (status === "completed" || status === "failed") return outcome as SandboxResult;
  return { status: "completed", value: outcome };
}

/** The value of `work`, unless it takes longer than `ms`. */
export async function withinMs<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new BrokenPromise(`nothing came within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
