import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type * as types from "@modelcontextprotocol/sdk/types.js";
import type * as zod from "zod";

/** One installed copy of SDK 1.x. The types are those of the newest one. */
export interface SdkV1 {
  label: string;
  McpServer: typeof McpServer;
  Server: typeof Server;
  Client: typeof Client;
  InMemoryTransport: typeof InMemoryTransport;
  types: typeof types;
  z: typeof zod;
  /** False for 1.12, which came before them. */
  hasElicitation: boolean;
  hasRequestInfo: boolean;
  hasTasks: boolean;
}

const COPIES = [
  { name: "sdk-1.12", zod: "zod3", age: 12 },
  { name: "sdk-1.20", zod: "zod3", age: 20 },
  { name: "sdk-1.25", zod: "zod", age: 25 },
  { name: "@modelcontextprotocol/sdk", zod: "zod", age: 32 },
  { name: "@modelcontextprotocol/sdk", zod: "zod3", age: 32 },
] as const;

/** The copies that CI covers: the oldest, two in between, the newest with either zod. */
export async function sdksV1(): Promise<SdkV1[]> {
  return Promise.all(
    COPIES.map(async ({ name, zod: zodName, age }) => {
      const part = async <T>(path: string): Promise<T> => (await import(/* @vite-ignore */ `${name}/${path}`)) as T;
      const [mcp, server, client, memory, sdkTypes, z] = await Promise.all([
        part<{ McpServer: typeof McpServer }>("server/mcp.js"),
        part<{ Server: typeof Server }>("server/index.js"),
        part<{ Client: typeof Client }>("client/index.js"),
        part<{ InMemoryTransport: typeof InMemoryTransport }>("inMemory.js"),
        part<typeof types>("types.js"),
        import(/* @vite-ignore */ zodName) as Promise<typeof zod>,
      ]);
      return {
        label: `SDK 1.${age}, ${zodName}`,
        ...mcp,
        ...server,
        ...client,
        ...memory,
        types: sdkTypes,
        z,
        hasElicitation: "ElicitRequestSchema" in sdkTypes,
        hasRequestInfo: age >= 20,
        hasTasks: age >= 25,
      };
    }),
  );
}
