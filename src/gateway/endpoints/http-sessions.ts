import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { Activity } from "../activity.js";
import { loadServerSdk } from "../sdk.js";

/** A client that has left without a word is forgotten after this time without a request, in milliseconds. */
const IDLE_MS = 60 * 60_000;
/** Beyond this many the ones that were idle longest are ended. */
const MAX_SESSIONS = 1_000;

interface Session {
  server: Server;
  transport: StreamableHTTPServerTransport;
  lastUsed: number;
}

/** The MCP sessions of one path: a server of its own for each client. */
export class HttpSessions {
  readonly #build: () => Promise<Server>;
  readonly #activity: Activity;
  readonly #sessions = new Map<string, Session>();

  constructor(build: () => Promise<Server>, activity: Activity) {
    this.#build = build;
    this.#activity = activity;
  }

  get size(): number {
    return this.#sessions.size;
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#forgetIdle();
    const id = request.headers["mcp-session-id"];
    if (id === undefined) {
      const { server, transport } = await this.#open();
      await transport.handleRequest(request, response);
      // Nothing but an initialize makes a session; what else comes without one has been refused.
      if (transport.sessionId === undefined) await server.close();
      return;
    }
    const session = typeof id === "string" ? this.#sessions.get(id) : undefined;
    if (session === undefined) {
      // By the protocol: the client then starts a new session.
      answer(response, 404, "Session not found");
      return;
    }
    session.lastUsed = performance.now();
    await session.transport.handleRequest(request, response);
  }

  async #open(): Promise<Omit<Session, "lastUsed">> {
    const { StreamableHTTPServerTransport: Transport } = await loadServerSdk();
    const server = await this.#build();
    const transport: StreamableHTTPServerTransport = new Transport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        this.#sessions.set(id, { server, transport, lastUsed: performance.now() });
      },
    });
    await server.connect(transport as Parameters<Server["connect"]>[0]);
    this.#activity.watch(transport as Parameters<Activity["watch"]>[0]);
    const { onclose } = transport;
    transport.onclose = () => {
      if (transport.sessionId !== undefined) this.#sessions.delete(transport.sessionId);
      onclose?.();
    };
    return { server, transport };
  }

  #forgetIdle(): void {
    const now = performance.now();
    const oldestFirst = [...this.#sessions.values()].sort((left, right) => left.lastUsed - right.lastUsed);
    for (const [index, session] of oldestFirst.entries()) {
      const isTooMany = oldestFirst.length - index > MAX_SESSIONS;
      if (!isTooMany && now - session.lastUsed < IDLE_MS) break;
      void session.server.close();
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#sessions.values()].map(({ server }) => server.close().catch(() => {})));
    this.#sessions.clear();
  }
}

/** Answers with an error in the form of JSON-RPC. */
export function answer(
  response: ServerResponse,
  status: number,
  message: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify({ jsonrpc: "2.0", error: { code: -32000, message }, id: null }));
}
