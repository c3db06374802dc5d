import { createRequire } from "node:module";

/**
 * The `McpServer` of the CJS build of an SDK, if something has loaded it: loading it here would cost every user some
 * 70 ms. Undefined for an SDK without such a build too.
 *
 * @param specifier The module of the SDK that exports it.
 * @param from URL or path of the module that asks.
 */
export function loadedCjsClass(specifier: string, from: string): { prototype: object } | undefined {
  const require = createRequire(from);
  try {
    const loaded = require.cache[require.resolve(specifier)];
    return (loaded?.exports as { McpServer?: { prototype: object } } | undefined)?.McpServer;
  } catch {
    return undefined;
  }
}
