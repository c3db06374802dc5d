// What the demo costs a model to read and to write, in tokens of o200k_base.
import { encode } from "gpt-tokenizer/encoding/o200k_base";

/** Tokens of a text; anything else counts as its JSON. */
export const tokens = (value) => encode(typeof value === "string" ? value : JSON.stringify(value)).length;

/** The text of a tool result, as clients put it into the model's context. */
export const textOf = ({ content }) =>
  content
    .filter(({ type }) => type === "text")
    .map(({ text }) => text)
    .join("\n");

/** A source that also keeps what each call sent and brought back: what a model without code mode would see of it. */
export function recorded(source, calls) {
  return {
    name: source.name,
    listTools: (context) => source.listTools(context),
    async callTool(name, args, context) {
      const result = await source.callTool(name, args, context);
      calls.push({ name, request: { name, arguments: args }, reply: textOf(result) });
      return result;
    },
  };
}

/** Rows of texts and numbers as a table; the first row is the heading. */
export function table(rows) {
  const width = Math.max(...rows.map(([label]) => label.length));
  return rows
    .map(([label, ...cells]) => label.padEnd(width) + cells.map((cell) => String(cell).padStart(14)).join(""))
    .join("\n");
}
