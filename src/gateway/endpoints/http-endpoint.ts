import { createServer, type IncomingMessage, type Server as HttpServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { Activity } from "../activity.js";
import type { ServerMode } from "../servers.js";
import { HttpGuard, type HttpAccess } from "./http-guard.js";
import { answer, HttpSessions } from "./http-sessions.js";

/** Options of {@link Gateway.listen}. */
export interface ListenOptions extends HttpAccess {
  /** @default 0: any that is free */
  port?: number;
}

/** An endpoint that clients can reach. */
export interface Endpoint {
  /** Ends it: takes nothing new, waits for what runs at most `drainMs`, then closes every session. */
  close(options?: { drainMs?: number }): Promise<void>;
}

/** Both paths of a gateway by HTTP. */
export interface HttpEndpoint extends Endpoint {
  /** Without a path: `http://127.0.0.1:8000`. */
  readonly url: string;
  readonly port: number;
}

/** What an endpoint serves. */
export interface HttpParts {
  build(mode: ServerMode): Promise<Server>;
  /** For whoever has the token; others learn no more than that it runs. */
  health(): object;
}

/** Serves `/mcp` (every tool), `/mcp/code` (search and execute) and `/health` from one process. */
export async function listen(parts: HttpParts, options: ListenOptions): Promise<HttpEndpoint> {
  const routes = new Routes(parts, new HttpGuard(options));
  const http = createServer((request, response) => {
    routes.handle(request, response).catch(() => {
      if (!response.headersSent) answer(response, 500, "Internal error");
      else response.destroy();
    });
  });
  const host = options.host ?? "127.0.0.1";
  await new Promise<void>((resolve, reject) => {
    http.once("error", reject).listen(options.port ?? 0, host.replaceAll(/[[\]]/g, ""), resolve);
  });
  const { port } = http.address() as AddressInfo;
  const name = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
  return { url: `http://${name}:${port}`, port, close: ({ drainMs = 0 } = {}) => routes.close(http, drainMs) };
}

class Routes {
  readonly #parts: HttpParts;
  readonly #guard: HttpGuard;
  readonly #activity = new Activity();
  readonly #sessions: ReadonlyMap<string, HttpSessions>;
  #isClosing = false;

  constructor(parts: HttpParts, guard: HttpGuard) {
    this.#parts = parts;
    this.#guard = guard;
    this.#sessions = new Map([
      ["/mcp", new HttpSessions(() => parts.build("classic"), this.#activity)],
      ["/mcp/code", new HttpSessions(() => parts.build("code"), this.#activity)],
    ]);
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "/").split("?")[0]?.replace(/(?<=.)\/+$/, "");
    if (this.#cors(request, response)) return;
    if (path === "/health") {
      this.#health(request, response);
      return;
    }
    const sessions = this.#sessions.get(path ?? "");
    if (sessions === undefined) {
      answer(response, 404, "Not found: the paths are /mcp, /mcp/code and /health");
      return;
    }
    const refusal = this.#guard.refuse(request);
    if (refusal !== undefined) {
      answer(response, refusal.status, refusal.message, refusal.status === 401 ? { "www-authenticate": "Bearer" } : {});
      return;
    }
    const isGoodbye = request.method === "DELETE";
    if (this.#isClosing && !isGoodbye) {
      answer(response, 503, "The gateway is shutting down", { "retry-after": "1" });
      return;
    }
    await sessions.handle(request, response);
  }

  /** Lets web pages of allowed origins in. True when the request was a question about that. */
  #cors(request: IncomingMessage, response: ServerResponse): boolean {
    const { origin } = request.headers;
    if (origin !== undefined && this.#guard.isAllowedOrigin(origin)) {
      response.setHeader("access-control-allow-origin", origin);
      response.setHeader("access-control-expose-headers", "mcp-session-id, mcp-protocol-version");
      response.setHeader("vary", "origin");
    }
    if (request.method !== "OPTIONS") return false;
    response.writeHead(204, {
      "access-control-allow-methods": "GET, POST, DELETE",
      "access-control-allow-headers":
        "authorization, content-type, last-event-id, mcp-protocol-version, mcp-session-id",
    });
    response.end();
    return true;
  }

  #health(request: IncomingMessage, response: ServerResponse): void {
    const body = this.#guard.refuse(request) === undefined ? this.#parts.health() : {};
    response.writeHead(this.#isClosing ? 503 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify({ status: this.#isClosing ? "closing" : "ok", ...body }));
  }

  async close(http: HttpServer, drainMs: number): Promise<void> {
    this.#isClosing = true;
    await this.#activity.idle(drainMs);
    for (const sessions of this.#sessions.values()) await sessions.close();
    if (!http.listening) return;
    await new Promise<void>((resolve) => {
      http.close(() => resolve());
      http.closeAllConnections();
    });
  }
}
