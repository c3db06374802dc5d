// Callers of one code mode over many MCP servers, as a stateless HTTP host has them: each connects, works and goes.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";

const text = (value) => ({ content: [{ type: "text", text: value }] });

function newServer(secret) {
  const server = new McpServer({ name: "soak", version: "1.0.0" });
  server.registerTool(
    "double",
    { inputSchema: { n: z.number() }, annotations: { readOnlyHint: true } },
    async ({ n }) => ({
      ...text(JSON.stringify({ result: n * 2 })),
      structuredContent: { result: n * 2 },
    }),
  );
  server.registerTool("rows", { inputSchema: {} }, async () =>
    text(JSON.stringify(Array.from({ length: 2_000 }, (_, id) => ({ id, name: `row ${id}` })))),
  );
  server.registerTool("secret", { inputSchema: {} }, async () => text(secret));
  server.registerTool("fails", { inputSchema: {} }, async () => {
    throw new Error("it always does");
  });
  server.registerTool("slow", { inputSchema: { ms: z.number() } }, async ({ ms }, { signal }) => {
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
    });
    return text("done");
  });
  server.registerTool("wipe", { inputSchema: {}, annotations: { destructiveHint: true } }, async () => text("wiped"));
  return server;
}

/**
 * Connects a caller to a server of its own behind the one code mode.
 *
 * @param {import("mcp-codemode").Transform} transform
 * @param {string} name Who it is: the client id of its token.
 */
export async function connect(transform, name) {
  const secret = `secret of ${name}`;
  const server = newServer(secret);
  const applied = transform.apply(server);
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
  await server.connect(serverSide);
  const deliver = serverSide.onmessage;
  serverSide.onmessage = (message, extra) =>
    deliver?.(message, { ...extra, authInfo: { token: name, clientId: name, scopes: [] } });
  const client = new Client({ name, version: "1.0.0" });
  await client.connect(clientSide);
  return {
    name,
    secret,
    call: async (tool, args, options) => {
      const reply = await client.callTool({ name: tool, arguments: args }, undefined, options);
      return {
        text: reply.content.map((block) => block.text ?? "").join("\n"),
        mark: reply._meta?.["mcp-codemode/run"],
      };
    },
    close: async () => {
      await client.close();
      await applied.dispose();
    },
  };
}
