import type { Tool } from "./tool.js";

/** The tool without some of its parameters, as a model sees it. The same object when it has none of them. */
export function withoutParameters(tool: Tool, hidden: ReadonlySet<string>): Tool {
  if (hidden.size === 0) return tool;
  const { properties, required } = tool.inputSchema;
  const inputSchema: Tool["inputSchema"] = { ...tool.inputSchema };
  if (typeof properties === "object" && properties !== null) {
    // fromEntries defines keys, so one named "__proto__" stays a key.
    inputSchema["properties"] = Object.fromEntries(Object.entries(properties).filter(([name]) => !hidden.has(name)));
  }
  if (Array.isArray(required)) {
    const left = required.filter((name) => !hidden.has(name as string)) as unknown[];
    if (left.length > 0) inputSchema["required"] = left;
    else delete inputSchema["required"];
  }
  return { ...tool, inputSchema };
}
