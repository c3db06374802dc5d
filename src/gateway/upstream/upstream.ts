import type { CallContext, Tool, ToolResult } from "../../catalog/tool.js";
import type { Emitter, LogLevel } from "../events.js";
import type { ResolvedUpstream } from "../resolved-upstream.js";
import type { Secrets } from "../secrets.js";
import { connect, isHopeless, reasonOf, type Connection } from "./connection.js";
import { listTools, type Listing } from "./listing.js";
import { RestartDelay } from "./restart-delay.js";
import { seconds } from "./seconds.js";
import { ToolMemory } from "./tool-memory.js";
import { UpstreamCalls } from "./upstream-calls.js";

/** Where an upstream stands. */
export type UpstreamState = "starting" | "ready" | "waiting" | "parked" | "failed" | "disabled" | "closed";

/** What {@link Gateway.status} says of one upstream. */
export interface UpstreamStatus {
  id: string;
  /**
   * "waiting": it failed and is started again soon. "parked": it failed often, or cannot work as it is configured, and is
   * tried every few minutes. "failed": its configuration cannot be read.
   */
  state: UpstreamState;
  /** Tools that can be called now. */
  tools: number;
  /** Why it is not ready. */
  reason?: string;
  /** Milliseconds until the next start, of one that waits or is parked. */
  retryInMs?: number;
  /** Starts so far. */
  starts: number;
  /** Times its tools were listed again because it said that they had changed. */
  relists: number;
  pid?: number;
  /** As it introduced itself. */
  server?: { name?: string; version?: string };
}

/** What an upstream needs of its gateway. */
export interface UpstreamParts {
  secrets: Secrets;
  events: Emitter;
  /** Its tools are other ones now, or are gone, or are back. */
  onChange(): void;
}

/** An upstream that has lived this long has worked: it is started again at once. */
const LIVED_MS = 30_000;
/** Servers tell of changes in bursts. */
const RELIST_AFTER_MS = 20;

/** One upstream over all its lives: started, watched, started again, called. */
export class Upstream {
  readonly config: ResolvedUpstream;
  readonly #parts: UpstreamParts;
  readonly #memory = new ToolMemory();
  readonly #delay = new RestartDelay();
  readonly #calls: UpstreamCalls;
  readonly #closing = new AbortController();
  #state: UpstreamState = "starting";
  #reason: string | undefined;
  #connection: Connection | undefined;
  #tools: readonly Tool[] = [];
  #starts = 0;
  #relists = 0;
  #connectedAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #retryAt = 0;
  #attempt: Promise<void> | undefined;
  #relistTimer: NodeJS.Timeout | undefined;
  #noise = 0;

