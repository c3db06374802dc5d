// The same server with and without code mode, side by side over streamable HTTP.
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { listen } from "./server.mjs";

async function connect(url) {
  const client = new Client({ name: "two-endpoints", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client;
}

const namesOf = async (client) => (await client.listTools()).tools.map(({ name }) => name);

const SCRIPT = `
const { customers } = await call_tool("list_customers");
const open = await Promise.all(customers.map(async (customer) => {
  const { orders } = await call_tool("list_orders", { customer });
  return [customer, orders.filter((order) => !order.paid).reduce((sum, order) => sum + order.total, 0)];
}));
return Object.fromEntries(open);`;

const { url, stop } = await listen();
try {
  const plain = await connect(`${url}/mcp`);
  const code = await connect(`${url}/mcp/code`);
  console.log("/mcp:     ", (await namesOf(plain)).join(", "));
  console.log("/mcp/code:", (await namesOf(code)).join(", "));
  assert.deepEqual(await namesOf(plain), ["list_orders", "list_customers"]);
  assert.deepEqual(await namesOf(code), ["search", "execute"]);

  const direct = await plain.callTool({ name: "list_orders", arguments: { customer: "Ada" } });
  const nested = await code.callTool({
    name: "execute",
    arguments: { code: 'await call_tool("list_orders", { customer: "Ada" })' },
  });
  assert.deepEqual(JSON.parse(nested.content[0].text), direct.structuredContent);

  const open = await code.callTool({ name: "execute", arguments: { code: SCRIPT } });
  console.log("unpaid:   ", open.content[0].text);
  assert.deepEqual(JSON.parse(open.content[0].text), { Ada: 45, Grace: 80 });
  await Promise.all([plain.close(), code.close()]);
} finally {
  await stop();
}
