import { createCodeMode } from "mcp-codemode";
import { fakeSource, type FakeTool } from "mcp-codemode/testing";
import type { CodeBlock } from "./markdown.js";

const numbers = {
  type: "object" as const,
  properties: { x: { type: "number" }, y: { type: "number" } },
  required: ["x", "y"],
};
const result = { type: "object", properties: { result: { type: "number" } }, required: ["result"] };

const ORDERS = [
  { id: 1, customer: "Ada", total: 120, paid: true },
  { id: 2, customer: "Ada", total: 45, paid: false },
  { id: 3, customer: "Grace", total: 80, paid: false },
];

/** Name of the source that has them. */
export const SHOP = "shop";

/** The tools that scripts in the documentation call. */
export const shopTools: Record<string, FakeTool> = {
  add: {
    inputSchema: numbers,
    outputSchema: result,
    annotations: { readOnlyHint: true },
    handler: ({ x, y }) => ({ result: Number(x) + Number(y) }),
  },
  multiply: { inputSchema: numbers, outputSchema: result, handler: ({ x, y }) => ({ result: Number(x) * Number(y) }) },
  list_customers: () => ({ customers: [...new Set(ORDERS.map(({ customer }) => customer))] }),
  list_orders: {
    description: "All orders of a customer.",
    inputSchema: { type: "object", properties: { customer: { type: "string" } }, required: ["customer"] },
    outputSchema: {
      type: "object",
      properties: {
        orders: {
          type: "array",
          items: {
            type: "object",
            properties: { id: { type: "number" }, total: { type: "number" }, paid: { type: "boolean" } },
            required: ["id", "total", "paid"],
          },
        },
      },
      required: ["orders"],
    },
    handler: ({ customer }) => ({
      orders: ORDERS.filter((order) => order.customer === customer).map(({ id, total, paid }) => ({ id, total, paid })),
    }),
  },
  delete_order: {
    inputSchema: { type: "object", properties: { id: { type: "number" } }, required: ["id"] },
    annotations: { destructiveHint: true },
    handler: () => "deleted",
  },
  get_report: () => '[{"id":7,"name":"nightly"}]',
  get_photo: () => ({ content: [{ type: "image", data: "aGk=", mimeType: "image/png" }] }),
};

const metaTools = new Map(
  createCodeMode(fakeSource(shopTools, { name: SHOP })).metaTools.map((metaTool) => [metaTool.tool.name, metaTool]),
);

/** All text that a meta-tool of the shop replies. */
export async function reply(name: "search" | "execute", args: Record<string, unknown>): Promise<string> {
  const metaTool = metaTools.get(name);
  if (metaTool === undefined) throw new Error(`no meta-tool ${name}`);
  const { content } = await metaTool.call(args, { signal: new AbortController().signal });
  return content.map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join("\n");
}

const EXPECTED = /\n\/\/ => (.*)$/;

/** What is wrong with the `js` blocks, which are scripts: each ends with `// => ` and the first line of its reply. */
export async function scriptErrors(blocks: readonly CodeBlock[]): Promise<string[]> {
  const errors: string[] = [];
  for (const { place, language, code } of blocks) {
    if (language !== "js") continue;
    const expected = EXPECTED.exec(code)?.[1];
    const [got] = (await reply("execute", { code: code.replace(EXPECTED, "") })).split("\n");
    if (expected === undefined) errors.push(`${place} does not end with "// => ..."`);
    else if (got !== expected) errors.push(`${place} gives ${got}, not ${expected}`);
  }
  return errors;
}
