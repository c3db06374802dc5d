import type { CatalogEntry } from "../catalog/catalog.js";
import type { ToolResult } from "../catalog/tool.js";
import { CodeModeError, messageOf } from "../errors.js";
import { isPlainJson, toPlainJson } from "../sandbox/values/plain.js";
import type { ArgumentPlan } from "./arguments.js";
import { invalidArguments, toolFailed, withoutPiledPrefixes, type CallErrorDetails } from "./call-errors.js";
import { errorText } from "./normalize-result.js";
import { unknownParameters } from "./parameters.js";
import { argumentCheck } from "./validate.js";

/** JSON-RPC: the arguments do not fit. */
const INVALID_PARAMS = -32602;
/** MCP: the user has to open a URL first; only the client can do that. */
const URL_ELICITATION_REQUIRED = -32042;

/**
 * The error for a result that says `isError`. Its kind is `validation` when the arguments that were sent do not fit the
 * listed inputSchema, whatever the text says; else `tool`.
 */
export async function answeredWithError(
  entry: CatalogEntry,
  plan: ArgumentPlan,
  args: Record<string, unknown>,
  result: ToolResult,
): Promise<CodeModeError> {
  const text = withoutSecrets(withoutPiledPrefixes(errorText(result)), plan);
  const details = detailsOf(entry, undefined, result.structuredContent);
  const faults = (await argumentCheck(entry.tool))(args);
  return faults === undefined ? toolFailed(text, details) : misfit(entry, plan, args, text, details);
}

/** The error for a call that a source rejected. Only its message, code and data are shown: no stack, no cause. */
export function rejectedCall(
  entry: CatalogEntry,
  plan: ArgumentPlan,
  args: Record<string, unknown>,
  reason: unknown,
): CodeModeError {
  // Time limit, end of the run, or a source of this package: written for scripts already.
  if (CodeModeError.isInstance(reason)) return reason;
  const { code, data } = protocolFacts(reason);
  const text = withoutSecrets(rejectionText(reason, code), plan);
  const details = detailsOf(entry, code, data);
  return code === INVALID_PARAMS ? misfit(entry, plan, args, text, details) : toolFailed(text, details, reason);
}

/** True for the one protocol error that has to reach the client as it is. */
export function needsClient(reason: unknown): boolean {
  return protocolFacts(reason).code === URL_ELICITATION_REQUIRED;
}

/** Data of an error is for telling errors apart; more than this is a result in disguise, and left out. */
const MAX_DATA_CHARACTERS = 64 * 1024;

function detailsOf({ tool }: CatalogEntry, code: number | undefined, data: unknown): CallErrorDetails {
  const plain = plainData(data);
  return { tool: tool.name, ...(code === undefined ? {} : { code }), ...(plain === undefined ? {} : { data: plain }) };
}

function plainData(data: unknown): unknown {
  if (data === undefined || data === null) return undefined;
  try {
    const plain = isPlainJson(data) ? data : toPlainJson(data);
    return JSON.stringify(plain).length <= MAX_DATA_CHARACTERS ? plain : undefined;
  } catch {
    return undefined;
  }
}

function misfit(
  { shown }: CatalogEntry,
  plan: ArgumentPlan,
  args: Record<string, unknown>,
  text: string,
  details: CallErrorDetails,
): CodeModeError {
  const unknown = unknownParameters(
    shown,
    Object.keys(args).filter((name) => !plan.defaults.has(name)),
  );
  return invalidArguments(shown, [text, ...unknown], details);
}

function protocolFacts(reason: unknown): { code?: number | undefined; data?: unknown } {
  if (typeof reason !== "object" || reason === null) return {};
  const { code, data } = reason as { code?: unknown; data?: unknown };
  return typeof code === "number" && Number.isInteger(code) ? { code, data } : {};
}

/** The SDK puts the code into the message too. Of what is no error clients see nothing, and neither do scripts. */
function rejectionText(reason: unknown, code: number | undefined): string {
  if (typeof reason !== "object" || reason === null || !("message" in reason)) return "Internal error";
  const text = withoutPiledPrefixes(messageOf(reason));
  return code !== undefined && text.startsWith(`MCP error ${code}: `) ? text.slice(`MCP error ${code}: `.length) : text;
}

const SHORTEST_SECRET = 4;

/** Values of hidden parameters are the host's: a tool that quotes one in an error does not give it away. */
function withoutSecrets(text: string, plan: ArgumentPlan): string {
  let clean = text;
  for (const name of plan.hidden) {
    const value = plan.defaults.get(name);
    if (typeof value === "string" && value.length >= SHORTEST_SECRET) clean = clean.replaceAll(value, "[hidden]");
  }
  return clean;
}
