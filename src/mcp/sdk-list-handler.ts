import type { Handler, HighLevelServer, HostRequest } from "./host-server.js";

/**
 * Finds out whether the `tools/list` handler of an `McpServer` is the one that the SDK installs itself. Only that one is
 * known to list the same tools to every caller until the server announces a change, so only its answers may be kept.
 *
 * The SDK keeps no record of who registered a handler, and a handler of the user's may look alike from outside (it may
 * even call the SDK's one and filter by caller). So the proof watches a call: the SDK's handler reads `_registeredTools`,
 * and the code positions on the stack at that moment must be exactly those of a handler that the SDK has just made for
 * this purpose. Code of the user's in between, or instead, has other positions. Whatever cannot be proven counts as the
 * user's: its answers are never kept.
 */
export class SdkListHandler {
  readonly #server: HighLevelServer;
  #proven: Handler | undefined;
  /** Positions on the stack when a handler of the SDK's reads the tools. Undefined: nothing can be proven. */
  readonly #expected: string | undefined;
  readonly #refuted = new WeakSet<Handler>();

  constructor(server: HighLevelServer) {
    this.#server = server;
    const handlers = server.server._requestHandlers;
    if (!canRegister(server)) return;
    if (server._toolHandlersInitialized === false) {
      const { transport, fallbackRequestHandler } = server.server;
      const isTaken = fallbackRequestHandler !== undefined || TOOL_METHODS.some((method) => handlers.has(method));
      if (isTaken || transport !== undefined) return;
      // The SDK would do it at the first registration, but refuses to once connected: now, tools can be registered later.
      server.setToolRequestHandlers?.();
      this.#proven = handlers.get("tools/list");
      return;
    }
    const fresh = freshHandler(server);
    this.#expected = fresh && watch(server, fresh, LIST_REQUEST, UNTOUCHABLE, {}).positions;
  }

  isProven(handler: Handler): boolean {
    return handler === this.#proven;
  }

  /** Calls a handler; watches the call when it is not known yet whose it is. */
  call(handler: Handler, request: HostRequest, extra: object): unknown {
    if (handler === this.#proven || this.#expected === undefined || this.#refuted.has(handler)) {
      return handler(request, extra);
    }
    const { answer, positions } = watch(this.#server, handler, request, extra);
    if (positions === this.#expected) this.#proven = handler;
    else this.#refuted.add(handler);
    return answer;
  }
}

const TOOL_METHODS = ["tools/list", "tools/call"] as const;
const LIST_REQUEST: HostRequest = { method: "tools/list", params: {} };

/** Stands for a request the SDK's own handler never looks at; one that does fails here, at once. */
const UNTOUCHABLE = new Proxy(
  {},
  {
    get(): never {
      throw new Error("the handler reads the request");
    },
  },
);

/** True where the SDK's classes register handlers: nothing replaced on the instances nor by a class that extends theirs. */
function canRegister(server: HighLevelServer): boolean {
  const home = ownerOf(server, "setToolRequestHandlers");
  const low = server.server;
  return (
    home !== undefined &&
    home !== server &&
    home === ownerOf(server, "setResourceRequestHandlers") &&
    !Object.hasOwn(low, "setRequestHandler") &&
    !Object.hasOwn(low, "registerCapabilities")
  );
}

function ownerOf(object: object, key: string): object | undefined {
  for (let at: object | null = object; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    if (Object.hasOwn(at, key)) return at;
  }
  return undefined;
}

/** Makes the SDK register its handlers once more, takes the new list handler, and puts everything back. */
function freshHandler(server: HighLevelServer): Handler | undefined {
  const low = server.server;
  const handlers = low._requestHandlers;
  const kept = TOOL_METHODS.map((method) => [method, handlers.get(method)] as const);
  // Refused once connected, and already done.
  Object.defineProperty(low, "registerCapabilities", { value: () => {}, configurable: true });
  for (const method of TOOL_METHODS) handlers.delete(method);
  server._toolHandlersInitialized = false;
  try {
    server.setToolRequestHandlers?.();
    return handlers.get("tools/list");
  } catch {
    return undefined;
  } finally {
    server._toolHandlersInitialized = true;
    Reflect.deleteProperty(low, "registerCapabilities");
    for (const [method, handler] of kept) {
      if (handler === undefined) handlers.delete(method);
      else handlers.set(method, handler);
    }
  }
}

interface Watched {
  readonly answer: unknown;
  /** Undefined when the tools were not read, or more than once, or from too deep. */
  readonly positions: string | undefined;
}

/** Calls a handler and notes from where `_registeredTools` is read before it returns. `tools`: what is read there instead. */
function watch(
  server: HighLevelServer,
  handler: Handler,
  request: HostRequest,
  extra: object,
  tools?: object,
): Watched {
  const descriptor = Object.getOwnPropertyDescriptor(server, "_registeredTools");
  if (descriptor === undefined || !("value" in descriptor) || descriptor.configurable !== true) {
    return { answer: handler(request, extra), positions: undefined };
  }
  const seen: (string | undefined)[] = [];
  Object.defineProperty(server, "_registeredTools", {
    configurable: true,
    enumerable: true,
    get() {
      seen.push(positionsBelow());
      return tools ?? (descriptor.value as unknown);
    },
  });
  try {
    const answer = invoke(handler, request, extra);
    if (extra === UNTOUCHABLE) Promise.resolve(answer).catch(() => {});
    return { answer, positions: seen.length === 1 ? seen[0] : undefined };
  } finally {
    Object.defineProperty(server, "_registeredTools", descriptor);
  }
}

/** The one place from which watched handlers are called: where the compared part of the stack ends. */
function invoke(handler: Handler, request: HostRequest, extra: object): unknown {
  return handler(request, extra);
}

/** Deepest stack that is compared: the SDK's own is 3 to 5 calls deep. */
const COMPARED_FRAMES = 24;

/** Where the calls on the stack stand, from the reader of the tools up to {@link invoke}. */
function positionsBelow(): string | undefined {
  const all = stackPositions();
  const end = all.indexOf(invokePosition());
  return end < OWN_FRAMES ? undefined : all.slice(OWN_FRAMES, end).join("\n");
}

/** The first positions are those of this module: stackPositions, positionsBelow and the getter. */
const OWN_FRAMES = 3;

let knownInvokePosition: string | undefined;

function invokePosition(): string {
  knownInvokePosition ??= (invoke(stackPositions, LIST_REQUEST, UNTOUCHABLE) as string[])[1] ?? "";
  return knownInvokePosition;
}

function stackPositions(): string[] {
  const { stackTraceLimit } = Error;
  const prepare = Object.getOwnPropertyDescriptor(Error, "prepareStackTrace");
  Error.stackTraceLimit = COMPARED_FRAMES;
  Error.prepareStackTrace = (_, sites) =>
    sites.map((site) => `${site.getFileName()}:${site.getLineNumber()}:${site.getColumnNumber()}`);
  try {
    return new Error().stack as unknown as string[];
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    if (prepare === undefined) Reflect.deleteProperty(Error, "prepareStackTrace");
    else Object.defineProperty(Error, "prepareStackTrace", prepare);
  }
}
