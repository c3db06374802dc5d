import type { Tool } from "../../catalog/tool.js";
import { definitionOf } from "./definitions.js";
import type { SearchResultSerializer } from "./serializer.js";

/**
 * Prints tools as `tools/list` defines them: a list of objects with name, title, description, inputSchema, outputSchema,
 * annotations and whatever else a tool has. Left out are null and undefined members, and `$defs` that nothing refers to.
 *
 * @example
 * codeMode({ searchResultSerializer: jsonSerializer() });
 */
export function jsonSerializer(): SearchResultSerializer {
  return function json(tools: Tool[]): readonly object[] {
    return tools.map(definitionOf);
  };
}
