import { identifiersFor } from "../catalog/identifiers.js";
import type { CallContext, CallToolResult, Tool } from "../catalog/tool.js";
import { foldedText } from "../catalog/untrusted-text.js";
import { messageOf, ToolCallError, ValidationError } from "../errors.js";
import { catalogRevision, decodeCursor, encodeCursor } from "../search/cursor.js";
import { pickNames } from "../search/names.js";
import type { Detail, SearchResultSerializer } from "../search/serializers/serializer.js";
import { toStrategy, type SearchFunction, type SearchStrategy } from "../search/strategy.js";
import { SEARCH_CODE, searchDescription } from "./descriptions.js";
import { findTools, type FoundTools, type ToolQuery } from "./find-tools.js";
import { listedWithCatalog } from "./catalog-description.js";
import type { CodeMode, MetaTool, MetaToolFactory, MetaToolSettings, SearchArguments } from "./meta-tool.js";
import { nameOnly, namesReply } from "./names-only.js";
import { observed, type Counts } from "./observed.js";
import { refusal } from "./run-mark.js";
import { SearchParameters } from "./search-arguments.js";
import { isSearchCode, runSearchCode } from "./search-code.js";
import { searchPage } from "./search-page.js";

/** Options of {@link searchTool}. What is absent is the engine's. */
export interface SearchToolOptions {
  /** @default the option `searchToolName` */
  name?: string;
  description?: string;
  strategy?: SearchStrategy | SearchFunction;
  serializer?: SearchResultSerializer;
  /** Tools on a page when the call does not say. @default 8, for several questions at least 3 each */
  defaultLimit?: number;
  /** A larger limit is taken as this one. @default none */
  maxLimit?: number;
  /** How much of each tool when the call does not say. @default the serializer's */
  detail?: Detail;
  /**
   * Searches names only and replies with nothing but names: `{ tool_names, next_cursor }` as JSON, `next_cursor` null on
   * the last page. @default false
   */
  namesOnly?: boolean;
  /**
   * A query that calls `spec(` is run as code in the sandbox: `spec()` gives all tools, and nothing can be called. Exact
   * names come first, so a tool is found whatever it is called; anything else is searched as words. @default false
   */
  code?: boolean;
  /** Other names for arguments: `{ query: "q", limit: "top" }`. @default none */
  parameters?: Readonly<Record<string, string>>;
}

/** Tools on a page: one call should show what a task needs. */
export const DEFAULT_SEARCH_LIMIT = 8;
/** Tools for each of several questions. */
const TOOLS_PER_QUESTION = 3;
/** Questions of one search. */
const MAX_QUERIES = 50;

/**
 * The meta-tool that finds tools.
 *
 * @throws {ConfigurationError} for `parameters` that search does not have.
 * @example
 * codeMode({ metaTools: [searchTool({ name: "find_tools", defaultLimit: 5 }), executeTool()] });
 */
export function searchTool(options: SearchToolOptions = {}): MetaToolFactory {
  const parameters = new SearchParameters(options.parameters, options.namesOnly === true ? ["detail"] : []);
  return function createSearchTool(engine): MetaTool {
    const tool = toolDefinition(options, engine.settings, parameters);
    return {
      tool,
      ...(options.description === undefined ? { listed: listedWithCatalog(engine, tool, "search") } : {}),
      async call(args, context) {
        try {
          return await search(engine, parameters.read(tool, args), context, options);
        } catch (error) {
          return refusal(error);
        }
      },
    };
  };
}

function toolDefinition(options: SearchToolOptions, settings: MetaToolSettings, parameters: SearchParameters): Tool {
  const { name, description, defaultLimit = DEFAULT_SEARCH_LIMIT, code } = options;
  const own = searchDescription(defaultLimit, { namesOnly: options.namesOnly === true });
  return {
    name: name ?? settings.searchToolName,
    title: "Search tools",
    description: description ?? (code === true ? `${own}\n${SEARCH_CODE}` : own),
    inputSchema: parameters.inputSchema(),
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  };
}

/** What a search needs of an engine. */
type Searchable = Pick<CodeMode, "listTools" | "settings" | "absences">;

/**
 * Answers a search.
 *
 * @throws {ToolCallError} when the tools cannot be listed.
 * @throws {ValidationError} for a server without tools, a cursor of another search, or a question that the strategy refuses.
 */
export async function search(
  engine: Searchable,
  args: SearchArguments,
  context: Partial<CallContext>,
  options: SearchToolOptions = {},
): Promise<CallToolResult> {
  const counts = { results: 0, tools: 0 };
  return observed(engine, "search", context, counts, () => answer(engine, args, context, options, counts));
}

