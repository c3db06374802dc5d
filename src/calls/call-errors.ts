import type { Tool } from "../catalog/tool.js";
import { ToolCallError, ValidationError } from "../errors.js";
import { nearestNames } from "../nearest.js";
import { parameterList, shownName } from "./parameters.js";

const MAX_TEXT_CHARACTERS = 8192;

/** Facts about a failed call, as the script sees them on the error. */
export interface CallErrorDetails {
  tool: string;
  /** The JSON-RPC code, where the source rejected with one. */
  code?: number | string | undefined;
  /** `structuredContent` of a failed result, or the data of a protocol error. */
  data?: unknown;
}

/** How a failed call begins, whatever failed. */
export const failed = (tool: string, text: string): string => `call_tool('${shownName(tool)}') failed: ${text}`;

/** A tool that does not exist for this caller. The same words whether it never existed or may not be seen. */
export function unknownTool(name: string, known: Iterable<string>): ToolCallError {
  const nearest = nearestNames(name, known).map((candidate) => `"${shownName(candidate)}"`);
  const remedy =
    nearest.length > 0 ? `Did you mean ${nearest.join(" or ")}?` : "search_tools(words) finds the tools there are.";
  return new ToolCallError(`Unknown tool: ${longName(name)}. ${remedy}`, { details: { tool: name } });
}

/** A tool that is not there now, and why. */
export function absentTool(name: string, absence: string): ToolCallError {
  return new ToolCallError(failed(longName(name), absence), { details: { tool: name } });
}

/** A script called a meta-tool. */
export function metaToolInside(name: string): ToolCallError {
  return new ToolCallError(
    `Unknown tool: ${longName(name)}. "${shownName(name)}" is a meta-tool and exists only outside scripts; inside, search_tools(words) finds tools.`,
    { details: { tool: name } },
  );
}

/** Arguments that do not fit: every fault, and what the tool takes. */
export function invalidArguments(tool: Tool, faults: readonly string[], details?: CallErrorDetails): ValidationError {
  const text = faults.map(cut).join("; ").replace(/\.$/, "");
  return new ValidationError(
    `${failed(tool.name, `${text}.`)} Parameters of ${shownName(tool.name)} (* = required): ${parameterList(tool)}.`,
    { details: details ?? { tool: tool.name } },
  );
}

/** The tool answered with an error. */
export function toolFailed(text: string, details: CallErrorDetails, cause?: unknown): ToolCallError {
  return new ToolCallError(failed(details.tool, cut(text)), { details, cause });
}

/** Repeated prefixes of protocol errors that gateways pile up are said once: "MCP error -32602: MCP error -32602: x". */
export function withoutPiledPrefixes(text: string): string {
  return text.replace(/^(MCP error -?\d+: )\1+/, "$1");
}

function cut(text: string): string {
  if (text.length <= MAX_TEXT_CHARACTERS) return text;
  return `${text.slice(0, MAX_TEXT_CHARACTERS)}... [${text.length - MAX_TEXT_CHARACTERS} more characters]`;
}

/** The name as it was asked for, so that a script can compare it; only an absurd one is cut. */
const longName = (name: string): string => (name.length > 256 ? `${name.slice(0, 256)}...` : name);
