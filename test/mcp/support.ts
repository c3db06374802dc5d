import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { attach } from "../../src/mcp/attach.js";
import type { HostAdapter } from "../../src/mcp/host-adapter.js";
import { nestingSurface } from "./surface.js";

/** A tool of the lowest kind. */
export const plainTool = (name: string) => ({ name, inputSchema: { type: "object" as const } });

/** The content of an answer that is one text. */
export const textOf = (answer: object): string =>
  (answer as { content?: { text?: string }[] }).content?.[0]?.text ?? "";

/** The newest SDK's client, connected to a server in this process. */
export async function connect(server: { connect(transport: Transport): Promise<void> }): Promise<Client> {
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: "c", version: "1" });
  await server.connect(serverSide);
  await client.connect(clientSide);
  return client;
}

/** Attaches to a server and puts the meta-tools of the tests in front. */
export function take(server: object, options: Parameters<typeof nestingSurface>[1] = {}): HostAdapter {
  const adapter = attach(server);
  adapter.install(nestingSurface(adapter.source, options));
  return adapter;
}

/** A context of a caller without a request. */
export const nobody = () => ({ signal: new AbortController().signal });
