/** The part of an MCP transport that is watched. */
interface WatchedTransport {
  onmessage?: ((message: never, extra?: never) => void) | undefined;
  send(message: never, options?: never): Promise<void>;
  onclose?: (() => void) | undefined;
}

interface Message {
  id?: unknown;
  method?: unknown;
}

/** Requests of clients that have no answer yet: a shutdown waits for them. */
export class Activity {
  #open = 0;
  readonly #waiting = new Set<() => void>();

  get open(): number {
    return this.#open;
  }

  /** Counts the requests of a transport that a server is connected to already. */
  watch(transport: WatchedTransport): void {
    const pending = new Set<unknown>();
    const { onmessage, onclose } = transport;
    const send = transport.send.bind(transport);
    transport.onmessage = (message, extra) => {
      const { id, method } = message as Message;
      if (id !== undefined && method !== undefined && !pending.has(id)) {
        pending.add(id);
        this.#open++;
      }
      onmessage?.(message, extra);
    };
    transport.send = async (message, options) => {
      await send(message, options);
      const { id, method } = message as Message;
      if (method === undefined && pending.delete(id)) this.#done(1);
    };
    transport.onclose = () => {
      this.#done(pending.size);
      pending.clear();
      onclose?.();
    };
  }

  /** Resolves when no request is open, or after `ms`. */
  async idle(ms: number): Promise<void> {
    if (this.#open === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#waiting.add(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  #done(count: number): void {
    this.#open -= count;
    if (this.#open > 0) return;
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}
