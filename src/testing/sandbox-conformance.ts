import { messageOf } from "../errors.js";
import type { SandboxProvider } from "../sandbox/provider.js";
import { Bench, type Check, expectThat, withinMs } from "./conformance-bench.js";
import { CALL_CHECKS } from "./conformance-calls.js";
import { ERROR_CHECKS } from "./conformance-errors.js";
import { ISOLATION_CHECKS } from "./conformance-isolation.js";
import { LIMIT_CHECKS } from "./conformance-limits.js";
import { VALUE_CHECKS } from "./conformance-values.js";

/** The outcome of one check. */
export interface ConformanceResult {
  /** The promise that was checked, as a sentence about the sandbox. */
  name: string;
  ok: boolean;
  /** What came instead; for a check that holds, why it does not apply, or nothing. */
  reason?: string;
}

/** How {@link sandboxConformance} checks. */
export interface ConformanceOptions {
  /**
   * Milliseconds for one check, which may hold several runs. A check that takes longer is reported as not ok.
   *
   * @default 30_000
   */
  checkTimeoutMs?: number;
  /** Which checks to run, by name. Default: all. */
  only?: (name: string) => boolean;
}

const CHECKS: readonly Check[] = [
  {
    name: "has a name",
    verify: async ({ providerName }) => {
      expectThat(typeof providerName === "string" && providerName !== "", "name should be a text that is not empty");
    },
  },
  ...VALUE_CHECKS,
  ...CALL_CHECKS,
  ...ERROR_CHECKS,
  ...LIMIT_CHECKS,
  ...ISOLATION_CHECKS,
];

/**
 * Checks every promise of {@link SandboxProvider} against a real provider, one small check after the other: values, calls,
 * errors, limits, and that nothing of a run reaches the next one or the host. Needs no test framework. Checks that
 * depend on what a provider accepts or offers (`accepts`, a console, line numbers) adapt, and say so in `reason`.
 *
 * A provider made by a given function is closed at the end; a given provider is left open.
 *
 * @example
 * for await (const { name, ok, reason } of sandboxConformance(() => mySandbox())) {
 *   test(name, () => assert.ok(ok, reason));
 * }
 */
export async function* sandboxConformance(
  provider: SandboxProvider | (() => SandboxProvider),
  options: ConformanceOptions = {},
): AsyncGenerator<ConformanceResult, void, undefined> {
  const sandbox = typeof provider === "function" ? provider() : provider;
  const bench = new Bench(sandbox);
  try {
    for (const check of CHECKS) {
      if (options.only?.(check.name) === false) continue;
      yield await resultOf(check, bench, options.checkTimeoutMs ?? 30_000);
    }
  } finally {
    if (typeof provider === "function") await sandbox.close?.();
  }
}

async function resultOf(check: Check, bench: Bench, timeoutMs: number): Promise<ConformanceResult> {
  const { name } = check;
  try {
    const notApplicable = await withinMs(timeoutMs, check.verify(bench));
    return typeof notApplicable === "string" ? { name, ok: true, reason: notApplicable } : { name, ok: true };
  } catch (error) {
    return { name, ok: false, reason: messageOf(error) };
  }
}
