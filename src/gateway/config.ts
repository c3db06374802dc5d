import type { CallPolicy } from "../calls/policy.js";
import type { Awaitable } from "../catalog/tool.js";
import { ConfigurationError } from "../errors.js";
import type { CodeModeOptions } from "../options.js";
import type { InputDefinition } from "./expand.js";

/** Hands out the token for an upstream. `refresh`: the server has refused the last one. */
export type TokenProvider = (request: { refresh: boolean }) => Awaitable<string>;

/** One upstream server, as the files of MCP clients describe it. Texts may hold `${VAR}` and the like. */
export interface UpstreamConfig {
  /** A program to start: stdio. */
  command?: string;
  args?: readonly string[];
  /** The variables it gets besides PATH, HOME and the few others that every program needs. */
  env?: Readonly<Record<string, string>>;
  /** A file of `NAME=value` lines; `env` wins over it. */
  envFile?: string;
  cwd?: string;
  /** A server to reach by HTTP. `serverUrl`, as Windsurf writes it, is the same. */
  url?: string;
  serverUrl?: string;
  headers?: Readonly<Record<string, string>>;
  /** Name of the environment variable that holds a bearer token. */
  bearerTokenEnv?: string;
  /** In code only: tokens that are renewed. */
  tokenProvider?: TokenProvider;
  /** In code only: an `OAuthClientProvider` of the SDK. It keeps its tokens itself. */
  authProvider?: object;
  /** @default by `command` or `url`; for a URL streamable HTTP first, then SSE */
  type?: string;
  /** @default false */
  disabled?: boolean;
  /** Stands before the tools' names: `prefix__tool`. "": the names stay as they are. @default the id */
  prefix?: string;
  /** Only these tools, by the server's own names; `*` stands for any characters. @default all */
  allow?: readonly string[];
  /** Never these, whatever `allow` says. */
  deny?: readonly string[];
  /** Values for parameters that were not given, where a tool accepts them. */
  defaultArguments?: Readonly<Record<string, unknown>>;
  /** Default arguments that nobody sees or replaces. @default [] */
  hiddenArguments?: readonly string[];
  /** Decides about each call; in files "read-only" or "deny-destructive". */
  policy?: CallPolicy | "read-only" | "deny-destructive";
  /** True: what the server says of itself may stand in instructions to the model. @default false */
  trust?: boolean;
  /** True: its tools stay listed beside search and execute. @default true for a server that has a code mode of its own */
  passThrough?: boolean;
  /** Longest time for one call, in milliseconds; progress starts it again. @default 60000 */
  toolTimeoutMs?: number;
  /** Longest time for a start, in milliseconds: process, handshake and list. @default 30000 */
  connectTimeoutMs?: number;
  [key: string]: unknown;
}

/** What {@link createGateway} takes: the content of a file that MCP clients have, or the same in code. */
export interface GatewayConfig {
  /** As Claude Desktop, Claude Code, Cursor and Windsurf write it. */
  mcpServers?: Readonly<Record<string, UpstreamConfig>>;
  /** As VS Code writes it. */
  servers?: Readonly<Record<string, UpstreamConfig>>;
  /** What `${input:id}` asks for. */
  inputs?: readonly InputDefinition[];
  /** Options of code mode for the gateway's own tools. */
  codeMode?: Omit<CodeModeOptions, "enabled" | "sources" | "include" | "directTools" | "directCalls">;
  [key: string]: unknown;
}

/** The upstreams of a configuration, by id, as they stand there. */
export interface ConfiguredUpstreams {
  upstreams: ReadonlyMap<string, UpstreamConfig>;
  inputs: readonly InputDefinition[];
}

/**
 * Finds the upstreams in a configuration: `mcpServers`, else `servers`, also below `mcp` (settings of VS Code).
 *
 * @throws {ConfigurationError} when there are none, or an entry is no object.
 */
export function upstreamsOf(config: GatewayConfig): ConfiguredUpstreams {
  const nested = config["mcp"];
  const root = isRecord(nested) && config.mcpServers === undefined && config.servers === undefined ? nested : config;
  const servers = root["mcpServers"] ?? root["servers"];
  if (!isRecord(servers)) {
    throw new ConfigurationError(
      "The configuration has no servers: it needs `mcpServers` (Claude, Cursor, Windsurf) or `servers` (VS Code), an object by name.",
    );
  }
  const upstreams = new Map<string, UpstreamConfig>();
  for (const [id, entry] of Object.entries(servers)) {
    if (!isRecord(entry)) throw new ConfigurationError(`Server ${JSON.stringify(id)} must be an object.`);
    upstreams.set(id, entry);
  }
  return { upstreams, inputs: inputsOf(root["inputs"]) };
}

function inputsOf(inputs: unknown): readonly InputDefinition[] {
  if (inputs === undefined) return [];
  const fits = (input: unknown): boolean => isRecord(input) && typeof input["id"] === "string";
  if (Array.isArray(inputs) && inputs.every(fits)) return inputs as InputDefinition[];
  throw new ConfigurationError("`inputs` must be a list of objects with an `id`.");
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
