/** What a {@link Gateway} tells. */
export interface GatewayEvents {
  /** An upstream can be called, again or for the first time. */
  ready: { upstream: string; tools: number };
  /** The connection to an upstream ended, or could not be made. */
  close: { upstream: string; reason: string };
  /** An upstream did something wrong that did not end its connection. */
  error: { upstream: string; message: string };
  /** The list of tools is another one. */
  toolsChanged: Record<string, never>;
  /** A line for the log. */
  log: LogLine;
}

/** How much it matters. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** One line of the gateway's log. Holds no secret that the configuration expanded. */
export interface LogLine {
  level: LogLevel;
  upstream?: string;
  message: string;
}

type Listener<E extends keyof GatewayEvents> = (event: GatewayEvents[E]) => void;

/** Listeners by event. One that throws does not keep the others from hearing. */
export class Emitter {
  readonly #listeners = new Map<keyof GatewayEvents, Set<(event: never) => void>>();

  /** Returns a function that stops it. */
  on<E extends keyof GatewayEvents>(event: E, listener: Listener<E>): () => void {
    const listeners = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, listeners);
    // A function of its own, so that one listener given twice is two.
    const entry = (value: GatewayEvents[E]): void => listener(value);
    listeners.add(entry);
    return () => listeners.delete(entry);
  }

  emit<E extends keyof GatewayEvents>(event: E, value: GatewayEvents[E]): void {
    for (const listener of this.#listeners.get(event) ?? []) {
      try {
        (listener as Listener<E>)(value);
      } catch (error) {
        // As an EventTarget does: the host's own mistake, which must not become the gateway's.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
