// One server, mounted twice: /mcp as it is, /mcp/code with code mode. Stateless: a server object for each request.
import { createMcpExpressApp } from "@modelcontextprotocol/sdk/server/express.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { codeMode } from "mcp-codemode";
import { z } from "zod";

const ORDERS = [
  { id: 1, customer: "Ada", total: 120, paid: true },
  { id: 2, customer: "Grace", total: 80, paid: false },
  { id: 3, customer: "Ada", total: 45, paid: false },
];

/** The server as it would be without code mode. */
export function buildServer() {
  const server = new McpServer({ name: "shop", version: "1.0.0" });
  const reply = (value) => ({ content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value });
  server.registerTool(
    "list_orders",
    {
      description: "All orders of a customer.",
      inputSchema: { customer: z.string() },
      outputSchema: { orders: z.array(z.object({ id: z.number(), total: z.number(), paid: z.boolean() })) },
      annotations: { readOnlyHint: true },
    },
    async ({ customer }) => {
      const orders = ORDERS.filter((order) => order.customer === customer);
      return reply({ orders: orders.map(({ id, total, paid }) => ({ id, total, paid })) });
    },
  );
  server.registerTool(
    "list_customers",
    {
      description: "Names of all customers.",
      outputSchema: { customers: z.array(z.string()) },
      annotations: { readOnlyHint: true },
    },
    async () => reply({ customers: [...new Set(ORDERS.map(({ customer }) => customer))] }),
  );
  return server;
}

/** Listens on a free port of the loopback interface. Resolves to its address and a function that stops it. */
export async function listen() {
  // One for all requests: options are checked once, and the sandbox's threads are shared.
  const transform = codeMode();
  const app = createMcpExpressApp();
  app.post("/mcp", (req, res) => answer(buildServer(), req, res));
  app.post("/mcp/code", (req, res) => {
    const server = buildServer();
    transform.apply(server);
    return answer(server, req, res);
  });
  const http = app.listen(0, "127.0.0.1");
  await new Promise((resolve, reject) => http.once("listening", resolve).once("error", reject));
  const stop = () => new Promise((resolve) => http.close(resolve));
  return { url: `http://127.0.0.1:${http.address().port}`, stop };
}

async function answer(server, req, res) {
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  res.on("close", () => void server.close());
  await server.connect(transport);
  await transport.handleRequest(req, res, req.body);
}
