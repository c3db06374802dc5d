import { keyword, pruneDefinitions, schemaObject } from "../../catalog/json-schema.js";
import type { Tool } from "../../catalog/tool.js";

/** These come first, whatever order the server has; the rest follows as it is. */
const LEADING = ["name", "title", "description", "inputSchema", "outputSchema", "annotations"];

/**
 * A tool as `tools/list` gives it, as plain JSON: members that are null or undefined are left out, and so are `$defs`
 * that nothing refers to. A member that cannot be written as JSON (circular, a BigInt) is left out; an inputSchema
 * becomes `{ "type": "object" }`.
 */
export function definitionOf(tool: Tool): Record<string, unknown> {
  const keys = [...LEADING, ...Object.keys(tool).filter((key) => !LEADING.includes(key))];
  const members = keys.map((key) => [key, plain(key, keyword(tool, key))] as const);
  return Object.fromEntries(members.filter(([, value]) => value !== undefined && value !== null));
}

function plain(key: string, value: unknown): unknown {
  const object = schemaObject(value);
  if (object === undefined) return isJson(value) ? value : undefined;
  const isSchema = key === "inputSchema" || key === "outputSchema";
  const pruned = isSchema ? pruneDefinitions(object) : object;
  if (!isJson(pruned)) return key === "inputSchema" ? { type: "object" } : undefined;
  return key === "annotations" ? withoutNulls(pruned) : pruned;
}

function isJson(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
}

function withoutNulls(object: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null && value !== undefined));
}
