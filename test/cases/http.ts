import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { type CallToolResult, McpError } from "@modelcontextprotocol/sdk/types.js";
import { type Caller, connectClient, type Connection, currentCaller } from "./connections.js";
import type { ServerUnderTest } from "./servers.js";

/** Carries the caller's authInfo to the loopback host, which trusts it: the part that a host's own login would do. */
const AUTH_HEADER = "x-cases-auth-info";

/** A host that serves streamable HTTP on loopback: a server for each session, as real hosts do. */
export class HttpHost {
  readonly #build: () => ServerUnderTest;
  readonly #http: Server;
  readonly #sessions = new Map<string, { transport: StreamableHTTPServerTransport; server: ServerUnderTest }>();

  constructor(build: () => ServerUnderTest) {
    this.#build = build;
    this.#http = createServer((request, response) => {
      this.#handle(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
    });
  }

  async listen(): Promise<URL> {
    await new Promise<void>((resolve) => this.#http.listen(0, "127.0.0.1", resolve));
    return new URL(`http://127.0.0.1:${(this.#http.address() as AddressInfo).port}/mcp`);
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const auth = request.headers[AUTH_HEADER];
    if (typeof auth === "string") Object.assign(request, { auth: JSON.parse(auth) as unknown });
    const sessionId = request.headers["mcp-session-id"];
    const known = typeof sessionId === "string" ? this.#sessions.get(sessionId) : undefined;
    const transport = known?.transport ?? (await this.#open());
    await transport.handleRequest(request, response);
  }

  async #open(): Promise<StreamableHTTPServerTransport> {
    const server = this.#build();
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void this.#sessions.set(id, { transport, server }),
    });
    await server.connect(transport as Transport);
    return transport;
  }

  async close(): Promise<void> {
    for (const { server } of this.#sessions.values()) await server.close();
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#http.close(resolve));
  }
}

/** A session of the SDK's client on a loopback host. Requests with an id of their own are posted by the runner. */
export async function connectHttp(url: URL, caller: Caller): Promise<Connection> {
  const transport = new StreamableHTTPClientTransport(url, { fetch: fetchAsCaller });
  const connection = await currentCaller.run(caller, () =>
    connectClient(transport as Transport, async () => undefined),
  );
  return {
    ...connection,
    callTool: (name, args, request) =>
      request.id === undefined
        ? connection.callTool(name, args, request)
        : currentCaller.run(request.caller, () =>
            post(url, transport.sessionId, { name, arguments: args }, request.id),
          ),
  };
}

async function fetchAsCaller(url: string | URL, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  const authInfo = currentCaller.getStore()?.authInfo;
  if (authInfo !== undefined) headers.set(AUTH_HEADER, JSON.stringify(authInfo));
  return fetch(url, { ...init, headers });
}

async function post(url: URL, session: string | undefined, params: object, id: unknown): Promise<CallToolResult> {
  const response = await fetchAsCaller(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(session === undefined ? {} : { "mcp-session-id": session }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params }),
  });
  const message = messageIn(await response.text(), id);
  if (message.error !== undefined) throw new McpError(message.error.code, message.error.message, message.error.data);
  return message.result as CallToolResult;
}

interface Reply {
  id?: unknown;
  result?: unknown;
  error?: { code: number; message: string; data?: unknown };
}

/** The reply with this id in a body of JSON or of server-sent events. */
function messageIn(body: string, id: unknown): Reply {
  const texts = body.trimStart().startsWith("{")
    ? [body]
    : body
        .split("\n")
        .filter((line) => line.startsWith("data:"))
        .map((line) => line.slice(5));
  const reply = texts.map((text) => JSON.parse(text) as Reply).find((message) => message.id === id);
  if (reply === undefined) throw new Error(`no reply with id ${String(id)} in ${body.slice(0, 200)}`);
  return reply;
}
