import type { HostNotification, HostServer, Notify } from "./host-server.js";
import { MethodOverride } from "./method-override.js";

const LIST_CHANGED = "notifications/tools/list_changed";

/** What {@link ListChanges} asks and tells. */
export interface ListChangesOptions {
  /** Clients are told of no change. */
  readonly isSilent: boolean;
  /** The server's own tools may have changed; called before anything else happens. */
  readonly onChange: () => void;
  /** True for a notification that clients must not get. */
  readonly isInternal: (notification: HostNotification) => boolean;
}

/**
 * Catches the server's "my tools have changed", which is about tools that clients no longer see, and sends one of ours
 * instead when the list that clients do see has changed.
 *
 * An `McpServer` calls its `sendToolListChanged` at every register, update and removal, before `connect` too; everything
 * else, in both classes and generations, goes through `notification` of the low-level server.
 */
export class ListChanges {
  readonly #server: HostServer;
  readonly #options: ListChangesOptions;
  readonly #notification: MethodOverride<Notify>;
  readonly #sendToolListChanged: MethodOverride<() => void> | undefined;
  /** Our list as JSON; resolves to undefined while it depends on callers and none has asked. */
  #ourList: (() => Promise<string | undefined>) | undefined;
  /** What clients saw last; undefined: not known. */
  #lastSeen: string | undefined;
  #running: Promise<void> = Promise.resolve();
  #waiting: Promise<void> | undefined;

  constructor(server: HostServer, options: ListChangesOptions) {
    this.#server = server;
    this.#options = options;
    this.#notification = new MethodOverride(server.low, "notification", (original: Notify) => (notification, rest) => {
      if (notification.method === LIST_CHANGED) return this.#onChanged();
      return options.isInternal(notification) ? Promise.resolve() : original(notification, rest);
    });
    if (server.high !== undefined) {
      this.#sendToolListChanged = new MethodOverride(server.high, "sendToolListChanged", () => () => this.#onChanged());
    }
  }

  /** From now on clients see what `ourList` gives; `first`: what it gives now, where that is known. */
  watch(ourList: () => Promise<string | undefined>, first: string | undefined): void {
    this.#ourList = ourList;
    this.#lastSeen = first;
    if (this.#isConnected) this.#running = this.#running.then(() => this.#send());
  }

  /** A client has been given this list. */
  seen(list: string): void {
    this.#lastSeen = list;
  }

  /** Gives the server its own methods back. A connected client hears that it sees other tools now. */
  async release(): Promise<void> {
    this.#notification.restore();
    this.#sendToolListChanged?.restore();
    await this.#running;
    if (this.#ourList !== undefined && this.#isConnected) await this.#send();
  }

  get #isConnected(): boolean {
    return this.#server.low.transport !== undefined;
  }

  /** Compares later, once for all changes of one turn. Never rejects: an `McpServer` does not wait for it. */
  #onChanged(): Promise<void> {
    this.#options.onChange();
    this.#waiting ??= this.#running.then(() => {
      this.#waiting = undefined;
      return this.#compare();
    });
    this.#running = this.#waiting;
    return this.#waiting;
  }

  async #compare(): Promise<void> {
    if (!this.#isConnected) return;
    // A list that cannot be made now counts as changed: rather one notification too many than one too few.
    const now = await this.#ourList?.().catch(() => undefined);
    const isSame = now !== undefined && now === this.#lastSeen;
    this.#lastSeen = now;
    if (!isSame) await this.#send();
  }

  async #send(): Promise<void> {
    if (this.#options.isSilent) return;
    try {
      await this.#notification.original({ method: LIST_CHANGED });
    } catch (error) {
      // The connection may close at any moment; whoever listens on the server hears of it.
      this.#server.low.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }
}
