import { createHash } from "node:crypto";
import { ConfigurationError } from "../errors.js";

/** Where an execute comes from, as the host knows it. */
export interface SessionFacts {
  /** The name of the server. */
  server?: string | undefined;
  /** The identity of the caller, if it has one. */
  callerId?: string | undefined;
  /** The MCP session, on transports that have them. */
  sessionId?: string | undefined;
  /** Names a connection that serves one client until it closes, such as stdio: unique in all processes. */
  connection?: string | undefined;
  authInfo?: unknown;
}

/** The option `session.key`: what keeps a session together where MCP does not. */
export type SessionKeyOption = (caller: { authInfo?: unknown; sessionId?: string | undefined }) => string | undefined;

/** The key of a session, or why there is none. */
export type SessionKey = { key: string; note?: undefined } | { key: undefined; note: string };

const STATELESS =
  "Nothing is kept between executes: this connection has no MCP session, so there is nothing to tell one client from " +
  "another. The host can give one with the option session.key.";

const NO_HOST_KEY = "Nothing is kept between executes: the host's session.key named no session for this caller.";

/**
 * The key under which the session of a request is stored: of server, caller, and the host's own key, else the MCP session,
 * else the connection. Where there is none of these (stateless HTTP, protocol 2026-07-28) there is no session either: a
 * default would put strangers into one.
 *
 * Callers, sessions and connections cannot meet: the key is a hash of all of them, each in its place, and holds no word
 * of them.
 *
 * @throws {ConfigurationError} when `session.key` gives something else than a text or undefined.
 */
export function sessionKeyOf(facts: SessionFacts, hostKey?: SessionKeyOption): SessionKey {
  const { authInfo, sessionId, connection } = facts;
  // A host that gives keys decides alone: falling back to the MCP session would make two sessions of one.
  if (hostKey !== undefined) {
    const given = hostKey({ authInfo, sessionId }) as unknown;
    if (given === undefined || given === "") return { key: undefined, note: NO_HOST_KEY };
    if (typeof given === "string") return { key: hashOf(facts, "host", given) };
    throw new ConfigurationError(
      `session.key must give a text or undefined, it gave ${given === null ? "null" : typeof given}.`,
    );
  }
  if (sessionId !== undefined && sessionId !== "") return { key: hashOf(facts, "mcp", sessionId) };
  if (connection !== undefined && connection !== "") return { key: hashOf(facts, "connection", connection) };
  return { key: undefined, note: STATELESS };
}

function hashOf({ server, callerId }: SessionFacts, kind: "host" | "mcp" | "connection", id: string): string {
  // As JSON, so that no name can be made to read like another one with something behind it.
  const text = JSON.stringify([server ?? null, callerId ?? null, kind, id]);
  return `session/${createHash("sha256").update(text).digest("hex")}`;
}
