import { ConfigurationError } from "../errors.js";
import { nearestNames } from "../nearest.js";

/** The limits of one run, resolved. `Infinity` where one was removed. */
export interface SandboxLimitValues {
  /** Wall clock of the whole run, in milliseconds. */
  timeoutMs: number;
  /** Time the script itself computes, in milliseconds; waiting for calls does not count. */
  cpuMs: number;
  /** Memory of the sandbox, in bytes: a hard cap. */
  memoryBytes: number;
  /** Stack of the script, in bytes. */
  maxStackBytes: number;
  /** Size of the script, in bytes of UTF-8. */
  maxCodeBytes: number;
  /** Captured console output, in bytes of UTF-8. */
  maxLogBytes: number;
  /** The arguments of one call as JSON text, in bytes of UTF-8. */
  maxArgumentBytes: number;
  /** The result as JSON text, in bytes of UTF-8. */
  maxResultBytes: number;
  /** Messages of one run from the script to the host, of all kinds. */
  maxBridgeMessages: number;
}

/** Limits as an option: only those that differ from the default; `null` removes one. */
export type SandboxLimits = { [K in keyof SandboxLimitValues]?: number | null };

const KIB = 1024;
const MIB = 1024 * KIB;

/** The defaults (DESIGN: a client usually gives up after 60 s; a page of 32 KiB is what a model can still read). */
export const DEFAULT_SANDBOX_LIMITS: Readonly<SandboxLimitValues> = Object.freeze({
  timeoutMs: 30_000,
  cpuMs: 10_000,
  memoryBytes: 64 * MIB,
  maxStackBytes: MIB,
  maxCodeBytes: 256 * KIB,
  maxLogBytes: 8 * KIB,
  maxArgumentBytes: MIB,
  maxResultBytes: 32 * KIB,
  maxBridgeMessages: 10_000,
});

/** Smallest values that make sense: WebAssembly needs 16 MiB to start, a prelude a few frames of stack. */
const LEAST: Partial<Record<string, number>> = {
  memoryBytes: 16 * MIB,
  maxStackBytes: 64 * KIB,
  maxToolCalls: 0,
  timeoutMs: 1,
  cpuMs: 1,
};

/** The engine addresses 2 GiB, and its stack is five MiB of them. */
export const MOST_MEMORY_BYTES = 2048 * MIB;
export const MOST_STACK_BYTES = 2 * MIB;
const MOST: Partial<Record<string, number>> = { memoryBytes: MOST_MEMORY_BYTES, maxStackBytes: MOST_STACK_BYTES };

/**
 * Limits given by the user over the defaults. Never shares an object with either.
 *
 * @throws {ConfigurationError} for an unknown key (with the nearest known one), a value that is no number, or one out of bounds.
 */
export function resolveLimits<T extends object>(
  given: { [K in keyof T]?: number | null | undefined } | undefined,
  defaults: Readonly<T>,
): T {
  const resolved = { ...defaults } as Record<string, number>;
  for (const [key, value] of Object.entries(given ?? {})) {
    if (!Object.hasOwn(resolved, key)) throw unknownLimit(key, Object.keys(resolved));
    if (value === undefined) continue;
    resolved[key] = value === null ? Number.POSITIVE_INFINITY : checkedLimit(key, value);
  }
  return resolved as T;
}

function checkedLimit(key: string, value: unknown): number {
  const least = LEAST[key] ?? 1;
  const most = MOST[key] ?? Number.MAX_SAFE_INTEGER;
  if (typeof value !== "number" || Number.isNaN(value) || value < least || value > most) {
    const bounds = most === Number.MAX_SAFE_INTEGER ? `at least ${least}` : `from ${least} to ${most}`;
    throw new ConfigurationError(
      `limits.${key} must be a number ${bounds}, or null to remove the limit; got ${String(value)}`,
      {
        details: { limit: key, least, most },
      },
    );
  }
  return value;
}

function unknownLimit(key: string, known: readonly string[]): ConfigurationError {
  const [nearest] = nearestNames(key, known, 1);
  const hint = nearest === undefined ? `Known limits: ${known.join(", ")}.` : `Did you mean ${nearest}?`;
  return new ConfigurationError(`Unknown limit "${key}". ${hint}`, { details: { limit: key, nearest } });
}
