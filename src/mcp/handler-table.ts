import { type Handler, type LowLevelServer, METHOD_NOT_FOUND, protocolError } from "./host-server.js";
import { MethodOverride } from "./method-override.js";

type Get = (method: string) => Handler | undefined;

/** On what a handler gets as its last argument: the request has come past the handlers in front. Survives a spread. */
const INSIDE = Symbol("mcp-codemode.inside");

/** Marks a request as one for the server's own handlers. */
export function markInside<T extends object>(extra: T): T {
  (extra as { [INSIDE]?: true })[INSIDE] = true;
  return extra;
}

const isInside = (extra: unknown): boolean => (extra as { [INSIDE]?: true } | undefined)?.[INSIDE] === true;

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
    this.#get = new MethodOverride<Get>(server._requestHandlers, "get", () => (method) => this.#found(method));
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

  /**
   * What the SDK finds. Users find it too, who wrap the handler they find and register that instead: called by such a
   * wrapper, from inside, it is the handler that stood there before.
   */
  #found(method: string): Handler | undefined {
    const below = this.#get.original(method);
    if (!this.#inFront.has(method)) return below;
    return (request, extra) => {
      const front = isInside(extra) ? undefined : this.#inFront.get(method);
      if (front !== undefined) return front(request, markInside(extra as object));
      if (below !== undefined) return below(request, extra);
      throw protocolError(METHOD_NOT_FOUND, "Method not found");
    };
  }

  /** Gives the server its own table back. */
  release(): void {
    this.#inFront.clear();
    this.#get.restore();
  }
}
