import type { Awaitable, Tool } from "../catalog/tool.js";

/** One question. `limit` is a whole number of at least 1. */
export interface SearchRequest {
  query: string;
  limit: number;
  server?: string | undefined;
  tags?: readonly string[] | undefined;
}

/** A tool that was found. Higher scores are better; scores of two strategies do not compare. */
export interface SearchHit {
  name: string;
  score: number;
}

/**
 * Finds tools. `tools` are the caller's own, now: a hit that is not among them is dropped, so an index may be shared
 * between callers. Filters (`server`, `tags`) have been applied to `tools` already. An empty query never arrives here.
 */
export interface SearchStrategy {
  readonly name: string;
  /** Called when the catalog changed. Optional: a strategy may index in `search`. */
  index?(tools: readonly Tool[]): Awaitable<void>;
  search(request: SearchRequest, tools: readonly Tool[]): Awaitable<readonly SearchHit[]>;
}

/** A strategy as a plain function: the tools that fit, best first. */
export type SearchFunction = (tools: readonly Tool[], query: string) => Awaitable<readonly Tool[]>;

/** The strategy of an option: itself, or the function wrapped. */
export function toStrategy(strategy: SearchStrategy | SearchFunction): SearchStrategy {
  if (typeof strategy !== "function") return strategy;
  return {
    name: strategy.name || "function",
    async search({ query, limit }, tools) {
      const found = await strategy(tools, query);
      return found.slice(0, limit).map(({ name }, index) => ({ name, score: found.length - index }));
    },
  };
}
