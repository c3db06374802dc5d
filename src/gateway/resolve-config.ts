import { readFile } from "node:fs/promises";
import util from "node:util";
import { ConfigurationError, messageOf } from "../errors.js";
import { upstreamsOf, type GatewayConfig, type UpstreamConfig } from "./config.js";
import { Expander, type AskInput, type Environment, type Place } from "./expand.js";
import {
  EntryReader,
  settingsOf,
  type HttpTarget,
  type ResolvedUpstream,
  type StdioTarget,
} from "./resolved-upstream.js";
import { Secrets } from "./secrets.js";

/** How a configuration is read. */
export interface ReadOptions {
  /** @default process.env */
  env?: Environment;
  /** Answers `${input:id}`. @default nobody: the inputs' defaults */
  ask?: AskInput;
}

/** What became of one upstream of a configuration. */
export type Resolution = { upstream: ResolvedUpstream } | { error: string } | { disabled: true };

/** A configuration with every reference filled in. */
export interface ResolvedConfig {
  upstreams: ReadonlyMap<string, Resolution>;
  /** Everything that must not be printed. */
  secrets: Secrets;
}

/**
 * Reads every upstream of a configuration. One that cannot be read does not keep the others from it.
 *
 * @throws {ConfigurationError} when the configuration as a whole is none.
 */
export async function resolveConfig(config: GatewayConfig, options: ReadOptions = {}): Promise<ResolvedConfig> {
  const { upstreams: configured, inputs } = upstreamsOf(config);
  const env = options.env ?? process.env;
  const secrets = new Secrets();
  const parts: ReadParts = { env, secrets, expander: new Expander({ env, inputs, ask: options.ask, secrets }) };
  const upstreams = new Map<string, Resolution>();
  for (const [id, entry] of configured) upstreams.set(id, await resolveUpstream(id, entry, parts));
  return { upstreams, secrets };
}

interface ReadParts {
  env: Environment;
  expander: Expander;
  secrets: Secrets;
}

async function resolveUpstream(id: string, config: UpstreamConfig, parts: ReadParts): Promise<Resolution> {
  if (config.disabled === true) return { disabled: true };
  try {
    const settings = settingsOf(id, config);
    return { upstream: { ...settings, target: await targetOf(id, config, parts) } };
  } catch (error) {
    return { error: parts.secrets.redact(messageOf(error)) };
  }
}

async function targetOf(id: string, config: UpstreamConfig, parts: ReadParts): Promise<StdioTarget | HttpTarget> {
  const read = new EntryReader(id, config);
  const expand = async (text: string | undefined, key: string): Promise<string | undefined> =>
    text === undefined ? undefined : parts.expander.expand(text, { server: id, key });
  const url = await expand(read.text("url") ?? read.text("serverUrl"), "url");
  const command = await expand(read.text("command"), "command");
  if (url !== undefined && config.type !== "stdio") return httpTarget(id, url, config, parts);
  if (command === undefined || command === "") {
    throw new ConfigurationError(`Server ${JSON.stringify(id)} needs a \`command\` to start or a \`url\` to reach.`);
  }
  const args = await Promise.all(
    (read.texts("args") ?? []).map((text, index) => parts.expander.expand(text, { server: id, key: `args[${index}]` })),
  );
  const cwd = await expand(read.text("cwd"), "cwd");
  return { kind: "stdio", command, args, cwd, env: await childEnvironment(id, read, parts) };
}

async function httpTarget(id: string, text: string, config: UpstreamConfig, parts: ReadParts): Promise<HttpTarget> {
  const read = new EntryReader(id, config);
  const headers = await expandAll(
    read.textsByName("headers") ?? {},
    (key) => ({ server: id, key: `headers.${key}` }),
    parts,
  );
  const tokenVariable = read.text("bearerTokenEnv");
  if (tokenVariable !== undefined) {
    const place = { server: id, key: "bearerTokenEnv" };
    headers["Authorization"] = `Bearer ${await parts.expander.expand(`\${${tokenVariable}}`, place)}`;
  }
  return {
    kind: "http",
    url: urlOf(id, text),
    headers,
    protocol: protocolOf(read),
    tokenProvider: config.tokenProvider,
    authProvider: config.authProvider,
  };
}

/** The address as it stands, path and query included: many servers live below a path. */
function urlOf(id: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw new ConfigurationError(`Server ${JSON.stringify(id)}: url must be a complete http or https address.`);
}

function protocolOf(read: EntryReader): HttpTarget["protocol"] {
  const type = read
    .text("type")
    ?.toLowerCase()
    .replaceAll(/[^a-z]/g, "");
  if (type === undefined || type === "" || type === "http") return "auto";
  if (type === "streamablehttp") return "http";
  if (type === "sse") return "sse";
  throw read.wrong("type", '"stdio", "http", "streamable-http" or "sse"');
}

/** What every program needs. Nothing else is inherited: the host's environment holds credentials of other programs. */
const INHERITED = [
  ["HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"],
  ["APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROGRAMFILES", "SYSTEMDRIVE", "SYSTEMROOT"],
  ["TEMP", "TMP", "USERNAME", "USERPROFILE"],
].flat();

async function childEnvironment(id: string, read: EntryReader, parts: ReadParts): Promise<Record<string, string>> {
  const inherited = INHERITED.flatMap((name) => {
    const value = parts.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const file = read.text("envFile");
  const place = { server: id, key: "envFile" };
  const fromFile = file === undefined ? {} : await readEnvFile(await parts.expander.expand(file, place), place);
  for (const [name, value] of Object.entries(fromFile)) parts.secrets.addLiteral(value, name);
  const own = await expandAll(read.textsByName("env") ?? {}, (key) => ({ server: id, key: `env.${key}` }), parts);
  return { ...Object.fromEntries(inherited), ...fromFile, ...own };
}

async function readEnvFile(path: string, { server, key }: Place): Promise<Record<string, string>> {
  try {
    const text = await readFile(path, "utf8");
    // Named imports would break the whole module on Node 20.0 to 20.11, which lack it.
    if (typeof util.parseEnv !== "function") throw new Error("envFile needs Node 20.12 or newer");
    return util.parseEnv(text) as Record<string, string>;
  } catch (cause) {
    throw new ConfigurationError(`Server ${JSON.stringify(server)}, ${key}: ${messageOf(cause)}`, { cause });
  }
}

async function expandAll(
  texts: Record<string, string>,
  placeOf: (key: string) => Place,
  { expander, secrets }: ReadParts,
): Promise<Record<string, string>> {
  const entries: [string, string][] = [];
  for (const [name, text] of Object.entries(texts)) {
    const value = await expander.expand(text, placeOf(name));
    secrets.addLiteral(value, name);
    entries.push([name, value]);
  }
  return Object.fromEntries(entries);
}
