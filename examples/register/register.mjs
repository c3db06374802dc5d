// `server.use` on every plain McpServer of the process, by one import. Two servers, each with a surface of its own.
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { codeMode } from "mcp-codemode";
import "mcp-codemode/register";
import { z } from "zod";

function buildServer(name) {
  const server = new McpServer({ name, version: "1.0.0" });
  server.registerTool("ping", { description: "Answer at once." }, async () => ({
    content: [{ type: "text", text: "pong" }],
  }));
  server.registerTool(
    "greet",
    { description: "Greet a person.", inputSchema: { name: z.string() } },
    async ({ name: person }) => ({ content: [{ type: "text", text: `Hello, ${person}!` }] }),
  );
  return server;
}

async function connect(server) {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: "register", version: "1.0.0" });
  await Promise.all([server.connect(far), client.connect(near)]);
  return client;
}

// `directTools` stay listed beside the meta-tools; `use` gives the server back, so it chains.
const plain = await connect(buildServer("plain"));
const code = await connect(buildServer("code").use(codeMode({ directTools: ["ping"], executeToolName: "run" })));

const namesOf = async (client) => (await client.listTools()).tools.map(({ name }) => name);
const ran = await code.callTool({ name: "run", arguments: { code: 'await tools.greet({ name: "Ada" })' } });
const pinged = await code.callTool({ name: "ping" });
console.log("plain:", (await namesOf(plain)).join(", "));
console.log("code: ", (await namesOf(code)).join(", "));
console.log(ran.content[0].text, pinged.content[0].text);

assert.deepEqual(await namesOf(plain), ["ping", "greet"]);
assert.deepEqual(await namesOf(code), ["search", "run", "ping"]);
assert.equal(ran.content[0].text, "Hello, Ada!");
assert.equal(pinged.content[0].text, "pong");
await Promise.all([plain.close(), code.close()]);
