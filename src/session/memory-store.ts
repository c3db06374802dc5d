import { randomBytes } from "node:crypto";
import { ConfigurationError, LimitError } from "../errors.js";
import { nearestNames } from "../nearest.js";
import {
  checkExpected,
  checkFound,
  checkKey,
  checkPut,
  type PutOptions,
  type SessionStore,
  type StoredEntry,
} from "./store.js";

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /**
   * All entries together, in bytes. Beyond it those that were not used for the longest time are dropped.
   *
   * @default 134_217_728 (128 MiB)
   */
  maxBytes?: number;
}

interface Entry {
  bytes: Uint8Array;
  revision: string;
  expiresAt: number | undefined;
}

const DEFAULT_MAX_BYTES = 128 * 1024 * 1024;
/** About what an entry costs beside its bytes. Counted, so that a million empty entries are no way around the cap. */
const ENTRY_OVERHEAD_BYTES = 256;
/** Expired entries are looked for at most this often, in milliseconds: each look goes over all entries. */
const SWEEP_MS = 100;
/** A longer timer fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * A {@link SessionStore} in the memory of this process. It ends with the process, and is not seen by others: use
 * {@link fileStore}, or a store of your own, where runs have to survive a restart or move between processes.
 *
 * @throws {ConfigurationError} for an unknown option or a `maxBytes` that is no whole number above 0.
 *
 * @example
 * const store = memoryStore({ maxBytes: 32 * 1024 * 1024 });
 */
export function memoryStore(options: MemoryStoreOptions = {}): SessionStore {
  for (const key of Object.keys(options)) if (key !== "maxBytes") throw unknownOption(key);
  const { maxBytes = DEFAULT_MAX_BYTES } = options;
  if (!Number.isSafeInteger(maxBytes) || maxBytes < 1) {
    throw new ConfigurationError(`memoryStore: maxBytes must be a whole number above 0, got ${String(maxBytes)}.`);
  }
  return new MemoryStore(maxBytes);
}

let shared: SessionStore | undefined;

/**
 * The store of those who named none: one per process. A host that makes a server for each request must find in the
 * second request what the first one left.
 */
export function sharedMemoryStore(): SessionStore {
  return (shared ??= memoryStore());
}

/** Entries in the order of their last use: a Map keeps insertion order, and a use inserts again. */
class MemoryStore implements SessionStore {
  readonly #entries = new Map<string, Entry>();
  readonly #maxBytes: number;
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  async get(key: string): Promise<StoredEntry | undefined> {
    checkKey(key);
    const entry = this.#live(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    const { bytes, revision, expiresAt } = entry;
    return { bytes: bytes.slice(), revision, ...(expiresAt === undefined ? {} : { expiresAt }) };
  }

  async put(key: string, bytes: Uint8Array, options: PutOptions = {}): Promise<string> {
    checkKey(key);
    checkPut(bytes, options);
    checkFound(options.expected, this.#live(key)?.revision);
    const size = sizeOf(key, bytes);
    if (size > this.#maxBytes) throw tooLarge(size, this.#maxBytes);
    this.#remove(key);
    const expiresAt = options.ttlMs === undefined ? undefined : Date.now() + options.ttlMs;
    const entry: Entry = { bytes: Uint8Array.from(bytes), revision: randomBytes(12).toString("hex"), expiresAt };
    this.#entries.set(key, entry);
    this.#bytes += size;
    this.#makeRoom();
    if (expiresAt !== undefined) this.#watch(expiresAt);
    return entry.revision;
  }

  async delete(key: string, { expected }: { expected?: string } = {}): Promise<void> {
    checkKey(key);
    checkExpected(expected);
    checkFound(expected, this.#live(key)?.revision);
    this.#remove(key);
  }

  async *list(prefix: string): AsyncGenerator<string, void, undefined> {
    // A copy: each get by who reads the list moves its entry to the end, where it would be met again.
    const keys = [...this.#entries.keys()];
    for (const key of keys) if (key.startsWith(prefix) && this.#live(key) !== undefined) yield key;
  }

  #live(key: string): Entry | undefined {
    const entry = this.#entries.get(key);
    if (entry?.expiresAt === undefined || entry.expiresAt > Date.now()) return entry;
    this.#remove(key);
    return undefined;
  }

  #remove(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= sizeOf(key, entry.bytes);
  }

  #makeRoom(): void {
    if (this.#bytes <= this.#maxBytes) return;
    this.#dropExpired();
    for (const key of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#remove(key);
    }
  }

  /** Memory is given back when the time comes, not when somebody happens to ask. The timer keeps no process alive. */
  #watch(expiresAt: number): void {
    if (this.#timer !== undefined) return;
    const wait = Math.min(Math.max(expiresAt - Date.now(), SWEEP_MS), MAX_TIMER_MS);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      const next = this.#dropExpired();
      if (next !== undefined) this.#watch(next);
    }, wait).unref();
  }

  /** The earliest time at which one of the rest expires. */
  #dropExpired(): number | undefined {
    let next: number | undefined;
    for (const key of this.#entries.keys()) {
      const expiresAt = this.#live(key)?.expiresAt;
      if (expiresAt !== undefined && (next === undefined || expiresAt < next)) next = expiresAt;
    }
    return next;
  }
}

const sizeOf = (key: string, bytes: Uint8Array): number => bytes.byteLength + 2 * key.length + ENTRY_OVERHEAD_BYTES;

function tooLarge(bytes: number, most: number): LimitError {
  return new LimitError(`The entry takes ${bytes} bytes, the store holds ${most} (memoryStore: maxBytes).`, {
    details: { limit: "maxBytes", bytes, most },
  });
}

function unknownOption(key: string): ConfigurationError {
  const [nearest] = nearestNames(key, ["maxBytes"], 1);
  const hint = nearest === undefined ? "Known: maxBytes." : `Did you mean ${nearest}?`;
  return new ConfigurationError(`memoryStore: unknown option "${key}". ${hint}`);
}
