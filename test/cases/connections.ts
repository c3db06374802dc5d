import { AsyncLocalStorage } from "node:async_hooks";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  type CallToolResult,
  CallToolResultSchema,
  ElicitRequestSchema,
  ListToolsResultSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import type { Json } from "./case.js";
import { RawPeer } from "./raw-peer.js";
import type { ServerUnderTest } from "./servers.js";

/** Who makes the outer request. */
export interface Caller {
  authInfo?: unknown;
  sessionId?: string | undefined;
}

/** One request of a connection. */
export interface Request {
  caller: Caller;
  signal?: AbortSignal | undefined;
  /** JSON-RPC id; only raw connections can choose it. */
  id?: unknown;
}

/** A listed tool of the server under test. */
export interface OuterTool {
  name: string;
  description?: string | undefined;
  inputSchema: Json;
}

/** A client connection, hence one MCP session. */
export interface Connection {
  callTool(name: string, args: unknown, request: Request): Promise<CallToolResult>;
  listTools(): Promise<OuterTool[]>;
  capabilities(): unknown;
  /** Notifications tools/list_changed so far. */
  listChanged(): number;
  /** Elicitation requests so far; each is accepted. */
  elicited(): number;
  close(): Promise<void>;
}

/** The caller of the request that is being sent: requests of several callers share one connection. */
export const currentCaller = new AsyncLocalStorage<Caller>();

/** Longer than any limit of a case: the library's own limits have to act. */
const REQUEST_TIMEOUT_MS = 110_000;

/** Connects over the in-memory transport of the SDK. */
export async function connectInMemory(server: ServerUnderTest, caller: Caller, raw: boolean): Promise<Connection> {
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
  if (caller.sessionId !== undefined) serverSide.sessionId = caller.sessionId;
  sendAuthInfo(clientSide);
  await server.connect(serverSide);
  return raw ? connectRaw(clientSide, server) : connectClient(clientSide, () => server.close());
}

function sendAuthInfo(transport: InMemoryTransport): void {
  const send = transport.send.bind(transport);
  transport.send = (message, options) =>
    send(message, { ...options, authInfo: currentCaller.getStore()?.authInfo as never });
}

/** The SDK's own client over any transport. */
export async function connectClient(transport: Transport, onClose: () => Promise<void>): Promise<Connection> {
  const counts = { listChanged: 0, elicited: 0 };
  const client = new Client({ name: "cases", version: "1.0.0" }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, () => {
    counts.elicited++;
    return { action: "accept", content: { answer: "yes" } };
  });
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void counts.listChanged++);
  await client.connect(transport);
  return {
    callTool: (name, args, { caller, signal }) =>
      currentCaller.run(caller, async () => {
        const options = { timeout: REQUEST_TIMEOUT_MS, ...(signal === undefined ? {} : { signal }) };
        const params = { name, arguments: args as Record<string, unknown> };
        return (await client.callTool(params, CallToolResultSchema, options)) as CallToolResult;
      }),
    listTools: async () => (await client.listTools()).tools as OuterTool[],
    capabilities: () => client.getServerCapabilities(),
    listChanged: () => counts.listChanged,
    elicited: () => counts.elicited,
    async close() {
      await client.close();
      await onClose();
    },
  };
}

/** JSON-RPC messages written by the runner. */
async function connectRaw(transport: Transport, server: ServerUnderTest): Promise<Connection> {
  const peer = new RawPeer(transport);
  await peer.initialize();
  return {
    callTool: (name, args, { caller, id }) =>
      currentCaller.run(caller, async () => {
        return (await peer.request("tools/call", { name, arguments: args }, id)) as CallToolResult;
      }),
    listTools: async () => ListToolsResultSchema.parse(await peer.request("tools/list", {})).tools as OuterTool[],
    capabilities: () => peer.capabilities,
    listChanged: () => peer.notifications.filter((method) => method === "notifications/tools/list_changed").length,
    elicited: () => 0,
    async close() {
      await transport.close();
      await server.close();
    },
  };
}
