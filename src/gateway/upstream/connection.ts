import type { Progress, ToolResult } from "../../catalog/tool.js";
import { messageOf, ToolCallError } from "../../errors.js";
import { VERSION } from "../../version.js";
import type { HttpTarget, ResolvedUpstream, StdioTarget } from "../resolved-upstream.js";
import { loadClientSdk, type ClientSdk } from "../sdk.js";
import type { Secrets } from "../secrets.js";
import { AuthorizedFetch, UpstreamAuthError } from "../transports/authorized-fetch.js";
import { StdioTransport } from "../transports/stdio-transport.js";

type Client = InstanceType<ClientSdk["Client"]>;
type Transport = Parameters<Client["connect"]>[0];

/** What the owner of a connection hears. */
export interface ConnectionHooks {
  /** Once, however it ended. */
  onClose(): void;
  onListChanged(): void;
  /** A line on stdout that is no message. */
  onNoise(line: string): void;
  onError(error: Error): void;
}

/** How one call is made. */
export interface CallOptions {
  signal: AbortSignal;
  timeoutMs: number;
  onProgress: ((progress: Progress) => void) | undefined;
}

/** One life of a connection to an upstream. */
export interface Connection {
  readonly server: { name?: string; version?: string } | undefined;
  readonly instructions: string | undefined;
  readonly pid: number | undefined;
  readonly isClosed: boolean;
  /** Why it ended, as far as that can be known. */
  readonly end: string;
  /** One page of the tools, as the server sends it. */
  listPage(cursor: string | undefined, timeoutMs: number): Promise<Record<string, unknown>>;
  callTool(name: string, args: Record<string, unknown>, options: CallOptions): Promise<ToolResult>;
  close(): Promise<void>;
}

/** What connecting needs besides the upstream. */
export interface ConnectParts {
  secrets: Secrets;
  hooks: ConnectionHooks;
  /** Aborts a connection that is still being made. */
  signal: AbortSignal;
}

/**
 * Starts or reaches an upstream and shakes hands.
 *
 * @throws when that fails or takes longer than `connectTimeoutMs`; nothing is left behind then.
 */
export async function connect(upstream: ResolvedUpstream, parts: ConnectParts): Promise<Connection> {
  const sdk = await loadClientSdk();
  const { target } = upstream;
  return target.kind === "stdio"
    ? connectStdio(sdk, upstream, target, parts)
    : connectHttp(sdk, upstream, target, parts);
}

async function connectStdio(
  sdk: ClientSdk,
  upstream: ResolvedUpstream,
  target: StdioTarget,
  parts: ConnectParts,
): Promise<Connection> {
  const transport = new StdioTransport(target);
  transport.onnoise = (line) => parts.hooks.onNoise(line);
  const connection = new SdkConnection(sdk, parts.hooks, {
    pid: () => transport.pid,
    end: () => transport.end,
    close: () => transport.close(),
  });
  try {
    await connection.open(transport as unknown as Transport, upstream.connectTimeoutMs, parts.signal);
    return connection;
  } catch (cause) {
    const end = transport.end;
    await connection.close();
    throw end === undefined ? cause : new Error(`${JSON.stringify(target.command)}: ${end}`, { cause });
  }
}

/** Statuses with which servers of the older protocol refuse the first request of the newer one. */
const MAYBE_SSE: ReadonlySet<unknown> = new Set([400, 404, 405, 406, 415]);

async function connectHttp(
  sdk: ClientSdk,
  upstream: ResolvedUpstream,
  target: HttpTarget,
  parts: ConnectParts,
): Promise<Connection> {
  const { protocol } = target;
  if (protocol === "sse") return openHttp(sdk, upstream, parts, sseTransport(sdk, target, parts));
  try {
    return await openHttp(sdk, upstream, parts, streamableTransport(sdk, target, parts));
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (protocol === "http" || !MAYBE_SSE.has(code)) throw error;
    try {
      return await openHttp(sdk, upstream, parts, sseTransport(sdk, target, parts));
    } catch (cause) {
      throw new Error(`${messageOf(error)}; by SSE: ${messageOf(cause)}`, { cause });
    }
  }
}

interface HttpTransport {
  transport: Transport;
  end: () => Promise<void>;
}

function httpOptions(
  target: HttpTarget,
  { secrets }: ConnectParts,
): { fetch: AuthorizedFetch["fetch"]; requestInit: RequestInit; authProvider?: never } {
  const { fetch } = new AuthorizedFetch(target.headers, target.tokenProvider, secrets);
  // Older SDKs know no `fetch`: at least the headers go out.
  const options = { fetch, requestInit: { headers: { ...target.headers } } };
  return target.authProvider === undefined ? options : { ...options, authProvider: target.authProvider as never };
}

function streamableTransport(sdk: ClientSdk, target: HttpTarget, parts: ConnectParts): HttpTransport {
  const transport = new sdk.StreamableHTTPClientTransport(target.url, httpOptions(target, parts));
  return {
    transport: transport as Transport,
    async end() {
      // Tells the server that the session is over, where it wants to know; one that is gone cannot be told.
      const told = transport.terminateSession().catch(() => {});
      await Promise.race([told, new Promise((resolve) => setTimeout(resolve, GOODBYE_MS).unref())]);
    },
  };
}

const GOODBYE_MS = 1_000;

function sseTransport(sdk: ClientSdk, target: HttpTarget, parts: ConnectParts): HttpTransport {
  const transport = new sdk.SSEClientTransport(target.url, httpOptions(target, parts));
  return { transport: transport as Transport, end: async () => {} };
}