async function answer(
  engine: Searchable,
  args: SearchArguments,
  context: Partial<CallContext>,
  options: SearchToolOptions,
  counts: Counts<"search">,
): Promise<CallToolResult> {
  const { settings } = engine;
  const tools = await listed(engine, context);
  // Tools that stay listed are not searched: the model sees them already.
  const searchable = tools.filter((tool) => !settings.isDirect(tool));
  const code = codeOf(args, searchable, options);
  if (code !== undefined) {
    const { signal } = context;
    return runSearchCode({ code, tools: searchable, identifiers: identifiersOf(tools), signal }, settings);
  }
  const query = toQuery(args, options);
  const paging = new Paging(tools, query);
  const offset = args.cursor === undefined ? 0 : await paging.offsetOf(args.cursor);
  const strategy = options.strategy === undefined ? settings.searchStrategy : toStrategy(options.strategy);
  const seen = options.namesOnly === true ? searchable.map(nameOnly) : searchable;
  const identifiers = identifiersOf(tools);
  await othersFirst(tools);
  const found = await findTools(seen, { ...query, offset }, { strategy, aliases: settings.aliases });
  await othersFirst(tools);
  Object.assign(counts, { results: found.tools.length, tools: found.total });
  if (options.namesOnly === true) {
    return namesReply(found, settings.limits.maxResultBytes, (count) => paging.cursorAt(offset + count));
  }
  return searchPage(withLearnedTypes(found, context, settings), {
    serializer: options.serializer ?? settings.searchResultSerializer,
    context: {
      query: query.queries.join(", "),
      detail: args.detail ?? options.detail,
      identifiers,
    },
    maxBytes: settings.limits.maxResultBytes,
    cursorAt: (at) => paging.cursorAt(at),
    absences: engine.absences(),
  });
}

/** The tools of a caller. @throws {ToolCallError} when they cannot be listed. */
export async function listed(
  engine: Pick<CodeMode, "listTools">,
  context: Partial<CallContext>,
): Promise<readonly Tool[]> {
  try {
    return await engine.listTools(context);
  } catch (cause) {
    throw new ToolCallError(`The tools could not be listed: ${foldedText(messageOf(cause), 2_000)}`, { cause });
  }
}

/** Tools from which on a search lets other work of the server in between its steps. */
const LARGE_CATALOG = 300;

/** Each step is short, all of them together are not. */
async function othersFirst(tools: readonly Tool[]): Promise<void> {
  if (tools.length >= LARGE_CATALOG) await new Promise((resolve) => setImmediate(resolve));
}

const identifiersByList = new WeakMap<readonly Tool[], ReadonlyMap<string, string>>();

/** How scripts call each tool, told from the whole catalog: of a page alone two tools could get one identifier. */
export function identifiersOf(tools: readonly Tool[]): ReadonlyMap<string, string> {
  const known = identifiersByList.get(tools);
  if (known !== undefined) return known;
  const identifiers = identifiersFor(tools.map(({ name }) => name));
  identifiersByList.set(tools, identifiers);
  return identifiers;
}

/** The query as code, when it is to be run: exact names come first, then code that calls `spec(`, then words. */
function codeOf({ query }: SearchArguments, tools: readonly Tool[], options: SearchToolOptions): string | undefined {
  const [text, ...others] = typeof query === "string" ? [query] : (query ?? []);
  if (options.code !== true || text === undefined || others.length > 0 || !isSearchCode(text)) return undefined;
  return pickNames(text, tools) === undefined ? text : undefined;
}

function toQuery({ query, limit, server, tags }: SearchArguments, options: SearchToolOptions): ToolQuery {
  const queries = typeof query === "string" ? [query] : (query ?? []);
  if (queries.length > MAX_QUERIES) {
    throw new ValidationError(`A search takes at most ${MAX_QUERIES} queries, got ${queries.length}. Split it.`);
  }
  const standard = Math.max(options.defaultLimit ?? DEFAULT_SEARCH_LIMIT, queries.length * TOOLS_PER_QUESTION);
  const asked = limit === null ? Number.MAX_SAFE_INTEGER : limit;
  const wanted = asked ?? (queries.length > 1 ? standard : (options.defaultLimit ?? DEFAULT_SEARCH_LIMIT));
  if (!Number.isInteger(wanted) || wanted < 1) {
    throw new ValidationError(`limit must be a whole number of at least 1, got ${wanted}.`);
  }
  return { queries, limit: Math.min(wanted, options.maxLimit ?? Number.POSITIVE_INFINITY), server, tags };
}

/** The pages of one search over one catalog. */
class Paging {
  readonly #tools: readonly Tool[];
  readonly #question: string;
  readonly #pageSize: number;

  constructor(tools: readonly Tool[], { queries, limit, server, tags }: ToolQuery) {
    this.#tools = tools;
    this.#question = JSON.stringify([queries, server, tags]);
    this.#pageSize = limit;
  }

  async offsetOf(cursor: string): Promise<number> {
    return decodeCursor(cursor, await this.#scope());
  }

  async cursorAt(offset: number): Promise<string> {
    return encodeCursor(offset, await this.#scope());
  }

  async #scope(): Promise<Parameters<typeof encodeCursor>[1]> {
    return { revision: await catalogRevision(this.#tools), question: this.#question, pageSize: this.#pageSize };
  }
}

function withLearnedTypes(
  found: FoundTools,
  context: Partial<CallContext>,
  { learnedTypes }: MetaToolSettings,
): FoundTools {
  if (learnedTypes === undefined) return found;
  return { ...found, tools: found.tools.map((tool) => learnedTypes.decorate(tool, context)) };
}
