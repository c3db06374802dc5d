import { randomUUID } from "node:crypto";
import type { LowLevelServer } from "./host-server.js";

const names = new WeakMap<object, string>();

/**
 * Names the connection of a request, when it is one that serves a single client until it closes: stdio, or both sides in
 * one process. Any other transport may carry many clients over one object, as stateless HTTP does, and then a name for
 * it would be shared by strangers: those have the session of MCP, or the host's own key, or none.
 */
export function connectionOf(server: LowLevelServer, extra: object): string | undefined {
  const { transport } = server;
  if (typeof transport !== "object" || transport === null || cameOverHttp(extra)) return undefined;
  if (!isForOneClient(transport)) return undefined;
  const known = names.get(transport) ?? randomUUID();
  names.set(transport, known);
  return known;
}

/** Requests of HTTP transports carry what they were (`requestInfo` in 1.x, `http` in 2.x). */
function cameOverHttp(extra: object): boolean {
  const { requestInfo, http } = extra as { requestInfo?: unknown; http?: { req?: unknown } | undefined };
  return requestInfo !== undefined || http?.req !== undefined;
}

/** The two transports of the SDK that have one peer: their own fields are the same in all versions. */
function isForOneClient(transport: object): boolean {
  return ("_stdin" in transport && "_stdout" in transport) || "_otherTransport" in transport;
}
