import { serverOf, tagsOf, type Tool } from "../catalog/tool.js";
import { nearestNames } from "../nearest.js";
import { pickNames } from "../search/names.js";
import type { SearchStrategy } from "../search/strategy.js";
import { ValidationError } from "../errors.js";

/** One question to the catalog. */
export interface ToolQuery {
  query: string;
  /** At least 1. */
  limit: number;
  server?: string | undefined;
  tags?: readonly string[] | undefined;
}

/** How questions are answered. */
export interface FindOptions {
  strategy: SearchStrategy;
  /** Extra search words by tool name. */
  aliases: ReadonlyMap<string, readonly string[]>;
}

/** What was found. */
export interface FoundTools {
  /** Best first. */
  tools: readonly Tool[];
  /** Tools of the catalog after filters, found or not. */
  total: number;
  /** True when nothing was asked for: these are the first tools in name order. */
  unfiltered: boolean;
  /** Exact names that were asked for and do not exist. */
  unknown: readonly { name: string; nearest: readonly string[] }[];
  /** Names near the question, when nothing was found. */
  nearest: readonly string[];
}

/** The tag that stands for having none. */
const UNTAGGED = "untagged";
const WORD_CHARACTER = /[\p{L}\p{N}]/u;

/**
 * Finds tools: an empty question lists them in name order, exact names are picked, anything else goes to the strategy.
 *
 * @param tools The caller's own, now.
 * @throws {ValidationError} for a server that has no tools.
 */
export async function findTools(tools: readonly Tool[], query: ToolQuery, options: FindOptions): Promise<FoundTools> {
  const filtered = filterTools(tools, query);
  const answer = { total: filtered.length, unfiltered: false, unknown: [], nearest: [] };
  if (query.query.trim() === "" || filtered.length === 0) return { ...answer, ...firstPage(filtered, query.limit) };
  const picked = pickNames(query.query, filtered);
  if (picked !== undefined) return { ...answer, tools: picked.found, unknown: picked.unknown };
  const found = await ask(filtered, query, options);
  if (found.length > 0) return { ...answer, tools: found };
  // "???" asks for nothing, unless the strategy reads it as a pattern.
  if (!WORD_CHARACTER.test(query.query)) return { ...answer, ...firstPage(filtered, query.limit) };
  const names = filtered.map(({ name }) => name);
  return { ...answer, tools: [], nearest: nearestNames(query.query, names) };
}

function filterTools(tools: readonly Tool[], { server, tags }: ToolQuery): readonly Tool[] {
  const ofServer = server === undefined ? tools : tools.filter((tool) => serverOf(tool) === server);
  if (server !== undefined && ofServer.length === 0) throw unknownServer(server, tools);
  if (tags === undefined || tags.length === 0) return ofServer;
  return ofServer.filter((tool) => {
    const own = tagsOf(tool);
    return own.length === 0 ? tags.includes(UNTAGGED) : own.some((tag) => tags.includes(tag));
  });
}

function unknownServer(server: string, tools: readonly Tool[]): ValidationError {
  const servers = [...new Set(tools.map(serverOf))].filter((name) => name !== undefined);
  const known = servers.length === 0 ? "The tools here belong to no named server." : `Servers: ${servers.join(", ")}.`;
  return new ValidationError(`No server ${JSON.stringify(server.slice(0, 64))}. ${known}`, { details: { server } });
}

function firstPage(tools: readonly Tool[], limit: number): Pick<FoundTools, "tools" | "unfiltered"> {
  const byName = [...tools].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  return { tools: byName.slice(0, limit), unfiltered: true };
}

async function ask(tools: readonly Tool[], query: ToolQuery, { strategy, aliases }: FindOptions): Promise<Tool[]> {
  const searchable = aliases.size === 0 ? tools : tools.map((tool) => withAliases(tool, aliases));
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const hits = await strategy.search({ ...query, limit: Math.min(query.limit, tools.length) }, searchable);
  const found = new Set<Tool>();
  for (const { name } of hits) {
    const tool = byName.get(name);
    if (tool !== undefined) found.add(tool);
  }
  return [...found].slice(0, query.limit);
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
