import type { CallContext, Tool, ToolResult, ToolSource } from "../catalog/tool.js";
import { ConfigurationError, LimitError, ToolCallError } from "../errors.js";
import { onListChanged } from "./client-notifications.js";

/** Options of {@link clientSource}. */
export interface ClientSourceOptions {
  /** The server name of the tools. @default the name the server gave, else "server" */
  name?: string;
  /**
   * Longest time for one call, in milliseconds; progress starts it again.
   * @default none: `limits.toolTimeoutMs` bounds each call already
   */
  timeoutMs?: number;
}

/** The part of the SDK's `Client` class this package uses, of both generations. */
interface McpClient {
  listTools(
    params: { cursor: string } | undefined,
    options: RequestOptions,
  ): Promise<{ tools: Tool[]; nextCursor?: string | undefined }>;
  /** 1.x: (params, resultSchema, options). 2.x: (params, options). */
  callTool(params: { name: string; arguments: Record<string, unknown> }, ...rest: unknown[]): Promise<ToolResult>;
  getServerVersion?(): { name?: unknown } | undefined;
  getServerCapabilities?(): { tools?: { listChanged?: boolean } } | undefined;
  close(): Promise<void>;
}

interface RequestOptions {
  signal: AbortSignal;
  timeout: number;
  resetTimeoutOnProgress?: boolean;
  onprogress?: CallContext["onProgress"];
}

/** The SDK gives up after 60 s by itself; ours ends calls by their signal. The longest time a timer takes. */
const NO_TIMEOUT = 2 ** 31 - 1;

/** A server that still gives cursors after this many pages does not stop by itself. */
const MAX_PAGES = 1_000;

/** Longest time for one page of a list, in milliseconds: what the SDK itself allows. */
const LIST_TIMEOUT_MS = 60_000;

/** How long a list is kept from a server that does not tell of changes. */
const UNANNOUNCED_LIST_MS = 30_000;

/**
 * The tools of a server that a `Client` of the MCP TypeScript SDK is connected to (1.x or 2.x). Every call is made as
 * that client, whoever the caller is. The list is kept until the server tells of a change, or for 30 seconds where it
 * never does. `close()` closes the client.
 *
 * @throws {ConfigurationError} when `client` is no such client.
 *
 * @example
 * const client = new Client({ name: "gateway", version: "1.0.0" });
 * await client.connect(new StdioClientTransport({ command: "npx", args: ["@modelcontextprotocol/server-memory"] }));
 * server.use(codeMode({ sources: [clientSource(client)] }));
 */
export function clientSource(client: object, options: ClientSourceOptions = {}): ToolSource {
  return new ClientSource(recogniseClient(client), options);
}

function recogniseClient(client: unknown): McpClient {
  const methods = ["listTools", "callTool", "close"] as const;
  const candidate = (typeof client === "object" && client !== null ? client : {}) as Partial<McpClient>;
  if (methods.every((method) => typeof candidate[method] === "function")) return client as McpClient;
  throw new ConfigurationError(
    "clientSource(client) expected a Client of @modelcontextprotocol/sdk (1.x) or @modelcontextprotocol/client (2.x)",
  );
}

class ClientSource implements ToolSource {
  readonly #client: McpClient;
  readonly #options: ClientSourceOptions;
  /** 2.x: no result schema among the arguments of `callTool`. */
  readonly #isV2: boolean;
  readonly #listeners = new Set<() => void>();
  readonly #stopListening: () => void;
  #kept: { tools: Promise<Tool[]>; until: number } | undefined;

  constructor(client: McpClient, options: ClientSourceOptions) {
    this.#client = client;
    this.#options = options;
    this.#isV2 = "_getRequestHandler" in client;
    this.#stopListening = onListChanged(client, () => {
      this.#kept = undefined;
      for (const listener of this.#listeners) listener();
    });
  }

  get name(): string {
    const name = this.#options.name ?? this.#client.getServerVersion?.()?.name;
    return typeof name === "string" ? name : "server";
  }

  /** Shared by all callers, so no caller's signal ends it. */
  listTools(): Promise<Tool[]> {
    if (this.#kept !== undefined && performance.now() < this.#kept.until) return this.#kept.tools;
    const tools = this.#allPages();
    const kept = { tools, until: performance.now() + this.#keptFor };
    this.#kept = kept;
    tools.catch(() => {
      if (this.#kept === kept) this.#kept = undefined;
    });
    return tools;
  }

  async callTool(name: string, args: Record<string, unknown>, context: CallContext): Promise<ToolResult> {
    const linked = linkedSignal(context.signal);
    try {
      const request = { name, arguments: args };
      const options = this.#requestOptions(linked.signal, context.onProgress);
      return await (this.#isV2
        ? this.#client.callTool(request, options)
        : this.#client.callTool(request, undefined, options));
    } finally {
      linked.release();
    }
  }

  onToolsChanged(listener: () => void): () => void {
    const entry = (): void => listener();
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  async close(): Promise<void> {
    this.#stopListening();
    this.#listeners.clear();
    await this.#client.close();
  }

  /** 2026-07-28 sends changes only to those who subscribed, which is the owner of the client's to decide. */
  get #keptFor(): number {
    const client = this.#client as McpClient & { getProtocolEra?(): unknown; autoOpenedSubscription?: unknown };
    const tells = this.#client.getServerCapabilities?.()?.tools?.listChanged === true;
    const hears = client.getProtocolEra?.() !== "modern" || client.autoOpenedSubscription !== undefined;
    return tells && hears ? Number.POSITIVE_INFINITY : UNANNOUNCED_LIST_MS;
  }

  #requestOptions(signal: AbortSignal, onprogress: CallContext["onProgress"]): RequestOptions {
    const options: RequestOptions = {
      signal,
      timeout: this.#options.timeoutMs ?? NO_TIMEOUT,
      resetTimeoutOnProgress: true,
    };
    // Asks the server for progress, so only when somebody listens.
    if (onprogress !== undefined) options.onprogress = onprogress;
    return options;
  }

  async #allPages(): Promise<Tool[]> {
    const seen = new Set<string>();
    const tools: Tool[] = [];
    let cursor: string | undefined;
    do {
      if (seen.size > MAX_PAGES)
        throw new LimitError(`tools/list of ${this.name} did not end after ${MAX_PAGES} pages`);
      if (cursor !== undefined) seen.add(cursor);
      const options = { signal: new AbortController().signal, timeout: this.#options.timeoutMs ?? LIST_TIMEOUT_MS };
      const page = await this.#client.listTools(cursor === undefined ? undefined : { cursor }, options);
      if (!Array.isArray(page.tools))
        throw new ToolCallError(`${this.name} answered tools/list without a list of tools`);
      for (const tool of page.tools) tools.push(tool);
      cursor = page.nextCursor;
    } while (cursor !== undefined && !seen.has(cursor));
    return tools;
  }
}

/** A signal that follows another one until it is released: the SDK never removes its own listener, and runs are long. */
function linkedSignal(parent: AbortSignal): { signal: AbortSignal; release: () => void } {
  const controller = new AbortController();
  const follow = (): void => controller.abort(parent.reason);
  if (parent.aborted) follow();
  else parent.addEventListener("abort", follow, { once: true });
  return { signal: controller.signal, release: () => parent.removeEventListener("abort", follow) };
}