  constructor(config: ResolvedUpstream, parts: UpstreamParts) {
    this.config = config;
    this.#parts = parts;
    this.#calls = new UpstreamCalls(config, parts.secrets, {
      connection: () => this.#connection,
      why: () => this.why,
      renew: (connection) => this.#renew(connection),
    });
  }

  get id(): string {
    return this.config.id;
  }

  get state(): UpstreamState {
    return this.#state;
  }

  /** As the server lists them, under its own names; [] while it is down. */
  get tools(): readonly Tool[] {
    return this.#tools;
  }

  /** What the server says of how to use it. Its own words. */
  get instructions(): string | undefined {
    return this.#connection?.instructions;
  }

  /** Starts it. Resolves when the first try has ended, well or not. */
  start(): Promise<void> {
    if (this.#state === "closed") return Promise.resolve();
    this.#attempt ??= this.#try().finally(() => {
      this.#attempt = undefined;
    });
    return this.#attempt;
  }

  async #try(): Promise<void> {
    this.#clearTimers();
    this.#state = "starting";
    this.#starts++;
    let connection: Connection | undefined;
    try {
      connection = await this.#connect();
      const { tools, warnings } = await this.#firstList(connection);
      for (const warning of warnings) this.#log("warn", warning);
      this.#connected(connection, tools);
    } catch (error) {
      await connection?.close();
      this.#failed(connection?.isClosed === true ? new Error(connection.end, { cause: error }) : error);
    }
  }

  /** @throws also when the gateway is closed meanwhile: the connection must not outlive it. */
  async #firstList(connection: Connection): Promise<Listing> {
    const { signal } = this.#closing;
    const onAbort = (): void => void connection.close();
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      const listing = await listTools(connection, this.config.connectTimeoutMs);
      signal.throwIfAborted();
      if (connection.isClosed) throw new Error(connection.end);
      return listing;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Hooks of a connection that never came to be, or is not the one in use, are not heard. */
  #connect(): Promise<Connection> {
    const current = (): boolean => this.#connection === own;
    let own: Connection | undefined;
    const connecting = connect(this.config, {
      secrets: this.#parts.secrets,
      signal: this.#closing.signal,
      hooks: {
        onClose: () => {
          if (own !== undefined && current()) this.#lost(own);
        },
        onListChanged: () => {
          if (own !== undefined && current()) this.#relistSoon();
        },
        onNoise: (line) => this.#noisy(line),
        onError: (error) => {
          if (own !== undefined && current()) this.#error(reasonOf(error));
        },
      },
    });
    return connecting.then((connection) => (own = connection));
  }

  #connected(connection: Connection, tools: readonly Tool[]): void {
    this.#connection = connection;
    this.#connectedAt = performance.now();
    this.#calls.connected();
    this.#state = "ready";
    this.#reason = undefined;
    this.#listed(tools);
    this.#parts.events.emit("ready", { upstream: this.id, tools: this.#tools.length });
    this.#log("info", `ready, ${this.#tools.length} tools`);
  }

  #listed(tools: readonly Tool[]): void {
    const { tools: same, changed } = this.#memory.seen(tools.filter(({ name }) => this.config.admits(name)));
    if (changed.length > 0) {
      this.#log("warn", `the definition of ${changed.join(", ")} has changed since it was first listed`);
    }
    this.#tools = same;
    this.#parts.onChange();
  }

  #lost(connection: Connection): void {
    const hasWorked = this.#calls.haveServed || performance.now() - this.#connectedAt > LIVED_MS;
    this.#connection = undefined;
    this.#tools = [];
    if (this.#state === "closed") return;
    this.#retry(connection.end, this.#delay.failed(hasWorked));
    this.#parts.onChange();
  }

  #failed(error: unknown): void {
    if (this.#state === "closed") return;
    this.#retry(reasonOf(error), isHopeless(error) ? this.#delay.park() : this.#delay.failed(false));
  }

  #retry(reason: string, afterMs: number): void {
    this.#state = this.#delay.isParked ? "parked" : "waiting";
    this.#reason = this.#parts.secrets.redact(reason);
    this.#retryAt = performance.now() + afterMs;
    this.#timer = setTimeout(() => void this.start(), afterMs).unref();
    this.#parts.events.emit("close", { upstream: this.id, reason: this.#reason });
    this.#log("warn", `${this.#reason}; next start in ${seconds(afterMs)}`);
  }

  #relistSoon(): void {
    this.#relistTimer ??= setTimeout(() => {
      this.#relistTimer = undefined;
      void this.#relist();
    }, RELIST_AFTER_MS).unref();
  }

  async #relist(): Promise<void> {
    const connection = this.#connection;
    if (connection === undefined) return;
    this.#relists++;
    try {
      const { tools, warnings } = await listTools(connection, this.config.connectTimeoutMs);
      if (this.#connection !== connection) return;
      for (const warning of warnings) this.#log("warn", warning);
      this.#listed(tools);
    } catch (error) {
      if (this.#connection === connection) this.#error(`its tools could not be listed again: ${reasonOf(error)}`);
    }
  }

  /** Calls a tool: {@link UpstreamCalls.call}. */
  call(tool: string, exposed: string, args: Record<string, unknown>, context: CallContext): Promise<ToolResult> {
    return this.#calls.call(tool, exposed, args, context);
  }

  /** A server that has forgotten the session gets a new one; calls that notice it together share that. */
  async #renew(connection: Connection): Promise<void> {
    if (this.#connection === connection) {
      this.#connection = undefined;
      this.#log("info", "the server has forgotten the session; connecting again");
      void connection.close();
    }
    await this.start();
  }

  /** Why it is not ready, and until when. */
  get why(): string {
    const { reason, retryInMs } = this.status();
    if (this.#state === "starting") return "it is still starting";
    if (this.#state === "closed") return "the gateway was closed";
    return `${reason ?? "it is down"}${retryInMs === undefined ? "" : ` (next start in ${seconds(retryInMs)})`}`;
  }

  status(): UpstreamStatus {
    const { pid, server } = this.#connection ?? {};
    const waits = this.#state === "waiting" || this.#state === "parked";
    return {
      id: this.id,
      state: this.#state,
      tools: this.#tools.length,
      ...(this.#reason === undefined ? {} : { reason: this.#reason }),
      ...(waits ? { retryInMs: Math.max(0, Math.round(this.#retryAt - performance.now())) } : {}),
      starts: this.#starts,
      relists: this.#relists,
      ...(pid === undefined ? {} : { pid }),
      ...(server === undefined ? {} : { server }),
    };
  }

  /** Ends it for good. Calls under way fail at once; resolves when its process is gone. */
  async close(): Promise<void> {
    this.#state = "closed";
    this.#clearTimers();
    this.#closing.abort();
    this.#calls.close();
    const connection = this.#connection;
    this.#tools = [];
    await Promise.all([connection?.close(), this.#attempt]);
    this.#connection = undefined;
  }

  #clearTimers(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#relistTimer);
    this.#relistTimer = undefined;
  }

  #noisy(line: string): void {
    // A server that prints every call would fill the log.
    if (this.#noise++ < 20) this.#log("debug", `wrote to stdout what is no message: ${line.slice(0, 200)}`);
  }

  #error(message: string): void {
    const clean = this.#parts.secrets.redact(message);
    this.#parts.events.emit("error", { upstream: this.id, message: clean });
    this.#log("debug", clean);
  }

  #log(level: LogLevel, message: string): void {
    this.#parts.events.emit("log", { level, upstream: this.id, message: this.#parts.secrets.redact(message) });
  }
}
