import type { Tool } from "../catalog/tool.js";
import { isRecord } from "./config.js";

/** A server that shows more tools than this hides none. */
const MOST_TOOLS = 8;

/**
 * True for the tools of a server that has a code mode itself: few, one that takes `code`, one that searches. A script
 * inside a script helps nobody: such tools stay listed for the client.
 */
export function hasOwnCodeMode(tools: readonly Tool[]): boolean {
  if (tools.length < 2 || tools.length > MOST_TOOLS) return false;
  const runs = tools.filter((tool) => takesText(tool, "code"));
  const finds = tools.filter(({ name }) => /search|find|discover/i.test(name));
  return finds.some((tool) => runs.length > 1 || runs[0] !== tool) && runs.length > 0;
}

function takesText({ inputSchema }: Tool, parameter: string): boolean {
  const { properties, required } = inputSchema;
  const property = isRecord(properties) ? properties[parameter] : undefined;
  return isRecord(property) && property["type"] === "string" && Array.isArray(required) && required.includes(parameter);
}
