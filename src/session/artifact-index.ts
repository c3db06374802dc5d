import { SandboxError } from "../errors.js";
import { StoreConflictError, type SessionStore } from "./store.js";

/** One artifact in the index of its caller. */
interface Indexed {
  id: string;
  bytes: number;
  /** Milliseconds since 1970. */
  expiresAt: number;
}

const MAX_ATTEMPTS = 50;

/**
 * Which artifacts a caller has, oldest first: a store can list keys, but tells no sizes without reading everything. One
 * record per caller, changed by compare-and-set, so that processes cannot lose each other's.
 */
export class ArtifactIndex {
  readonly #store: SessionStore;
  readonly #limits: { ttlMs: number; maxCallerBytes: number };

  constructor(store: SessionStore, limits: { ttlMs: number; maxCallerBytes: number }) {
    this.#store = store;
    this.#limits = limits;
  }

  /**
   * Adds an artifact and says which older ones have to go for it.
   *
   * @throws {SandboxError} when others change the record all the time.
   */
  async add(owner: string, added: { id: string; bytes: number }): Promise<{ dropped: readonly string[] }> {
    const { ttlMs } = this.#limits;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const stored = await this.#store.get(keyOf(owner));
      const now = Date.now();
      const known = stored === undefined ? [] : parse(stored.bytes).filter(({ expiresAt }) => expiresAt > now);
      const { kept, dropped } = this.#makeRoom([...known, { ...added, expiresAt: now + ttlMs }]);
      try {
        const bytes = Buffer.from(JSON.stringify(kept));
        await this.#store.put(keyOf(owner), bytes, { expected: stored?.revision ?? "absent", ttlMs });
        return { dropped };
      } catch (error) {
        if (!StoreConflictError.isInstance(error)) throw error;
      }
    }
    throw new SandboxError("The artifact could not be kept: too many others were kept at the same time. Try again.");
  }

  #makeRoom(all: readonly Indexed[]): { kept: readonly Indexed[]; dropped: readonly string[] } {
    let bytes = all.reduce((sum, artifact) => sum + artifact.bytes, 0);
    let first = 0;
    for (; bytes > this.#limits.maxCallerBytes; first++) bytes -= all[first]?.bytes ?? 0;
    return { kept: all.slice(first), dropped: all.slice(0, first).map(({ id }) => id) };
  }
}

const keyOf = (owner: string): string => `artifacts/${owner}`;

const parse = (bytes: Uint8Array): Indexed[] => JSON.parse(Buffer.from(bytes).toString("utf8")) as Indexed[];
