import type { CallContext } from "../catalog/tool.js";
import type { ErrorKind } from "../errors.js";
import type { FinishedResult } from "../sandbox/provider.js";
import { sessionKeyOf, type SessionKeyOption } from "../session/session-key.js";
import type { OpenSession, Sessions } from "../session/session.js";

/** Sessions of an engine, and how they are told apart. */
export interface ScriptSessions {
  sessions: Sessions;
  /** The host's own way to name a session. */
  key: SessionKeyOption | undefined;
  server: string | undefined;
}

/** Where a script's session is: what a run that was paused needs to save it later. */
export type SessionPlace = Pick<OpenSession, "key" | "revision">;

/** The session of a request; a note instead, once for each server and reason, where it has none. */
export function sessionOf(
  { key: hostKey, server }: ScriptSessions,
  context: CallContext,
): { key: string } | { key: undefined; notes: readonly string[] } {
  const { callerId, sessionId, connection, authInfo } = context;
  const found = sessionKeyOf({ server, callerId, sessionId, connection, authInfo }, hostKey);
  if (found.key !== undefined) return { key: found.key };
  const said = JSON.stringify([server, found.note]);
  if (noted.has(said)) return { key: undefined, notes: [] };
  noted.add(said);
  return { key: undefined, notes: [found.note] };
}

/** Per process: a stateless host makes an engine for each request, and would say it with every reply. */
const noted = new Set<string>();

/** After these the memory is not what the script left: it was stopped anywhere. */
const LOST: ReadonlySet<ErrorKind> = new Set(["timeout", "memory", "stack", "cancelled", "sandbox"]);

/**
 * Keeps what a script left in its variables, also after a failure of its own.
 *
 * @returns Sentences for the model.
 */
export async function keepSession(
  sessions: Sessions,
  place: SessionPlace,
  result: FinishedResult,
  hadMemory: boolean,
): Promise<readonly string[]> {
  const kind = result.status === "failed" ? result.error.kind : undefined;
  if (kind === "sandbox" && hadMemory) {
    await sessions.forget(place);
    return ["The variables of this session could not be used any more and are gone."];
  }
  if (kind !== undefined && LOST.has(kind)) return [STATE_LOST];
  if (result.snapshot === undefined) return [];
  const problem = await sessions.save(place, result.snapshot);
  return problem === undefined ? [] : [problem];
}

const STATE_LOST =
  "The script was stopped: what it did to the variables of the session was lost, they are as before it.";
