import { ConfigurationError } from "../errors.js";
import { nearestNames } from "../nearest.js";
import type { SandboxProvider } from "../sandbox/provider.js";
import type { SessionKeyOption } from "../session/session-key.js";
import { DEFAULT_SESSION_LIMITS, type SessionLimits } from "../session/session.js";

/** The option `session`, when it is on. */
export interface SessionOptions {
  /** What scripts declare at their top level is there in the next script of the same MCP session and caller. */
  variables: true;
  /**
   * What keeps a session together where MCP has none (stateless HTTP): the same text, the same session, for the same
   * caller. Undefined: none. Where it is given it decides alone. @default the MCP session, else the connection
   */
  key?: SessionKeyOption;
  /** Milliseconds without an execute after which a session is forgotten. @default 3_600_000 */
  ttlMs?: number;
  /** Most sessions that the store holds. @default 1_000 */
  maxSessions?: number;
  /** Memory of one session at rest, in bytes. @default 16 MiB */
  maxBytes?: number;
}

/** The option with its defaults. */
export interface ResolvedSession {
  key: SessionKeyOption | undefined;
  limits: SessionLimits;
}

const KEYS = ["variables", "key", "ttlMs", "maxSessions", "maxBytes"];
const NUMBERS = ["ttlMs", "maxSessions", "maxBytes"] as const;

/** @throws {ConfigurationError} for unknown keys, wrong types, and a sandbox that cannot keep a script's memory. */
export function resolveSession(given: unknown, provider: SandboxProvider): ResolvedSession | undefined {
  if (given === undefined || given === false) return undefined;
  if (typeof given !== "object" || given === null) throw wrong("must be false or { variables: true }");
  const options = given as Record<string, unknown>;
  for (const name of Object.keys(options)) if (!KEYS.includes(name)) throw unknownKey(name);
  if (options["variables"] !== true) throw wrong("has variables: true, or is false");
  const { key } = options;
  if (key !== undefined && typeof key !== "function") throw wrong(".key must be a function");
  if (provider.resume === undefined) {
    throw new ConfigurationError(
      `session needs a sandboxProvider with \`resume\`, which can keep the memory of scripts; "${provider.name}" has none.`,
    );
  }
  const limits = { ...DEFAULT_SESSION_LIMITS };
  for (const name of NUMBERS) limits[name] = numberOf(name, options[name]) ?? limits[name];
  return { key: key as SessionKeyOption | undefined, limits };
}

function numberOf(name: string, value: unknown): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "number" && value > 0 && (name === "ttlMs" || Number.isSafeInteger(value))) return value;
  throw wrong(`.${name} must be a number above 0, got ${typeof value === "number" ? value : typeof value}`);
}

function unknownKey(name: string): ConfigurationError {
  const [nearest] = nearestNames(name, KEYS, 1);
  const hint = nearest === undefined ? `Known: ${KEYS.join(", ")}.` : `Did you mean ${nearest}?`;
  return new ConfigurationError(`Unknown option session.${name}. ${hint}`);
}

const wrong = (what: string): ConfigurationError =>
  new ConfigurationError(`session${what.startsWith(".") ? "" : " "}${what}.`);
