import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { ConfigurationError } from "../../errors.js";

/** Who may reach an HTTP endpoint. */
export interface HttpAccess {
  /** @default "127.0.0.1" */
  host?: string;
  /** Clients send it as `Authorization: Bearer <token>`. Required beyond loopback. */
  token?: string;
  /** Names under which clients reach the endpoint, without port, besides those of loopback and `host`. */
  allowedHosts?: readonly string[];
  /** Origins of web pages that may use it, such as "https://app.example.com". @default those of loopback */
  allowedOrigins?: readonly string[];
}

/** Why a request is refused. */
export interface Refusal {
  status: 401 | 403;
  message: string;
}

const LOOPBACK: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "::1", "[::1]"]);
const ANY: ReadonlySet<string> = new Set(["0.0.0.0", "::", "[::]"]);
/** A token that can be guessed is none. */
const SHORTEST_TOKEN = 16;

/** True for an address that only this machine can reach. */
export const isLoopback = (host: string): boolean => LOOPBACK.has(host) || /^127\.\d+\.\d+\.\d+$/.test(host);

/** Checks who asks before anything of a request is read. */
export class HttpGuard {
  readonly #token: Buffer | undefined;
  readonly #hosts: ReadonlySet<string> | undefined;
  readonly #origins: ReadonlySet<string>;

  /** @throws {ConfigurationError} for an endpoint beyond loopback without a token, and for a token that is too short. */
  constructor({ host = "127.0.0.1", token, allowedHosts = [], allowedOrigins = [] }: HttpAccess) {
    if (token === undefined && !isLoopback(host)) {
      throw new ConfigurationError(
        `An endpoint on ${host} can be reached from other machines and needs a token: give \`token\` (the command line reads it from MCP_CODEMODE_TOKEN), or stay on 127.0.0.1.`,
      );
    }
    if (token !== undefined && token.length < SHORTEST_TOKEN) {
      throw new ConfigurationError(`The token must have at least ${SHORTEST_TOKEN} characters.`);
    }
    this.#token = token === undefined ? undefined : digest(token);
    const names = [...LOOPBACK, host, ...allowedHosts].map((name) => name.toLowerCase());
    // Bound to every address, with no names given: the token alone decides, since nobody can know the names.
    this.#hosts = ANY.has(host) && allowedHosts.length === 0 ? undefined : new Set(names);
    this.#origins = new Set(allowedOrigins);
  }

  /** Why this request is refused; undefined: it is not. */
  refuse(request: IncomingMessage): Refusal | undefined {
    const { host, origin } = request.headers;
    // A page whose name was made to point here (DNS rebinding) sends its own name.
    if (this.#hosts !== undefined && !this.#hosts.has(nameOf(host ?? ""))) {
      return { status: 403, message: "This host name is not allowed here." };
    }
    if (origin !== undefined && !this.isAllowedOrigin(origin)) {
      return { status: 403, message: "This origin is not allowed here." };
    }
    if (!this.hasToken(request)) return { status: 401, message: "A bearer token is required." };
    return undefined;
  }

  /** True for web pages of this machine, and those that were allowed. */
  isAllowedOrigin(origin: string): boolean {
    if (this.#origins.has(origin)) return true;
    if (!URL.canParse(origin)) return false;
    return isLoopback(new URL(origin).hostname);
  }

  /** True when there is no token, or the request has it. Takes the same time for every wrong one. */
  hasToken({ headers }: IncomingMessage): boolean {
    if (this.#token === undefined) return true;
    const given = /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1] ?? "";
    return timingSafeEqual(digest(given), this.#token);
  }
}

/** Of one length, as the comparison needs it. */
const digest = (token: string): Buffer => createHash("sha256").update(token).digest();

/** A Host header without its port. */
function nameOf(host: string): string {
  const name = host.toLowerCase();
  if (isIP(name) === 6) return `[${name}]`;
  return name.replace(/:\d+$/, "");
}
