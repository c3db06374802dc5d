import {
  DEFAULT_SANDBOX_LIMITS,
  resolveLimits,
  type SandboxLimits,
  type SandboxLimitValues,
} from "../sandbox/limits.js";

/** Every limit, resolved. `Infinity` where one was removed. */
export interface LimitValues extends SandboxLimitValues {
  /** Calls of one script, of unknown tools too. @default 50 */
  maxToolCalls: number;
  /** Calls under way at a time; further ones wait their turn. @default 8 */
  maxConcurrentCalls: number;
  /** Milliseconds for one call; then it fails and its signal is aborted. @default 20_000 */
  toolTimeoutMs: number;
  /** The result of one call as JSON, in bytes of UTF-8. @default 4 MiB */
  maxCallResultBytes: number;
  /** All results of a script together, in bytes. @default 16 MiB */
  maxTotalResultBytes: number;
  /** Tools whose schema a script may have asked for. @default 32 */
  maxHydratedTools: number;
  /** One answer of `search_tools` or `get_schema`, in bytes. @default 256 KiB */
  maxDiscoveryBytes: number;
  /** Milliseconds to wait for a person. @default 300_000 */
  humanWaitMs: number;
  /** Milliseconds a client waits for one request, people included. @default 50_000 */
  clientTimeoutMs: number;
}

/** Limits as an option: only those that differ from the default; `null` removes one. */
export type Limits = { [K in keyof LimitValues]?: number | null };

const KIB = 1024;
const MIB = 1024 * KIB;

/** The defaults. A client usually gives up after 60 s, hence 50 and 20. */
export const DEFAULT_LIMITS: Readonly<LimitValues> = Object.freeze({
  ...DEFAULT_SANDBOX_LIMITS,
  maxToolCalls: 50,
  maxConcurrentCalls: 8,
  toolTimeoutMs: 20_000,
  maxCallResultBytes: 4 * MIB,
  maxTotalResultBytes: 16 * MIB,
  maxHydratedTools: 32,
  maxDiscoveryBytes: 256 * KIB,
  humanWaitMs: 300_000,
  clientTimeoutMs: 50_000,
});

/**
 * Limits given by the user over the defaults.
 *
 * @throws {ConfigurationError} for an unknown key (with the nearest known one), a value that is no number, or one out of bounds.
 *
 * @example
 * resolveRunLimits({ maxToolCalls: null }).maxToolCalls; // Infinity
 */
export function resolveRunLimits(given: Limits | undefined): LimitValues {
  return resolveLimits<LimitValues>(given, DEFAULT_LIMITS);
}

/**
 * Those of the given limits that are the sandbox's to keep. Only what was given: the rest is up to the provider, which
 * may have limits of its own.
 */
export function givenSandboxLimits(given: Limits | undefined): SandboxLimits {
  const own = Object.entries(given ?? {}).filter(([key]) => Object.hasOwn(DEFAULT_SANDBOX_LIMITS, key));
  return Object.fromEntries(own) as SandboxLimits;
}