async function openHttp(
  sdk: ClientSdk,
  upstream: ResolvedUpstream,
  parts: ConnectParts,
  { transport, end }: HttpTransport,
): Promise<Connection> {
  const connection = new SdkConnection(sdk, parts.hooks, { pid: () => undefined, end: () => undefined, close: end });
  try {
    await connection.open(transport, upstream.connectTimeoutMs, parts.signal);
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** What differs between transports. */
interface Underneath {
  pid(): number | undefined;
  end(): string | undefined;
  close(): Promise<void>;
}

class SdkConnection implements Connection {
  readonly #sdk: ClientSdk;
  readonly #client: Client;
  readonly #underneath: Underneath;
  #isClosed = false;
  #closing: Promise<void> | undefined;

  constructor(sdk: ClientSdk, hooks: ConnectionHooks, underneath: Underneath) {
    this.#sdk = sdk;
    this.#underneath = underneath;
    this.#client = new sdk.Client({ name: "mcp-codemode", version: VERSION }, { capabilities: {} });
    this.#client.setNotificationHandler(sdk.types.ToolListChangedNotificationSchema, () => hooks.onListChanged());
    this.#client.onerror = (error) => hooks.onError(error);
    this.#client.onclose = () => {
      this.#isClosed = true;
      hooks.onClose();
    };
  }

  /** The SDK's own time limit is for the handshake alone: starting a process or a socket may hang as well. */
  async open(transport: Transport, timeoutMs: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, reject } = rejectable();
    const timer = setTimeout(
      () => reject(new Error(`no handshake within ${timeoutMs} ms (connectTimeoutMs)`)),
      timeoutMs,
    );
    const onAbort = (): void => reject(new Error("the gateway was closed"));
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      await Promise.race([this.#client.connect(transport, { timeout: 2 * timeoutMs }), promise]);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    }
  }

  get server(): Connection["server"] {
    return this.#client.getServerVersion();
  }

  get instructions(): string | undefined {
    return this.#client.getInstructions?.();
  }

  get pid(): number | undefined {
    return this.#underneath.pid();
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get end(): string {
    return this.#underneath.end() ?? "the connection was closed";
  }

  /** Not by `client.listTools`: that refuses a whole list for one odd tool, and compiles a validator per tool and list. */
  async listPage(cursor: string | undefined, timeout: number): Promise<Record<string, unknown>> {
    const request = { method: "tools/list", params: cursor === undefined ? {} : { cursor } };
    return this.#client.request(request as never, this.#sdk.types.ResultSchema, { timeout });
  }

  /** Not by `client.callTool`, for the same reason; what does not fit its own outputSchema is the tool's affair. */
  async callTool(name: string, args: Record<string, unknown>, options: CallOptions): Promise<ToolResult> {
    const request = { method: "tools/call", params: { name, arguments: args } };
    return this.#client.request(request as never, this.#sdk.types.ResultSchema, {
      signal: options.signal,
      timeout: options.timeoutMs,
      // Progress starts the time again, and comes only when it is asked for.
      resetTimeoutOnProgress: true,
      onprogress: (progress) => options.onProgress?.(progress),
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    // The transport first: what it still has to say (its end, for a session) goes over the open connection.
    await this.#underneath.close();
    await this.#client.close().catch(() => {});
  }
}

function rejectable(): { promise: Promise<never>; reject: (reason: Error) => void } {
  let reject: (reason: Error) => void = () => {};
  const promise = new Promise<never>((_resolve, fail) => {
    reject = fail;
  });
  return { promise, reject };
}

/** What a failed request means for the connection. */
export type Failure = "answer" | "closed" | "timeout" | "session" | "auth" | "transport";

/** JSON-RPC: the server itself failed. */
const INTERNAL_ERROR = -32603;
const REQUEST_TIMEOUT = -32001;

/** What kind of failure a request of this connection ended with. "answer": the server answered with an error. */
export function failureOf(error: unknown, connection: Connection): Failure {
  if (connection.isClosed) return "closed";
  if (error instanceof UpstreamAuthError) return "auth";
  const { code, data, name } = error as { code?: unknown; data?: { timeout?: unknown } | undefined; name?: unknown };
  if (code === 401 || code === 403 || name === "UnauthorizedError") return "auth";
  if (code === 404) return "session";
  if (code === REQUEST_TIMEOUT && data?.timeout !== undefined) return "timeout";
  if (code === INTERNAL_ERROR) return "transport";
  return typeof code === "number" && code < 0 ? "answer" : "transport";
}

/** True for an error that a further try with the same configuration will meet again. */
export function isHopeless(error: unknown): boolean {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const { code } = at as { code?: unknown };
    if (at instanceof UpstreamAuthError || code === 401 || code === 403) return true;
    if (code === "ENOENT" || code === "EACCES" || at.message.includes("ENOENT")) return true;
  }
  return false;
}

/** The innermost message that says something: `fetch failed` has the address in its cause. */
export function reasonOf(error: unknown): string {
  const message = messageOf(error);
  const { cause } = error as { cause?: unknown };
  if (error instanceof ToolCallError || !(cause instanceof Error)) return message;
  const { code } = cause as { code?: unknown };
  const detail = cause.message === "" && typeof code === "string" ? code : cause.message;
  return detail === "" || message.includes(detail) ? message : `${message}: ${detail}`;
}
