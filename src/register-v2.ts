/**
 * Side effect: every `McpServer` of `@modelcontextprotocol/server` (SDK 2.x) has `use(transform)`.
 *
 * The ESM and CJS builds of the SDK have classes of their own. This module reaches the one of its own format, and the
 * other one if it has been loaded by then. On a server of any other copy `use` is not a function: take `withTransforms`.
 *
 * @example
 * import "mcp-codemode/register/v2";
 * import { codeMode } from "mcp-codemode";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * server.use(codeMode());
 *
 * @module
 */
import { McpServer } from "@modelcontextprotocol/server";
import { addUse, type Transform } from "./code-mode.js";
import { loadedCjsClass } from "./mcp/cjs-class.js";

// Also makes the built declarations a module: without an export the block below would declare the SDK's, not extend it.
export type { AppliedTransform, Transform } from "./code-mode.js";

declare module "@modelcontextprotocol/server" {
  interface McpServer {
    /** Applies a transform, such as `codeMode()`, to this server. Returns the server. */
    use(transform: Transform): this;
  }
}

const SDK = "@modelcontextprotocol/server";

for (const { prototype } of new Set([McpServer, loadedCjsClass(SDK, import.meta.url) ?? McpServer])) {
  addUse(prototype, SDK, "mcp-codemode/register/v2");
}
