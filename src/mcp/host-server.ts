import { ConfigurationError } from "../errors.js";

/** A request as the SDK hands it to a handler. */
export interface HostRequest {
  readonly method: string;
  readonly params?: { readonly [key: string]: unknown } | undefined;
  readonly [key: string]: unknown;
}

/** A notification on its way to the client. */
export interface HostNotification {
  readonly method: string;
  readonly params?: { readonly [key: string]: unknown } | undefined;
}

/** A request handler of the SDK; `extra` is its view of the request (`extra` in 1.x, `ctx` in 2.x). */
export type Handler = (request: HostRequest, extra: unknown) => unknown;

export type Notify = (notification: HostNotification, options?: unknown) => Promise<void>;

/**
 * The part of the SDK's `Server` class this package uses, of both generations. No SDK is imported: its ESM and CJS
 * builds and every installed copy have classes of their own.
 */
export interface LowLevelServer {
  readonly _requestHandlers: Map<string, Handler>;
  fallbackRequestHandler?: Handler | undefined;
  readonly transport?: unknown;
  registerCapabilities(capabilities: { tools: { listChanged: boolean } }): void;
  getCapabilities?(): { tools?: { listChanged?: boolean | undefined } | undefined } | undefined;
  sendToolListChanged(): Promise<void>;
  notification: Notify;
  onerror?: ((error: Error) => void) | undefined;
  readonly _serverInfo?: { readonly name?: unknown } | undefined;
  /** What the server was constructed with. */
  readonly _options?: { readonly capabilities?: { readonly tools?: { readonly listChanged?: boolean } } } | undefined;
}

/** True where the host said that clients are never told of changes. The SDK turns this into true at the first tool. */
export const wantsNoListChanged = (low: LowLevelServer): boolean =>
  low._options?.capabilities?.tools?.listChanged === false;

/** The part of the SDK's `McpServer` class this package uses. */
export interface HighLevelServer {
  readonly server: LowLevelServer;
  sendToolListChanged(): void;
  setToolRequestHandlers?(): void;
  _toolHandlersInitialized?: boolean;
  _registeredTools?: {
    readonly [name: string]: { readonly scopeChallenge?: unknown; readonly inputSchema?: unknown } | undefined;
  };
  /** 2.x: what the caller lacks to call the tool named in the request. */
  resolveScopeChallenge?(context: { request: object; authInfo?: unknown }): unknown;
}

/** A server that was recognised. */
export interface HostServer {
  readonly generation: "v1" | "v2";
  readonly low: LowLevelServer;
  /** Absent for a server of the low-level class. */
  readonly high?: HighLevelServer;
}

const EXPECTED =
  "expected an McpServer or Server of @modelcontextprotocol/sdk (1.12 or newer) or @modelcontextprotocol/server (2.x)";

/**
 * Recognises an MCP server by its structure.
 *
 * @throws {ConfigurationError} for anything else; the message says what was expected.
 */
export function recogniseServer(target: unknown): HostServer {
  if (typeof target !== "object" || target === null) {
    throw new ConfigurationError(`Not an MCP server: ${EXPECTED}; got ${target === null ? "null" : typeof target}`);
  }
  const inner = (target as { server?: unknown }).server;
  const isHigh = hasHandlerMap(inner);
  const low: unknown = isHigh ? inner : target;
  if (!hasHandlerMap(low)) throw unrecognised(target);
  const generation = "_getRequestHandler" in low ? "v2" : "v1";
  return isHigh ? { generation, low, high: target as HighLevelServer } : { generation, low };
}

function hasHandlerMap(value: unknown): value is LowLevelServer {
  if (typeof value !== "object" || value === null) return false;
  const server = value as Partial<LowLevelServer>;
  return (
    server._requestHandlers instanceof Map &&
    typeof server.sendToolListChanged === "function" &&
    typeof server.registerCapabilities === "function" &&
    typeof server.notification === "function"
  );
}

function unrecognised(target: object): ConfigurationError {
  const isClient = "callTool" in target && "listTools" in target;
  const isServerLike = "registerTool" in target || "setRequestHandler" in target;
  const name = target.constructor?.name ?? "object";
  if (isClient) {
    return new ConfigurationError(`This ${name} is an MCP client, not a server: pass it to clientSource(client)`);
  }
  const missing = isServerLike ? "; its table of request handlers (_requestHandlers) was not found" : "";
  return new ConfigurationError(`Not an MCP server: ${EXPECTED}; got ${name}${missing}`);
}

/** An error that the SDK sends to the client with its JSON-RPC code. */
export function protocolError(code: number, message: string): Error & { code: number } {
  return Object.assign(new Error(message), { code });
}

/** JSON-RPC: the method does not exist, or not in this form. */
export const METHOD_NOT_FOUND = -32601;
/** JSON-RPC: the parameters do not fit. */
export const INVALID_PARAMS = -32602;
