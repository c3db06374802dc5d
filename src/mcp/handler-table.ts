import type { Handler, LowLevelServer } from "./host-server.js";
import { MethodOverride } from "./method-override.js";

type Get = (method: string) => Handler | undefined;

/**
 * The request handlers of a server, with others in front of some of them.
 *
 * Only the instance's `get` is replaced, which the SDK calls for each request. `has`, `set` and `delete` stay, so the
 * SDK's and the user's own registrations work in any order, before and after. Replacing the entries instead would break
 * whenever the SDK registers later, and the SDK refuses to register over an entry it does not know.
 */
export class HandlerTable {
  readonly #server: LowLevelServer;
  readonly #get: MethodOverride<Get>;
  readonly #inFront = new Map<string, Handler>();

  constructor(server: LowLevelServer) {
    this.#server = server;
    this.#get = new MethodOverride<Get>(
      server._requestHandlers,
      "get",
      (original) => (method) => this.#inFront.get(method) ?? original(method),
    );
  }

  /** True when the server has registered a handler for this very method. */
  has(method: string): boolean {
    return this.#server._requestHandlers.has(method);
  }

  /** The server's own handler of a method: the registered one, else the fallback for all methods. */
  own(method: string): Handler | undefined {
    return this.#get.original(method) ?? this.#server.fallbackRequestHandler;
  }

  /** Puts handlers in front of the server's own ones. */
  putInFront(handlers: ReadonlyMap<string, Handler>): void {
    for (const [method, handler] of handlers) this.#inFront.set(method, handler);
  }

  /** Gives the server its own table back. */
  release(): void {
    this.#inFront.clear();
    this.#get.restore();
  }
}
