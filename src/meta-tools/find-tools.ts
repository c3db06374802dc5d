import { serverOf, tagsOf, type Tool } from "../catalog/tool.js";
import { foldedText } from "../catalog/untrusted-text.js";
import { ValidationError } from "../errors.js";
import { pickNames, type UnknownName } from "../search/names.js";
import type { SearchRequest, SearchStrategy } from "../search/strategy.js";
import { hasWords } from "../search/tokenize.js";
import { closestNames } from "./nearest-names.js";

/** What is asked of the catalog. */
export interface ToolQuery {
  /** One question or several. None, or one without words: all tools in name order. */
  queries: readonly string[];
  /** Most tools on the page, at least 1. Tools asked for by name are all on it. */
  limit: number;
  /** Hits before this page. @default 0 */
  offset?: number;
  server?: string | undefined;
  tags?: readonly string[] | undefined;
}

/** How questions are answered. */
export interface FindOptions {
  strategy: SearchStrategy;
  /** Extra search words by tool name. */
  aliases: ReadonlyMap<string, readonly string[]>;
}

/** What one of the questions found. */
export interface Answer {
  query: string;
  /** Best first. */
  tools: readonly Tool[];
  /** Names like the question, when nothing was found. */
  nearest: readonly string[];
}

/** What was found. */
export interface FoundTools {
  /** The page, best first; hits of several questions take turns. */
  tools: readonly Tool[];
  /** Hits before it. */
  offset: number;
  /** True when there are hits after it. */
  more: boolean;
  /** Tools of the catalog after filters, found or not. */
  total: number;
  /** True when nothing was asked for: these are tools in name order. */
  unfiltered: boolean;
  /** Exact names that were asked for and do not exist. */
  unknown: readonly UnknownName[];
  /** One for each question. */
  answers: readonly Answer[];
  /** Servers of the tools that were looked through, in name order. */
  servers: readonly string[];
}

/** The tag that stands for having none. */
export const UNTAGGED = "untagged";
const MAX_SERVER_CHARACTERS = 64;
/** Servers named in an error or reply; the rest is counted. */
const MAX_SERVERS = 20;

/**
 * Finds tools: exact names are picked, anything else with words goes to the strategy, and without words all tools are
 * listed in name order.
 *
 * @param tools The caller's own, now.
 * @throws {ValidationError} for a server that has no tools.
 */
export async function findTools(tools: readonly Tool[], query: ToolQuery, options: FindOptions): Promise<FoundTools> {
  const filtered = filterTools(tools, query);
  const { offset = 0, limit } = query;
  const common = { offset, total: filtered.length, servers: serversOf(filtered), answers: [], unknown: [] };
  const queries = query.queries.filter((text) => text.trim() !== "");
  if (queries.length === 0) return { ...common, ...census(filtered, query) };
  const end = offset + limit;
  const request = { limit: end + 1, server: query.server, tags: query.tags };
  const answered = await Promise.all(queries.map((text) => answer(filtered, { ...request, query: text }, options)));
  // "???" asks for nothing, unless the strategy reads it as a pattern.
  const isEmpty = answered.every(({ tools: found, unknown }) => found.length + unknown.length === 0);
  if (isEmpty && !queries.some(hasWords)) return { ...common, ...census(filtered, query) };
  const hits = inTurns(answered.map(({ tools: found }) => found));
  const named = new Set(answered.flatMap(({ picked }) => picked));
  const page = pageOf(hits, named, offset, limit);
  const unknown = answered.flatMap((one) => one.unknown);
  return { ...common, ...page, unfiltered: false, unknown, answers: answered };
}

/** All tools of a page, or all that were asked for by name. */
function pageOf(
  hits: readonly Tool[],
  named: ReadonlySet<Tool>,
  offset: number,
  limit: number,
): Pick<FoundTools, "tools" | "more"> {
  const end = offset + limit;
  const tools = offset === 0 && named.size > limit ? hits.filter((tool) => named.has(tool)) : hits.slice(offset, end);
  return { tools, more: hits.length > end && named.size <= limit };
}

interface Answered extends Answer {
  picked: readonly Tool[];
  unknown: readonly UnknownName[];
}

