import { LimitError, SandboxError } from "../errors.js";
import type { Sealer } from "./seal.js";
import { StoreConflictError, type SessionStore } from "./store.js";

/** Options of {@link HydratedTools}. */
export interface HydrationOptions {
  store: SessionStore;
  sealer: Sealer;
  /** Milliseconds without a new name after which a list is forgotten. */
  ttlMs: number;
  /** Most names in one list. */
  maxHydratedTools: number;
}

const PREFIX = "hydrated/";
const PURPOSE = "hydrated tools";
const MAX_ATTEMPTS = 50;

/** The tools whose schema was asked for, by session: with `requireSchema` only those exist in its scripts. */
export class HydratedTools {
  readonly #options: HydrationOptions;

  constructor(options: HydrationOptions) {
    this.#options = options;
  }

  /** @param session Key of a session, from `sessionKeyOf`. */
  async of(session: string): Promise<ReadonlySet<string>> {
    return new Set((await this.#read(session)).names);
  }

  /**
   * Adds names to a session's list.
   *
   * @throws {LimitError} when the list would get longer than `maxHydratedTools`: then none is added.
   */
  async add(session: string, names: readonly string[]): Promise<void> {
    const { store, sealer, ttlMs } = this.#options;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const known = await this.#read(session);
      const all = [...new Set([...known.names, ...names])];
      this.#check(all.length, known.names.length);
      const bytes = sealer.seal(PURPOSE, Buffer.from(JSON.stringify(all)), session);
      try {
        const expiry = Number.isFinite(ttlMs) ? { ttlMs } : {};
        await store.put(keyOf(session), bytes, { expected: known.revision ?? "absent", ...expiry });
        return;
      } catch (error) {
        if (!StoreConflictError.isInstance(error)) throw error;
      }
    }
    throw new SandboxError("The tools could not be added: too many others are added at the same time. Try again.");
  }

  #check(all: number, known: number): void {
    const most = this.#options.maxHydratedTools;
    if (all <= most) return;
    throw new LimitError(
      `A session may have the schemas of at most ${most} tools (limits.maxHydratedTools). It has ${known}, this would make ${all}. Ask for those that are needed.`,
      { details: { limit: "maxHydratedTools", most } },
    );
  }

  async #read(session: string): Promise<{ names: readonly string[]; revision?: string }> {
    const entry = await this.#options.store.get(keyOf(session));
    if (entry === undefined) return { names: [] };
    const { revision } = entry;
    try {
      const opened = this.#options.sealer.open(PURPOSE, entry.bytes, session);
      return { names: JSON.parse(Buffer.from(opened).toString("utf8")) as string[], revision };
    } catch {
      // Of another secret: nothing is allowed by it, and the next name replaces it.
      return { names: [], revision };
    }
  }
}

/** Session keys hold a hash: no word of a caller stands in the store. */
const keyOf = (session: string): string => PREFIX + session;
