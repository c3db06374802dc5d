import type { Awaitable, Tool } from "../../catalog/tool.js";

/** How much of each tool to print. */
export type Detail = "brief" | "signature" | "detailed" | "full";

/** What a serializer knows besides the tools. */
export interface SerializeContext {
  /** The question, when there was one. */
  query?: string | undefined;
  /** Tools of the catalog after filters, found or not. */
  total: number;
  /** How scripts reach each tool of the catalog below `tools`, by name. Absent: told from the printed tools alone. */
  identifiers?: ReadonlyMap<string, string> | undefined;
  /** "schema": these tools were asked for by name, to be read before they are called. @default "search" */
  purpose?: "search" | "schema" | undefined;
  /** Asked for in this call; absent: the serializer's own default. */
  detail?: Detail | undefined;
}

/** Prints tools for a model. A string is sent as it is, a list of objects as compact JSON. */
export type SearchResultSerializer = (
  tools: Tool[],
  context: SerializeContext,
) => Awaitable<string | readonly object[]>;

/** Known to every copy of this package in a process: `mcp-codemode/search` in CJS has one of its own. */
const PROSE = Symbol.for("mcp-codemode.prose");

/**
 * Marks a serializer of this package whose text is for reading: search puts a heading over it ("2 of 40 tools:") and
 * says itself when nothing was found. What other serializers give is sent as it is.
 */
export function asProse<S extends SearchResultSerializer>(serializer: S): S {
  return Object.defineProperty(serializer, PROSE, { value: true });
}

/** True for one that {@link asProse} marked. */
export function isProse(serializer: SearchResultSerializer): boolean {
  return PROSE in serializer;
}