async function answer(tools: readonly Tool[], request: SearchRequest, options: FindOptions): Promise<Answered> {
  const { query } = request;
  const picked = tools.length === 0 ? undefined : pickNames(query, tools);
  if (picked !== undefined) {
    return { query, tools: picked.found, picked: picked.found, unknown: picked.unknown, nearest: [] };
  }
  const found = tools.length === 0 ? [] : await ask(tools, request, options);
  const isVain = found.length === 0 && hasWords(query);
  const nearest = isVain
    ? closestNames(
        query,
        tools.map(({ name }) => name),
      )
    : [];
  return { query, tools: found, picked: [], unknown: [], nearest };
}

function filterTools(tools: readonly Tool[], { server, tags }: Pick<ToolQuery, "server" | "tags">): readonly Tool[] {
  const ofServer = server === undefined ? tools : tools.filter((tool) => serverOf(tool) === server);
  if (server !== undefined && ofServer.length === 0) throw unknownServer(server, tools);
  if (tags === undefined || tags.length === 0) return ofServer;
  return ofServer.filter((tool) => {
    const own = tagsOf(tool);
    return own.length === 0 ? tags.includes(UNTAGGED) : own.some((tag) => tags.includes(tag));
  });
}

function unknownServer(server: string, tools: readonly Tool[]): ValidationError {
  const servers = serversOf(tools);
  const known = servers.length === 0 ? "The tools here belong to no named server." : `Servers: ${serverList(servers)}.`;
  return new ValidationError(`No server ${JSON.stringify(server.slice(0, MAX_SERVER_CHARACTERS))}. ${known}`, {
    details: { server: server.slice(0, MAX_SERVER_CHARACTERS) },
  });
}

const serversOf = (tools: readonly Tool[]): string[] =>
  [...new Set(tools.map(serverOf))].filter((name) => name !== undefined).sort();

/** Names of servers as text: they are their authors' words. */
export function serverList(servers: readonly string[]): string {
  const shown = servers.slice(0, MAX_SERVERS).map((name) => foldedText(name, MAX_SERVER_CHARACTERS));
  const left = servers.length - shown.length;
  return left > 0 ? `${shown.join(", ")} and ${left} more` : shown.join(", ");
}

/** Orders by name, by code units: the same everywhere. */
export const byName = (a: Tool, b: Tool): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

function census(
  tools: readonly Tool[],
  { offset = 0, limit }: ToolQuery,
): Pick<FoundTools, "tools" | "unfiltered" | "more"> {
  const end = offset + limit;
  return { tools: [...tools].sort(byName).slice(offset, end), unfiltered: true, more: tools.length > end };
}

/** The first of each list, then the second of each, and so on; each tool once. */
function inTurns(lists: readonly (readonly Tool[])[]): Tool[] {
  const merged = new Set<Tool>();
  const longest = Math.max(...lists.map(({ length }) => length));
  for (let rank = 0; rank < longest; rank++) {
    for (const list of lists) {
      const tool = list[rank];
      if (tool !== undefined) merged.add(tool);
    }
  }
  return [...merged];
}

async function ask(
  tools: readonly Tool[],
  request: SearchRequest,
  { strategy, aliases }: FindOptions,
): Promise<Tool[]> {
  const searchable = aliases.size === 0 ? tools : tools.map((tool) => withAliases(tool, aliases));
  const named = new Map(tools.map((tool) => [tool.name, tool]));
  const limit = Math.min(request.limit, tools.length);
  const hits = await strategy.search({ ...request, limit }, searchable);
  const found = new Set<Tool>();
  for (const { name } of hits) {
    const tool = named.get(name);
    if (tool !== undefined) found.add(tool);
  }
  return [...found].slice(0, limit);
}

/** Copies are kept, since strategies keep their indexes by the identity of tools. */
const copies = new WeakMap<ReadonlyMap<string, readonly string[]>, WeakMap<Tool, Tool>>();

function withAliases(tool: Tool, aliases: ReadonlyMap<string, readonly string[]>): Tool {
  const words = aliases.get(tool.name);
  if (words === undefined) return tool;
  const known = copies.get(aliases) ?? new WeakMap<Tool, Tool>();
  copies.set(aliases, known);
  const copy = known.get(tool) ?? { ...tool, _meta: { ...tool._meta, "mcp-codemode/aliases": words } };
  known.set(tool, copy);
  return copy;
}
