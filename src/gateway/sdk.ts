import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import type { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import type { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type * as SdkTypes from "@modelcontextprotocol/sdk/types.js";
import { ConfigurationError } from "../errors.js";

/** The client half of the MCP SDK (1.x), as far as the gateway uses it. */
export interface ClientSdk {
  Client: typeof Client;
  StreamableHTTPClientTransport: typeof StreamableHTTPClientTransport;
  SSEClientTransport: typeof SSEClientTransport;
  types: typeof SdkTypes;
}

/** The server half. */
export interface ServerSdk {
  Server: typeof Server;
  StdioServerTransport: typeof StdioServerTransport;
  StreamableHTTPServerTransport: typeof StreamableHTTPServerTransport;
  types: typeof SdkTypes;
}

/**
 * Loads the client half when the first upstream starts: the package is an optional peer, and takes some 100 ms.
 *
 * @throws {ConfigurationError} when it is not installed.
 */
export async function loadClientSdk(): Promise<ClientSdk> {
  return loaded(async () => {
    const [client, streamable, sse, types] = await Promise.all([
      import("@modelcontextprotocol/sdk/client/index.js"),
      import("@modelcontextprotocol/sdk/client/streamableHttp.js"),
      import("@modelcontextprotocol/sdk/client/sse.js"),
      import("@modelcontextprotocol/sdk/types.js"),
    ]);
    return { ...client, ...streamable, ...sse, types };
  });
}

/** As {@link loadClientSdk}, for servers of the gateway. */
export async function loadServerSdk(): Promise<ServerSdk> {
  return loaded(async () => {
    const [server, stdio, streamable, types] = await Promise.all([
      import("@modelcontextprotocol/sdk/server/index.js"),
      import("@modelcontextprotocol/sdk/server/stdio.js"),
      import("@modelcontextprotocol/sdk/server/streamableHttp.js"),
      import("@modelcontextprotocol/sdk/types.js"),
    ]);
    return { ...server, ...stdio, ...streamable, types };
  });
}

/** In `details` of the error for a missing SDK: the command line prints how to run with it. */
export const SDK_MISSING = "sdk-missing";

async function loaded<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    const { code } = cause as { code?: unknown };
    if (code !== "ERR_MODULE_NOT_FOUND" && code !== "MODULE_NOT_FOUND") throw cause;
    throw new ConfigurationError(
      "The gateway needs the package @modelcontextprotocol/sdk (1.12 or newer, below 2): npm install @modelcontextprotocol/sdk",
      { details: { reason: SDK_MISSING }, cause },
    );
  }
}
