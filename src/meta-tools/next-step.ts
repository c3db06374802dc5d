import type { CatalogView } from "../catalog/catalog.js";
import { identifiersFor, memberAccess, stringLiteral } from "../catalog/identifiers.js";
import type { Tool } from "../catalog/tool.js";
import { parametersOf, sampleArguments, shownName } from "../calls/parameters.js";
import { nearestNames } from "../nearest.js";
import type { ScriptError } from "../sandbox/provider.js";

/** What a model can do about a failed script. */
export interface Advice {
  hint?: string | undefined;
  /** A line of code. */
  next?: string | undefined;
}

/**
 * A hint and a line to paste, where the error tells what they should be; {} else.
 *
 * @param textTools Tools that gave plain text to this script and have no outputSchema.
 */
export async function adviceFor(
  error: ScriptError,
  catalog: CatalogView,
  textTools: ReadonlySet<string>,
): Promise<Advice> {
  try {
    if (error.kind === "tool" || error.kind === "validation") return await correctedCall(error, catalog);
    if (error.kind === "runtime" && error.name === "TypeError") return await parsedCall(textTools, catalog);
  } catch {
    // Advice costs a look at the catalog: without one the error stands for itself.
  }
  return {};
}

/** The call again with the name that was meant, or with the parameters the tool takes. */
async function correctedCall(error: ScriptError, catalog: CatalogView): Promise<Advice> {
  const name = toolOf(error.details);
  if (name === undefined) return {};
  const { entries } = await catalog.snapshot();
  const known = entries.get(name);
  if (known !== undefined) return error.kind === "validation" ? { next: callOf(known.shown) } : {};
  const [nearest] = nearestNames(name, entries.keys(), 1);
  const meant = nearest === undefined ? undefined : entries.get(nearest);
  return meant === undefined ? {} : { next: callOf(meant.shown) };
}

/** A script read a field of what is text: the bound function parses it. */
async function parsedCall(textTools: ReadonlySet<string>, catalog: CatalogView): Promise<Advice> {
  const [name] = textTools;
  if (name === undefined) return {};
  const { entries } = await catalog.snapshot();
  const entry = entries.get(name);
  if (entry === undefined) return {};
  const identifier = identifiersFor(entries.keys()).get(name) ?? name;
  return {
    hint: `${shownName(name)} has no outputSchema; call_tool returned its text as a string. The same call on tools parses text that is JSON.`,
    next: `const value = await ${memberAccess("tools", identifier)}(${sampleText(entry.shown)});`,
  };
}

function toolOf(details: unknown): string | undefined {
  const tool = typeof details === "object" && details !== null ? (details as { tool?: unknown }).tool : undefined;
  return typeof tool === "string" ? tool : undefined;
}

const callOf = (tool: Tool): string => `await call_tool(${stringLiteral(tool.name)}, ${sampleText(tool)});`;

const MAX_SAMPLE_CHARACTERS = 600;

/** JSON is an expression of JavaScript too. */
function sampleText(tool: Tool): string {
  if (parametersOf(tool).length === 0) return "{}";
  const text = JSON.stringify(sampleArguments(tool));
  return text.length > MAX_SAMPLE_CHARACTERS ? "{ /* see its parameters */ }" : text;
}
