import type { Readable, Writable } from "node:stream";
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { Activity } from "../activity.js";
import { loadServerSdk } from "../sdk.js";
import type { Endpoint } from "./http-endpoint.js";

/** A client at the other end of this process's stdin and stdout. */
export interface StdioEndpoint extends Endpoint {
  /** Resolves when the client has gone. */
  readonly ended: Promise<void>;
}

/** Serves one client over stdin and stdout. Nothing else may write to stdout then. */
export async function serveStdio(server: Server, stdin: Readable, stdout: Writable): Promise<StdioEndpoint> {
  const { StdioServerTransport } = await loadServerSdk();
  const transport = new StdioServerTransport(stdin, stdout);
  const activity = new Activity();
  const ended = new Promise<void>((resolve) => {
    // The SDK's transport does not look for the end of its input.
    stdin.once("end", resolve).once("close", resolve);
    stdout.once("error", () => resolve());
    const { onclose } = server;
    server.onclose = () => {
      resolve();
      onclose?.();
    };
  });
  await server.connect(transport);
  activity.watch(transport as Parameters<Activity["watch"]>[0]);
  return {
    ended,
    async close({ drainMs = 0 } = {}) {
      await activity.idle(drainMs);
      await server.close();
    },
  };
}
