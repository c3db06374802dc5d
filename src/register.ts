/**
 * Side effect: every `McpServer` of `@modelcontextprotocol/sdk` has `use(transform)`.
 *
 * The ESM and CJS builds of the SDK have classes of their own. This module reaches the one of its own format, and the
 * other one if it has been loaded by then. On a server of any other copy `use` is not a function: take `withTransforms`.
 *
 * @example
 * import "mcp-codemode/register";
 * import { codeMode } from "mcp-codemode";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * server.use(codeMode());
 *
 * @module
 */
import { createRequire } from "node:module";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { isTransformUse, type Transform, use } from "./code-mode.js";
import { ConfigurationError } from "./errors.js";

// Also makes the built declarations a module: without an export the block below would declare the SDK's, not extend it.
export type { AppliedTransform, Transform } from "./code-mode.js";

declare module "@modelcontextprotocol/sdk/server/mcp.js" {
  interface McpServer {
    /** Applies a transform, such as `codeMode()`, to this server. Returns the server. */
    use(transform: Transform): this;
  }
}

function addUse(prototype: object): void {
  const own = Object.getOwnPropertyDescriptor(prototype, "use");
  if (isTransformUse(own?.value)) return;
  if (own !== undefined) {
    throw new ConfigurationError(
      "McpServer of @modelcontextprotocol/sdk has a use() already, which is not that of mcp-codemode/register: " +
        "use withTransforms(server) or codeMode().apply(server)",
    );
  }
  Object.defineProperty(prototype, "use", { value: use, configurable: true, writable: true });
}

/** The class of the SDK's CJS build, if something has loaded it: loading it here would cost every user some 70 ms. */
function loadedCjsClass(): { prototype: object } | undefined {
  const require = createRequire(import.meta.url);
  try {
    const loaded = require.cache[require.resolve("@modelcontextprotocol/sdk/server/mcp.js")];
    return (loaded?.exports as { McpServer?: { prototype: object } } | undefined)?.McpServer;
  } catch {
    // An SDK without a CJS build.
    return undefined;
  }
}

for (const { prototype } of new Set([McpServer, loadedCjsClass() ?? McpServer])) addUse(prototype);
