import { createHash } from "node:crypto";
import type { CallContext } from "../catalog/tool.js";

/** What a host may know a caller by. */
export type CallerFacts = Pick<CallContext, "authInfo" | "sessionId">;

/**
 * The identity of a caller from the request alone: client id and subject, else a hash of the token. Undefined when the
 * request carries none; a session id is no identity.
 */
export function callerIdOf(authInfo: unknown): string | undefined {
  if (typeof authInfo !== "object" || authInfo === null) return undefined;
  const { clientId, token, extra } = authInfo as { clientId?: unknown; token?: unknown; extra?: unknown };
  const subject = typeof extra === "object" && extra !== null ? (extra as { sub?: unknown }).sub : undefined;
  if (typeof clientId === "string" && clientId !== "") {
    // As JSON, so that no client id can be made to read like another one with a subject.
    return `client:${JSON.stringify(typeof subject === "string" ? [clientId, subject] : [clientId])}`;
  }
  if (typeof token !== "string" || token === "") return undefined;
  return `token:${createHash("sha256").update(token).digest("hex")}`;
}
