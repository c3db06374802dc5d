import { ConfigurationError } from "../errors.js";
import { nearestNames } from "../nearest.js";
import type { RouteRule } from "./operation/routes.js";
import type { CredentialOptions } from "./request/credentials.js";
import type { Fetch } from "./request/send.js";

/** Options of {@link openApiSource}. All are optional. */
export interface OpenApiSourceOptions extends CredentialOptions {
  /** The server name of the tools. @default none */
  name?: string | undefined;
  /** Where the API is: wins over every server of the document. @default the first server of the document */
  baseUrl?: string | URL | undefined;
  /** Where the document is, which relative server URLs are relative to. @default its URL, if it was loaded from one */
  specUrl?: string | URL | undefined;
  /** Values for variables of server URLs. @default those of the document */
  serverVariables?: Readonly<Record<string, string>> | undefined;
  /** Which operations become tools, and how: the first rule that fits decides. @default all become tools */
  routes?: readonly RouteRule[] | undefined;
  /** In place of the global `fetch`, for requests and for loading the document. */
  fetch?: Fetch | undefined;
  /** Longest time for one request, in milliseconds; `limits.toolTimeoutMs` bounds calls too. @default 30000 */
  timeoutMs?: number | undefined;
  /** Longest answer, in bytes. @default 4194304 (4 MiB) */
  maxResponseBytes?: number | undefined;
  /** Reads the files that the document refers to. Needs `@readme/openapi-parser`. @default false */
  externalReferences?: boolean | undefined;
  /** Refuses documents that are not valid. Needs `@readme/openapi-parser`. @default false */
  validate?: boolean | undefined;
}

/** Options as they are used. */
export interface ResolvedOptions extends CredentialOptions {
  name: string | undefined;
  baseUrl: URL | undefined;
  specUrl: URL | undefined;
  serverVariables: Readonly<Record<string, string>>;
  routes: readonly RouteRule[];
  fetch: Fetch;
  timeoutMs: number;
  maxResponseBytes: number;
  externalReferences: boolean;
  validate: boolean;
}

const KNOWN: readonly (keyof OpenApiSourceOptions)[] = [
  "name",
  "baseUrl",
  "specUrl",
  "serverVariables",
  "routes",
  "fetch",
  "timeoutMs",
  "maxResponseBytes",
  "externalReferences",
  "validate",
  "auth",
  "headers",
  "query",
  "bearer",
  "basic",
];
const ROUTE_KEYS: readonly (keyof RouteRule)[] = [
  "methods",
  "path",
  "operationId",
  "tags",
  "when",
  "exclude",
  "name",
  "addTags",
  "annotations",
];

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_MAX_RESPONSE_BYTES = 4 * 1024 * 1024;
/** The longest time a timer takes. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** @throws {ConfigurationError} for an unknown option, with the nearest known one, and for a value of the wrong kind. */
export function resolveOptions(options: OpenApiSourceOptions): ResolvedOptions {
  knownKeys(options, KNOWN, "");
  for (const [index, rule] of (options.routes ?? []).entries()) knownKeys(rule, ROUTE_KEYS, `routes[${index}].`);
  const { fetch, auth, headers, query, bearer, basic } = options;
  if (fetch !== undefined && typeof fetch !== "function") throw new ConfigurationError("fetch must be a function.");
  return {
    auth,
    headers,
    query,
    bearer,
    basic,
    name: options.name,
    baseUrl: urlOption(options.baseUrl, "baseUrl"),
    specUrl: urlOption(options.specUrl, "specUrl"),
    serverVariables: options.serverVariables ?? {},
    routes: options.routes ?? [],
    // Looked up per request: hosts replace the global one.
    fetch: fetch ?? ((url, init) => globalThis.fetch(url, init)),
    timeoutMs: numberOption(options.timeoutMs ?? DEFAULT_TIMEOUT_MS, "timeoutMs", MAX_TIMEOUT_MS),
    maxResponseBytes: numberOption(
      options.maxResponseBytes ?? DEFAULT_MAX_RESPONSE_BYTES,
      "maxResponseBytes",
      Number.MAX_SAFE_INTEGER,
    ),
    externalReferences: options.externalReferences === true,
    validate: options.validate === true,
  };
}

function knownKeys(object: object, known: readonly string[], where: string): void {
  for (const key of Object.keys(object)) {
    if (known.includes(key)) continue;
    const [nearest] = nearestNames(key, known, 1);
    const hint = nearest === undefined ? `Known: ${known.join(", ")}.` : `Did you mean ${nearest}?`;
    throw new ConfigurationError(`Unknown option "${where}${key}". ${hint}`);
  }
}

function urlOption(value: string | URL | undefined, name: string): URL | undefined {
  if (value === undefined) return undefined;
  if (!URL.canParse(String(value)))
    throw new ConfigurationError(`${name} must be a full URL, as in https://example.com/api.`);
  return new URL(value);
}

function numberOption(value: number, name: string, most: number): number {
  if (Number.isSafeInteger(value) && value > 0 && value <= most) return value;
  throw new ConfigurationError(`${name} must be a whole number from 1 to ${most}, got ${value}.`);
}
