import type { Tool } from "../../src/catalog/tool.js";

/** A tool with string parameters: name -> description. */
export function tool(name: string, description?: string, parameters: Record<string, string> = {}, meta?: object): Tool {
  const properties = Object.fromEntries(
    Object.entries(parameters).map(([key, doc]) => [key, { type: "string", ...(doc && { description: doc }) }]),
  );
  return {
    name,
    ...(description !== undefined && { description }),
    inputSchema: { type: "object", properties },
    ...(meta && { _meta: { ...meta } }),
  };
}

/** A small catalog of the kind a model searches. */
export const TOOLS: readonly Tool[] = [
  tool("create_issue", "Open a new issue in the tracker", { title: "", body: "" }),
  tool("find_symbol", "Locate a code symbol"),
  tool("find_referencing_symbols", "Find symbols that refer to a symbol; symbol symbol symbol find find"),
  tool("send_email", "Send a message to a recipient"),
  tool("list_invoices", "List billing documents of a customer", { customer_tax_id: "VAT number" }),
];

/** Tools with distinct names and a few shared words, as many as asked for. */
export function manyTools(count: number, word = "record"): Tool[] {
  const verbs = ["update", "create", "delete", "list", "read"];
  const nouns = ["customer", "invoice", "order", "ticket", word, "file", "branch"];
  return Array.from({ length: count }, (_, index) => {
    const verb = verbs[index % verbs.length];
    const noun = nouns[Math.floor(index / verbs.length) % nouns.length];
    return tool(`${verb}_${noun}_${index}`, `Tool ${index} to ${verb} one ${noun} in system ${index % 97}`, {
      id: `key of the ${noun}`,
      limit: "",
    });
  });
}
