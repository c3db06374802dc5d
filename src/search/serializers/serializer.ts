import type { Awaitable, Tool } from "../../catalog/tool.js";

/** How much of each tool to print. */
export type Detail = "brief" | "signature" | "detailed" | "full";

/** What a serializer knows besides the tools. */
export interface SerializeContext {
  /** The question, when there was one. */
  query?: string | undefined;
  /** Tools of the catalog after filters, found or not. */
  total: number;
  /** Asked for in this call; absent: the serializer's own default. */
  detail?: Detail | undefined;
}

/** Prints tools for a model. A string is sent as it is, a list of objects as compact JSON. */
export type SearchResultSerializer = (
  tools: Tool[],
  context: SerializeContext,
) => Awaitable<string | readonly object[]>;
