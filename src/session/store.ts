import { CodeModeError, ConfigurationError, type ErrorOptions } from "../errors.js";

/** What a {@link SessionStore} holds under a key. */
export interface StoredEntry {
  bytes: Uint8Array;
  /** Names this very version. Changes with every put, and never comes back, not even after a delete. */
  revision: string;
  /** Milliseconds since 1970. Absent: kept until it is deleted. */
  expiresAt?: number | undefined;
}

/** How {@link SessionStore.put} writes. */
export interface PutOptions {
  /** The revision that must stand there, or "absent": nothing may. Otherwise {@link StoreConflictError}. */
  expected?: string;
  /** Milliseconds until the entry is gone. Absent: kept until it is deleted, whatever was said before. */
  ttlMs?: number;
}

/**
 * Bytes under a key, with compare-and-set: what sessions, paused runs, claims and artifacts need, and what NATS KV,
 * Redis, S3 and files can all give. Check one with `storeConformance` from `mcp-codemode/testing`.
 *
 * Keys are texts of 1 to 512 characters without lone surrogates; any character may stand in them. An entry that has
 * expired is absent for every method. Bytes are copied: what a caller does with its own later changes nothing.
 *
 * @example
 * const revision = await store.put("run/1", bytes, { expected: "absent", ttlMs: 60_000 });
 * await store.put("run/1", claimed, { expected: revision }); // one of many processes gets this far
 */
export interface SessionStore {
  get(key: string): Promise<StoredEntry | undefined>;
  /**
   * Writes the whole entry, or nothing. Of any number of writers, in any number of processes, that expect the same
   * revision, one succeeds.
   *
   * @returns The new revision; never the text "absent".
   * @throws {StoreConflictError} when something else stands there than `expected` says.
   */
  put(key: string, bytes: Uint8Array, options?: PutOptions): Promise<string>;
  /**
   * Removes an entry; nothing happens when there is none.
   *
   * @throws {StoreConflictError} when `expected` is given and another revision, or nothing, stands there.
   */
  delete(key: string, options?: { expected?: string }): Promise<void>;
  /** Keys that begin with `prefix`, in any order. What is written meanwhile may be left out. */
  list(prefix: string): AsyncIterable<string>;
}

/** Shared by every copy of this package in a process. */
const CONFLICT = Symbol.for("mcp-codemode.store-conflict");

/**
 * Somebody else was quicker: the entry is not the one that a put or delete expected. Nothing was written. The message
 * holds no key, since keys may name callers.
 *
 * @example
 * try {
 *   await store.put("claim", bytes, { expected: "absent" });
 * } catch (error) {
 *   if (!StoreConflictError.isInstance(error)) throw error;
 *   console.error("claimed already");
 * }
 */
export class StoreConflictError extends CodeModeError {
  override readonly name = "StoreConflictError";
  readonly [CONFLICT] = true;

  /**
   * @param expected What the caller expected: a revision or "absent".
   * @param found The revision that stands there; undefined for none.
   */
  constructor(expected: string, found: string | undefined, options: ErrorOptions = {}) {
    const expectation = expected === "absent" ? "no entry" : `revision ${expected}`;
    super("sandbox", `The store expected ${expectation} and found ${found === undefined ? "none" : found}.`, {
      details: { expected, found },
      ...options,
    });
  }

  /** True for a `StoreConflictError` of any copy of this package. */
  static override isInstance(value: unknown): value is StoreConflictError {
    return typeof value === "object" && value !== null && CONFLICT in value;
  }
}

const MAX_KEY_CHARACTERS = 512;

/** @throws {ConfigurationError} for a key that not every store can hold. The message does not repeat it. */
export function checkKey(key: string): void {
  if (typeof key === "string" && key !== "" && key.length <= MAX_KEY_CHARACTERS && !/\p{Surrogate}/u.test(key)) return;
  throw new ConfigurationError(
    `A key of a store must be a text of 1 to ${MAX_KEY_CHARACTERS} characters without lone surrogates.`,
  );
}

/** @throws {ConfigurationError} for bytes, a lifetime or an expectation of the wrong type. */
export function checkPut(bytes: Uint8Array, { ttlMs, expected }: PutOptions): void {
  if (!(bytes instanceof Uint8Array)) throw new ConfigurationError("A store keeps bytes: give a Uint8Array.");
  checkExpected(expected);
  if (ttlMs === undefined || (Number.isFinite(ttlMs) && ttlMs > 0)) return;
  throw new ConfigurationError(`ttlMs must be a number of milliseconds above 0, got ${String(ttlMs)}.`);
}

/** @throws {ConfigurationError} for an expectation that is no text: `null` must not read as "anything". */
export function checkExpected(expected: string | undefined): void {
  if (expected === undefined || (typeof expected === "string" && expected !== "")) return;
  throw new ConfigurationError('expected must be a revision or "absent".');
}

/** @throws {StoreConflictError} when `found` is not what was expected. */
export function checkFound(expected: string | undefined, found: string | undefined): void {
  if (expected === undefined || expected === (found ?? "absent")) return;
  throw new StoreConflictError(expected, found);
}
