import { identifiersFor } from "../catalog/identifiers.js";
import type { CallContext, CallToolResult, Tool } from "../catalog/tool.js";
import { messageOf, ToolCallError, ValidationError } from "../errors.js";
import type { Detail, SearchResultSerializer } from "../search/serializers/serializer.js";
import { toStrategy, type SearchFunction, type SearchStrategy } from "../search/strategy.js";
import { MetaArguments } from "./arguments.js";
import { SEARCH_ARGUMENTS, searchDescription } from "./descriptions.js";
import { findTools, type ToolQuery } from "./find-tools.js";
import type { CodeMode, MetaTool, MetaToolFactory, MetaToolSettings, SearchArguments } from "./meta-tool.js";
import { refusal } from "./run-mark.js";
import { searchPage } from "./search-page.js";

/** Options of {@link searchTool}. What is absent is the engine's. */
export interface SearchToolOptions {
  /** @default the option `searchToolName` */
  name?: string;
  description?: string;
  strategy?: SearchStrategy | SearchFunction;
  serializer?: SearchResultSerializer;
  /** Tools on a page when the call does not say. @default 8 */
  defaultLimit?: number;
  /** A larger limit is taken as this one. @default none */
  maxLimit?: number;
  /** How much of each tool when the call does not say. @default the serializer's */
  detail?: Detail;
}

/** Tools on a page: one call should show what a task needs; in one-line form eight cost about 600 tokens. */
export const DEFAULT_SEARCH_LIMIT = 8;

const DETAILS: readonly Detail[] = ["brief", "signature", "detailed", "full"];

/**
 * The meta-tool that finds tools.
 *
 * @example
 * codeMode({ metaTools: [searchTool({ name: "find_tools", defaultLimit: 5 }), executeTool()] });
 */
export function searchTool(options: SearchToolOptions = {}): MetaToolFactory {
  return function createSearchTool(engine): MetaTool {
    const tool = toolDefinition(options, engine.settings);
    return {
      tool,
      async call(args, context) {
        try {
          return await search(engine, readArguments(tool, args), context, options);
        } catch (error) {
          return refusal(error);
        }
      },
    };
  };
}

function toolDefinition({ name, description, defaultLimit }: SearchToolOptions, settings: MetaToolSettings): Tool {
  const { query, limit, detail, server, tags } = SEARCH_ARGUMENTS;
  return {
    name: name ?? settings.searchToolName,
    title: "Search tools",
    description: description ?? searchDescription(defaultLimit ?? DEFAULT_SEARCH_LIMIT),
    inputSchema: {
      type: "object",
      properties: {
        query: { type: "string", description: query },
        limit: { type: "integer", minimum: 1, description: limit },
        detail: { type: "string", enum: [...DETAILS], description: detail },
        server: { type: "string", description: server },
        tags: { type: "array", items: { type: "string" }, description: tags },
      },
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  };
}

function readArguments(tool: Tool, args: Record<string, unknown>): SearchArguments {
  const reader = new MetaArguments(tool, args);
  const read = {
    query: reader.strings("query"),
    limit: reader.integer("limit", 1),
    detail: reader.oneOf("detail", DETAILS),
    server: reader.string("server"),
    tags: reader.strings("tags"),
  };
  return Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined));
}

/** What a search needs of an engine. */
export interface SearchEngine extends Pick<CodeMode, "listTools" | "settings"> {
  /** Which tools are missing now and why: a sentence each. */
  absences?(): readonly string[];
}

/**
 * Answers a search.
 *
 * @throws {ToolCallError} when the tools cannot be listed.
 * @throws {ValidationError} for a server without tools, or a question that the strategy refuses.
 */
export async function search(
  engine: SearchEngine,
  args: SearchArguments,
  context: Partial<CallContext>,
  options: SearchToolOptions = {},
): Promise<CallToolResult> {
  const { settings } = engine;
  // Tools that stay listed are not searched: the model sees them already.
  const tools = await listed(engine, context);
  const searchable = tools.filter((tool) => !settings.isDirect(tool));
  const query = toQuery(args, options);
  const strategy = options.strategy === undefined ? settings.searchStrategy : toStrategy(options.strategy);
  const found = await findTools(searchable, query, { strategy, aliases: settings.aliases });
  return searchPage(found, {
    serializer: options.serializer ?? settings.searchResultSerializer,
    query: query.query,
    detail: args.detail ?? options.detail,
    identifiers: identifiersOf(tools),
    maxBytes: settings.limits.maxResultBytes,
    absences: engine.absences?.() ?? [],
  });
}

async function listed(engine: Pick<CodeMode, "listTools">, context: Partial<CallContext>): Promise<readonly Tool[]> {
  try {
    return await engine.listTools(context);
  } catch (cause) {
    throw new ToolCallError(`The tools could not be listed: ${messageOf(cause)}`, { cause });
  }
}

const identifiersByList = new WeakMap<readonly Tool[], ReadonlyMap<string, string>>();

/** Of the whole catalog, as scripts see it: of a page alone two tools could get one identifier. */
function identifiersOf(tools: readonly Tool[]): ReadonlyMap<string, string> {
  const known = identifiersByList.get(tools);
  if (known !== undefined) return known;
  const identifiers = identifiersFor(tools.map(({ name }) => name));
  identifiersByList.set(tools, identifiers);
  return identifiers;
}

function toQuery({ query, limit, server, tags }: SearchArguments, options: SearchToolOptions): ToolQuery {
  const wanted = limit ?? options.defaultLimit ?? DEFAULT_SEARCH_LIMIT;
  if (!Number.isInteger(wanted) || wanted < 1) {
    throw new ValidationError(`limit must be a whole number of at least 1, got ${wanted}.`);
  }
  return {
    query: typeof query === "string" ? query : (query ?? []).join(", "),
    limit: Math.min(wanted, options.maxLimit ?? Number.POSITIVE_INFINITY),
    server,
    tags,
  };
}
