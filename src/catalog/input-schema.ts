import type { Tool } from "./tool.js";

/** A tool whose `inputSchema` is an object schema, and what had to be made up for that. */
export interface WithObjectSchema {
  tool: Tool;
  /** Absent: the schema was as it should be, or merely incomplete. */
  problem?: string;
}

/**
 * Servers list what no specification allows: no `inputSchema`, null, `{}`, or one for a text. Arguments are an object
 * all the same, so such a tool is one without parameters, and does not spoil the list for the others.
 */
export function withObjectSchema(listed: Tool): WithObjectSchema {
  const given: unknown = listed.inputSchema;
  if (typeof given !== "object" || given === null || Array.isArray(given))
    return { tool: { ...listed, inputSchema: { type: "object" } } };
  const { type } = given as { type?: unknown };
  if (type === "object") return { tool: listed };
  if (type === undefined) return { tool: { ...listed, inputSchema: { ...given, type: "object" } } };
  return {
    tool: { ...listed, inputSchema: { type: "object" } },
    problem: `Tool "${listed.name}" has an inputSchema of type ${JSON.stringify(type)}: arguments are always an object, so it is taken as a tool without parameters.`,
  };
}
