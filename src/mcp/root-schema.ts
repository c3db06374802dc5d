import { readSchema } from "../catalog/function-schemas.js";
import type { Tool } from "../catalog/tool.js";
import type { HighLevelServer } from "./host-server.js";

/**
 * An `McpServer` of SDK 1.x lists a tool whose schema is no plain object of fields (a union, say) as one without
 * parameters, though it validates by that schema. Then the schema of the registered tool itself is shown instead.
 */
export async function withRootSchemas(tools: readonly Tool[], high: HighLevelServer | undefined): Promise<Tool[]> {
  return Promise.all(tools.map(async (tool) => (await withRootSchema(tool, high)) ?? tool));
}

async function withRootSchema(tool: Tool, high: HighLevelServer | undefined): Promise<Tool | undefined> {
  if (!isListedEmpty(tool)) return undefined;
  const registered = high?._registeredTools;
  const given =
    registered !== undefined && Object.hasOwn(registered, tool.name) ? registered[tool.name]?.inputSchema : undefined;
  // A shape of fields is no schema: with none in it the tool really has no parameters.
  if (typeof given !== "object" || given === null || !("parse" in given)) return undefined;
  try {
    const schema = await readSchema(given, "input", tool.name).toJson();
    return hasOwnProperties(schema) || isAlternatives(schema)
      ? { ...tool, inputSchema: { ...schema, type: "object" } }
      : undefined;
  } catch {
    return undefined; // JSON Schema cannot say it: what the SDK lists is then all there is.
  }
}

function isListedEmpty({ inputSchema }: Tool): boolean {
  return (
    typeof inputSchema === "object" &&
    inputSchema !== null &&
    !hasOwnProperties(inputSchema) &&
    !isAlternatives(inputSchema)
  );
}

const hasOwnProperties = ({ properties }: { [key: string]: unknown }): boolean =>
  typeof properties === "object" && properties !== null && Object.keys(properties).length > 0;

const isAlternatives = (schema: { [key: string]: unknown }): boolean =>
  ["anyOf", "oneOf", "allOf"].some((key) => Array.isArray(schema[key]));
