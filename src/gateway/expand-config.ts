import type { GatewayConfig } from "./config.js";
import { resolveConfig, type ReadOptions } from "./resolve-config.js";
import type { HttpTarget, StdioTarget } from "./resolved-upstream.js";

/** A configuration with every reference filled in. Holds secrets: not for printing. */
export interface ExpandedConfig {
  /** By id, those that can be used. `env` has what the program gets, inherited variables included. */
  upstreams: Record<string, ExpandedUpstream>;
  /** By id, why the others cannot be used. */
  errors: Record<string, string>;
}

/** What is started or reached. */
export type ExpandedUpstream =
  | { command: string; args: readonly string[]; env: Readonly<Record<string, string>>; cwd?: string }
  | { url: string; headers: Readonly<Record<string, string>> };

/**
 * Fills the references of a configuration as a gateway would, without starting anything.
 *
 * @throws {ConfigurationError} when the configuration has no servers.
 *
 * @example
 * const { errors } = await expandGatewayConfig(await readGatewayConfig("mcp.json"));
 * for (const [server, error] of Object.entries(errors)) console.error(server, error);
 */
export async function expandGatewayConfig(config: GatewayConfig, options: ReadOptions = {}): Promise<ExpandedConfig> {
  const { upstreams } = await resolveConfig(config, options);
  const usable: [string, ExpandedUpstream][] = [];
  const errors: [string, string][] = [];
  for (const [id, resolution] of upstreams) {
    if ("upstream" in resolution) usable.push([id, shownTarget(resolution.upstream.target)]);
    else if ("error" in resolution) errors.push([id, resolution.error]);
  }
  return { upstreams: Object.fromEntries(usable), errors: Object.fromEntries(errors) };
}

function shownTarget(target: StdioTarget | HttpTarget): ExpandedUpstream {
  if (target.kind === "http") return { url: target.url.href, headers: target.headers };
  const { command, args, env, cwd } = target;
  return { command, args, env, ...(cwd === undefined ? {} : { cwd }) };
}
