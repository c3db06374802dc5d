// An API behind code mode, from nothing but its OpenAPI document: search finds operations, a script calls several of
// them, and the key of the API never reaches the model.
// Run: node examples/openapi/openapi.mjs
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { createCodeMode } from "mcp-codemode";
import { openApiSource } from "mcp-codemode/openapi";

const KEY = "key-of-the-demo-api";

// --- The API: orders of a shop. It wants a key.
const orders = [
  { id: 1, customer: "Ada", cents: 1250, open: true },
  { id: 2, customer: "Grace", cents: 900, open: true },
  { id: 3, customer: "Ada", cents: 4000, open: false },
];
const api = createServer(async (request, response) => {
  const answer = (status, body) =>
    response
      .writeHead(status, { "content-type": status < 400 ? "application/json" : "application/problem+json" })
      .end(JSON.stringify(body));
  if (request.headers["x-shop-key"] !== KEY) return answer(401, { title: "Unauthorized" });
  const url = new URL(request.url, "http://shop");
  if (request.method === "GET" && url.pathname === "/v1/orders") {
    const wanted = url.searchParams.getAll("customer");
    return answer(
      200,
      orders.filter(({ customer }) => wanted.length === 0 || wanted.includes(customer)),
    );
  }
  const order = orders.find(({ id }) => url.pathname === `/v1/orders/${id}/refund`);
  if (order === undefined) return answer(404, { title: "Not Found", detail: "No such order." });
  const { reason } = JSON.parse(Buffer.concat(await request.toArray()).toString());
  return answer(200, { order: order.id, refunded: order.cents, reason });
});
await new Promise((resolve) => api.listen(0, "127.0.0.1", resolve));

// --- Its document. A path or a URL does as well, in JSON or YAML, of OpenAPI 3.0, 3.1 or Swagger 2.
const json = (schema) => ({ "application/json": { schema } });
const document = {
  openapi: "3.1.0",
  info: { title: "Shop", version: "1.0.0" },
  servers: [{ url: "https://shop.example/v1" }],
  security: [{ shopKey: [] }],
  paths: {
    "/orders": {
      get: {
        operationId: "orders/list",
        summary: "List the orders of customers",
        tags: ["orders"],
        parameters: [{ name: "customer", in: "query", schema: { type: "array", items: { type: "string" } } }],
        responses: {
          200: { description: "ok", content: json({ type: "array", items: { $ref: "#/components/schemas/Order" } }) },
        },
      },
    },
    "/orders/{id}/refund": {
      post: {
        operationId: "orders/refund",
        summary: "Refund an order",
        tags: ["orders"],
        parameters: [{ name: "id", in: "path", required: true, schema: { type: "integer" } }],
        requestBody: {
          required: true,
          content: json({ type: "object", properties: { reason: { type: "string" } }, required: ["reason"] }),
        },
        responses: { 200: { description: "ok", content: json({ $ref: "#/components/schemas/Refund" }) } },
      },
    },
    "/admin/reset": { delete: { operationId: "admin/reset", responses: { 204: { description: "gone" } } } },
  },
  components: {
    securitySchemes: { shopKey: { type: "apiKey", in: "header", name: "X-Shop-Key" } },
    schemas: {
      Order: {
        type: "object",
        required: ["id", "customer", "cents", "open"],
        properties: {
          id: { type: "integer" },
          customer: { type: "string" },
          cents: { type: "integer" },
          open: { type: "boolean" },
        },
      },
      Refund: { type: "object", properties: { order: { type: "integer" }, refunded: { type: "integer" } } },
    },
  },
};

const shop = openApiSource(document, {
  baseUrl: `http://127.0.0.1:${api.address().port}/v1`,
  auth: { shopKey: KEY }, // or { env: "SHOP_KEY" }, or a function
  routes: [{ path: /^\/admin\//, exclude: true }],
});
const { tools, skipped } = await shop.load();
console.log(`${tools.length} tools: ${tools.map(({ name }) => name).join(", ")}; skipped: ${skipped.length}\n`);
assert.deepEqual(
  tools.map(({ name }) => name),
  ["orders_list", "orders_refund"],
);

// On an MCP server: server.use(codeMode({ sources: [shop] })). Without one:
const engine = createCodeMode(shop);

// What a model finds ...
const found = await engine.search({ query: "orders of a customer" });
console.log(found.content[0].text, "\n");
assert.match(found.content[0].text, /orders_list/);
assert.doesNotMatch(JSON.stringify(found), /shop-key|admin/i);

// ... and a script that it writes.
const outcome = await engine.execute({
  code: `
    const orders = await tools.orders_list({ customer: ["Ada"] });
    const refunds = [];
    for (const { id, open } of orders) if (open) refunds.push(await tools.orders_refund({ id, reason: "late" }));
    return refunds;
  `,
});
console.log(outcome.value, "\n");
assert.deepEqual(outcome.value, [{ order: 1, refunded: 1250, reason: "late" }]);

// A refusal of the API is an error that a script can read: status, and what the API says.
const refused = await engine.execute({
  code: `
    try { await tools.orders_refund({ id: 99, reason: "?" }) }
    catch (error) { return { message: error.message, status: error.data.status } }
  `,
});
console.log(refused.value);
assert.equal(refused.value.status, 404);
assert.match(refused.value.message, /POST \/orders\/\{id\}\/refund answered 404 Not Found: Not Found: No such order\./);

await engine.close();
api.close();
