// Adapter of the package's default search strategy for ../shared/search-bench/evaluate.mjs.
//   node ../shared/search-bench/evaluate.mjs bench/search-adapter.mjs
// SEARCH_MODULE names another build of the search entry point; the default is the built package.
import { pathToFileURL } from "node:url";

const built = process.env.SEARCH_MODULE
  ? pathToFileURL(process.env.SEARCH_MODULE).href
  : new URL("../dist/search.js", import.meta.url).href;
const { bm25 } = await import(built);

/** A tool of the benchmark as a server or gateway would list it: names are unique, the category is a tag. */
export function toTools(tools) {
  const names = new Set(tools.map(({ name }) => name));
  const prefixed = names.size < tools.length;
  return tools.map(({ name, server, category, description, inputSchema }) => ({
    name: prefixed && server ? `${server}__${name}` : name,
    description,
    inputSchema: inputSchema ?? { type: "object" },
    _meta: {
      ...(server === undefined ? {} : { "mcp-codemode/server": server }),
      ...(category === undefined ? {} : { "mcp-codemode/tags": [category] }),
    },
  }));
}

export async function createSearch(benchTools) {
  const tools = toTools(benchTools);
  const ids = new Map(tools.map(({ name }, index) => [name, benchTools[index].id]));
  if (ids.size < tools.length) throw new Error("two tools of the catalog have one name");
  const strategy = bm25();
  await strategy.index(tools);
  return {
    async search(query, limit) {
      const hits = await strategy.search({ query, limit }, tools);
      return hits.map(({ name }) => ids.get(name));
    },
  };
}
