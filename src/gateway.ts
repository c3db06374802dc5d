/**
 * Many MCP servers behind one: reads the configuration that MCP clients have, and serves their tools as they are and
 * behind search and execute.
 *
 * ```ts
 * import { createGateway, readGatewayConfig } from "mcp-codemode/gateway";
 *
 * const gateway = await createGateway(await readGatewayConfig("mcp.json"));
 * const { url } = await gateway.listen({ port: 8000 });
 * ```
 *
 * Needs the package `@modelcontextprotocol/sdk`.
 *
 * @module
 */
export { createGateway, type Gateway, type GatewayOptions } from "./gateway/gateway.js";
export type { GatewayConfig, TokenProvider, UpstreamConfig } from "./gateway/config.js";
export { findGatewayConfig, readGatewayConfig } from "./gateway/config-file.js";
export { expandGatewayConfig, type ExpandedConfig } from "./gateway/expand-config.js";
export type { AskInput, Environment, InputDefinition } from "./gateway/expand.js";
export type { ReadOptions } from "./gateway/resolve-config.js";
export type { GatewayEvents, LogLevel, LogLine } from "./gateway/events.js";
export type { RunOptions } from "./gateway/run-options.js";
export type { ServerMode } from "./gateway/servers.js";
export type { UpstreamState, UpstreamStatus } from "./gateway/upstream/upstream.js";
export type { Endpoint, HttpEndpoint, ListenOptions } from "./gateway/endpoints/http-endpoint.js";
export type { HttpAccess } from "./gateway/endpoints/http-guard.js";
export type { StdioEndpoint } from "./gateway/endpoints/stdio-endpoint.js";
export type { ExecResult } from "./meta-tools/results/process.js";
