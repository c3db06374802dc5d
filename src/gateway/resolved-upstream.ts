import { policies } from "../calls/policies.js";
import type { CallPolicy } from "../calls/policy.js";
import { ConfigurationError } from "../errors.js";
import { isRecord, type TokenProvider, type UpstreamConfig } from "./config.js";
import { toolFilter } from "./tool-filter.js";

/** A program to start. */
export interface StdioTarget {
  kind: "stdio";
  command: string;
  args: readonly string[];
  /** All it gets, inherited variables included. */
  env: Readonly<Record<string, string>>;
  cwd: string | undefined;
}

/** A server to reach by HTTP. */
export interface HttpTarget {
  kind: "http";
  url: URL;
  headers: Readonly<Record<string, string>>;
  /** "auto": streamable HTTP, then SSE. */
  protocol: "auto" | "http" | "sse";
  tokenProvider: TokenProvider | undefined;
  authProvider: object | undefined;
}

/** One upstream, checked and with every reference filled in. */
export interface ResolvedUpstream {
  id: string;
  prefix: string;
  target: StdioTarget | HttpTarget;
  /** By the server's own tool names. */
  admits: (tool: string) => boolean;
  defaultArguments: Readonly<Record<string, unknown>>;
  hiddenArguments: readonly string[];
  policy: CallPolicy | undefined;
  trust: boolean;
  /** Undefined: by what it lists. */
  passThrough: boolean | undefined;
  toolTimeoutMs: number;
  connectTimeoutMs: number;
}

/** Clients give up after 60 s unless told otherwise; a tool that reports progress may take longer. */
export const DEFAULT_TOOL_TIMEOUT_MS = 60_000;
/** A first `npx` downloads the package. */
export const DEFAULT_CONNECT_TIMEOUT_MS = 30_000;

/**
 * The settings of an upstream that say nothing of how it is reached.
 *
 * @throws {ConfigurationError} for a value of the wrong type; the message names server and key.
 */
export function settingsOf(id: string, config: UpstreamConfig): Omit<ResolvedUpstream, "target"> {
  const read = new EntryReader(id, config);
  return {
    id,
    prefix: read.text("prefix") ?? id,
    admits: toolFilter(read.texts("allow"), read.texts("deny")),
    defaultArguments: read.object("defaultArguments") ?? {},
    hiddenArguments: read.texts("hiddenArguments") ?? [],
    policy: policyOf(read, config),
    trust: read.boolean("trust") ?? false,
    passThrough: read.boolean("passThrough"),
    toolTimeoutMs: read.milliseconds("toolTimeoutMs") ?? DEFAULT_TOOL_TIMEOUT_MS,
    connectTimeoutMs: read.milliseconds("connectTimeoutMs") ?? DEFAULT_CONNECT_TIMEOUT_MS,
  };
}

function policyOf(read: EntryReader, { policy }: UpstreamConfig): CallPolicy | undefined {
  if (policy === undefined || typeof policy === "function") return policy;
  if (policy === "read-only") return policies.readOnly;
  if (policy === "deny-destructive") return policies.denyDestructive;
  throw read.wrong("policy", '"read-only", "deny-destructive" or a function');
}

/** Reads the values of one entry. Every error names the server and the key. */
export class EntryReader {
  readonly #id: string;
  readonly #config: UpstreamConfig;

  constructor(id: string, config: UpstreamConfig) {
    this.#id = id;
    this.#config = config;
  }

  text(key: string): string | undefined {
    return this.#typed(key, "a string", (value) => typeof value === "string");
  }

  boolean(key: string): boolean | undefined {
    return this.#typed(key, "true or false", (value) => typeof value === "boolean");
  }

  texts(key: string): readonly string[] | undefined {
    return this.#typed(key, "a list of strings", (value) => Array.isArray(value) && value.every(isText));
  }

  object(key: string): Record<string, unknown> | undefined {
    return this.#typed(key, "an object", isRecord);
  }

  /** Numbers and booleans are taken as text: people write them so. */
  textsByName(key: string): Record<string, string> | undefined {
    const fits = (value: unknown): boolean => isRecord(value) && Object.values(value).every(isScalar);
    const object = this.#typed<Record<string, unknown>>(key, "an object of strings", fits);
    return object && Object.fromEntries(Object.entries(object).map(([name, value]) => [name, String(value)]));
  }

  milliseconds(key: string): number | undefined {
    const fits = (value: unknown): boolean => typeof value === "number" && value > 0 && value <= 2 ** 31 - 1;
    return this.#typed(key, "a number of milliseconds over 0", fits);
  }

  wrong(key: string, expected: string): ConfigurationError {
    return new ConfigurationError(`Server ${JSON.stringify(this.#id)}: ${key} must be ${expected}.`, {
      details: { server: this.#id, key },
    });
  }

  #typed<T>(key: string, expected: string, fits: (value: unknown) => boolean): T | undefined {
    const value = this.#config[key];
    if (value === undefined || value === null) return undefined;
    if (!fits(value)) throw this.wrong(key, expected);
    return value as T;
  }
}

const isText = (value: unknown): boolean => typeof value === "string";
const isScalar = (value: unknown): boolean => ["string", "number", "boolean"].includes(typeof value);
