/**
 * Finding and printing tools, by themselves: strategies and serializers for any list of tools.
 *
 * ```ts
 * import { bm25 } from "mcp-codemode/search";
 *
 * const hits = await bm25().search({ query: "open an issue", limit: 5 }, tools);
 * ```
 *
 * @module
 */
export { bm25, type Bm25Options } from "./search/bm25.js";
export type { Embed } from "./search/embeddings.js";
export { regex } from "./search/regex.js";
export { pickNames, type PickedNames, type UnknownName } from "./search/names.js";
export type { SearchFunction, SearchHit, SearchRequest, SearchStrategy } from "./search/strategy.js";
export { gradedSerializer, type GradedOptions } from "./search/serializers/graded.js";
export { jsonSerializer } from "./search/serializers/json.js";
export { markdownSerializer, type MarkdownDetail } from "./search/serializers/markdown.js";
export { typescriptSerializer, type TypeScriptDetail } from "./search/serializers/typescript.js";
export type { Detail, SearchResultSerializer, SerializeContext } from "./search/serializers/serializer.js";
export { declarations, signature } from "./catalog/typescript.js";
export type { Tool } from "./catalog/tool.js";
