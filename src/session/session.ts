import { CodeModeError } from "../errors.js";
import type { Sealer } from "./seal.js";
import { StoreConflictError, type SessionStore } from "./store.js";

/** Bounds of sessions. */
export interface SessionLimits {
  /** Milliseconds without an execute after which a session is forgotten. */
  ttlMs: number;
  /** Most sessions in the store. */
  maxSessions: number;
  /** Memory of one session at rest, in bytes. */
  maxBytes: number;
}

/** The defaults of the option `session`. */
export const DEFAULT_SESSION_LIMITS: Readonly<SessionLimits> = Object.freeze({
  ttlMs: 3_600_000,
  maxSessions: 1_000,
  maxBytes: 16 * 1024 * 1024,
});

/** The memory of a session while a script uses it. */
export interface OpenSession {
  key: string;
  /** What the last script left; undefined: nothing yet. */
  memory: Uint8Array | undefined;
  /** Of the store, for whoever saves: somebody else may have been quicker. Undefined: there was no entry. */
  revision: string | undefined;
  /** Sentences for the model. */
  notes: readonly string[];
}

const PREFIX = "session/";
const PURPOSE = "session";

/** Per store, since each request of a stateless host may have an engine of its own. */
const turnsOf = new WeakMap<SessionStore, Map<string, Promise<void>>>();

/**
 * What scripts leave for the next script of their session: memory, at rest in a {@link SessionStore}, sealed. Keys come from
 * `sessionKeyOf`. A session holds no worker and no timer.
 */
export class Sessions {
  readonly #store: SessionStore;
  readonly #sealer: Sealer;
  readonly #limits: SessionLimits;
  readonly #turns: Map<string, Promise<void>>;

  constructor({ store, sealer, limits }: { store: SessionStore; sealer: Sealer; limits: SessionLimits }) {
    this.#store = store;
    this.#sealer = sealer;
    this.#limits = limits;
    const turns = turnsOf.get(store) ?? new Map<string, Promise<void>>();
    turnsOf.set(store, turns);
    this.#turns = turns;
  }

  /**
   * Lets one script of this process after the other use a session: two at once would each lose what the other one did.
   *
   * @param restart Begin without memory.
   */
  async use<T>(key: string, restart: boolean, script: (session: OpenSession) => Promise<T>): Promise<T> {
    const before = this.#turns.get(key);
    let done = (): void => {};
    const turn = new Promise<void>((resolve) => {
      done = resolve;
    });
    const last = (before ?? Promise.resolve()).then(() => turn);
    this.#turns.set(key, last);
    await before;
    try {
      return await script(await this.#open(key, restart));
    } finally {
      done();
      if (this.#turns.get(key) === last) this.#turns.delete(key);
    }
  }

  async #open(key: string, restart: boolean): Promise<OpenSession> {
    const entry = await this.#store.get(key);
    if (entry === undefined) return { key, memory: undefined, revision: undefined, notes: [] };
    const { revision } = entry;
    if (restart) return { key, memory: undefined, revision, notes: [] };
    try {
      return { key, memory: this.#sealer.open(PURPOSE, entry.bytes, key), revision, notes: [] };
    } catch (error) {
      const why = CodeModeError.isInstance(error) ? ` ${error.message}` : "";
      return { key, memory: undefined, revision, notes: [`The variables of this session are gone.${why}`] };
    }
  }

  /**
   * Keeps the memory for the next script.
   *
   * @returns Why it was not kept: a sentence for the model. Undefined: it was.
   */
  async save(
    { key, revision }: Pick<OpenSession, "key" | "revision">,
    memory: Uint8Array,
  ): Promise<string | undefined> {
    const { maxBytes, maxSessions, ttlMs } = this.#limits;
    if (memory.length > maxBytes) {
      return `${NOT_KEPT}: the session takes ${memory.length} bytes, at most ${maxBytes} are kept (session.maxBytes). Keep less in variables, or restart.`;
    }
    if (revision === undefined && (await this.#isFull())) {
      return `${NOT_KEPT}: this server keeps ${maxSessions} sessions at most (session.maxSessions), and all are in use.`;
    }
    try {
      const sealed = this.#sealer.seal(PURPOSE, memory, key);
      const options = { expected: revision ?? "absent", ...(Number.isFinite(ttlMs) ? { ttlMs } : {}) };
      await this.#store.put(key, sealed, options);
      return undefined;
    } catch (error) {
      if (StoreConflictError.isInstance(error)) return `${NOT_KEPT}: another script of this session ended meanwhile.`;
      return `${NOT_KEPT}: the store of this server failed.`;
    }
  }

  /** Forgets a session whose memory is of no use any more. */
  async forget({ key, revision }: Pick<OpenSession, "key" | "revision">): Promise<void> {
    if (revision === undefined) return;
    // Somebody else has written a newer memory: that one stays.
    await this.#store.delete(key, { expected: revision }).catch(() => {});
  }

  async #isFull(): Promise<boolean> {
    let count = 0;
    for await (const _key of this.#store.list(PREFIX)) if (++count >= this.#limits.maxSessions) return true;
    return false;
  }
}

const NOT_KEPT = "What this script left in its variables was not kept, they are as before it";
