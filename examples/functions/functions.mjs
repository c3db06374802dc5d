// Plain functions behind code mode, without an MCP server: for hosts that talk to a model themselves.
// Run: node examples/functions/functions.mjs
import assert from "node:assert/strict";
import { createCodeMode, functionSource } from "mcp-codemode";
import { z } from "zod";

const orders = [
  { id: 1, customer: "Ada", cents: 1250 },
  { id: 2, customer: "Grace", cents: 900 },
  { id: 3, customer: "Ada", cents: 4000 },
];

const shop = functionSource({
  list_orders: {
    description: "Lists the orders of one customer.",
    input: z.object({ customer: z.string(), limit: z.number().int().positive().default(10) }),
    output: z.array(z.object({ id: z.number(), customer: z.string(), cents: z.number() })),
    annotations: { readOnlyHint: true },
    run: ({ customer, limit }) => orders.filter((order) => order.customer === customer).slice(0, limit),
  },
  refund: {
    description: "Refunds an order.",
    // JSON Schema does as well.
    input: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] },
    run: async (order) => ["order", order.id, "refunded"].join(" "),
  },
});

const engine = createCodeMode(shop);

// What a model gets to see ...
const [search, execute] = engine.metaTools.map(({ tool }) => tool);
console.log(`${search.name}: ${search.title}\n${execute.name}: ${execute.title}\n`);
const found = await engine.search({ query: "orders of a customer" });
console.log(found.content[0].text, "\n");
assert.match(found.content[0].text, /list_orders/);

// ... and a script that it writes.
const outcome = await engine.execute({
  code: `
    const orders = await tools.list_orders({ customer: "Ada" });
    const largest = orders.reduce((a, b) => (a.cents > b.cents ? a : b));
    return { total: orders.reduce((sum, { cents }) => sum + cents, 0), note: await tools.refund({ id: largest.id }) };
  `,
});
console.log(outcome.value);
assert.deepEqual(outcome.value, { total: 5250, note: "order 3 refunded" });
assert.deepEqual(
  outcome.calls.map(({ tool }) => tool),
  ["list_orders", "refund"],
);

// The schema's own check: the function is not called, and the model reads what fits.
const wrong = await engine.execute({ code: `await tools.list_orders({ customer: 5 })` });
assert.equal(wrong.status, "failed");
assert.equal(wrong.error.kind, "validation");
console.log(wrong.error.message);

await engine.close();
