import type { CatalogView } from "../catalog/catalog.js";
import { learnedResult } from "../catalog/learned-types.js";
import { serverOf, tagsOf, type CallContext, type Tool } from "../catalog/tool.js";
import { unknownTool } from "../calls/call-errors.js";
import type { RunCalls } from "../calls/call-tool.js";
import { isRecord } from "../calls/schema-types.js";
import { LimitError, ValidationError } from "../errors.js";
import type { HostFunction } from "../sandbox/provider.js";
import { MetaArguments } from "./arguments.js";
import { findTools } from "./find-tools.js";
import type { MetaToolSettings } from "./meta-tool.js";
import { DEFAULT_SEARCH_LIMIT } from "./search.js";

/** The arguments of `search_tools`, as {@link MetaArguments} reads them. */
const SEARCH_TOOLS: Tool = {
  name: "search_tools",
  inputSchema: {
    type: "object",
    properties: { query: { type: "string" }, limit: { type: "integer" }, server: { type: "string" }, tags: {} },
  },
};

/**
 * `search_tools(query, { limit, server, tags })` and `get_schema(names)` of a script: tools as data. Each counts as a
 * call, and each answer is bounded by `limits.maxDiscoveryBytes`.
 */
export function discoveryFunctions(
  calls: RunCalls,
  view: CatalogView,
  settings: MetaToolSettings,
  context: CallContext,
): Record<string, HostFunction> {
  const most = settings.limits.maxDiscoveryBytes;
  const data = (tool: Tool): object => asData(settings.learnedTypes?.decorate(tool, context) ?? tool);
  return {
    search_tools: (query: unknown, options: unknown) =>
      calls.count("search_tools", async () => bounded(await searchTools(view, settings, data, query, options), most)),
    get_schema: (names: unknown) =>
      calls.count("get_schema", async () => bounded(await getSchema(view, data, names), most)),
  };
}

async function searchTools(
  view: CatalogView,
  settings: MetaToolSettings,
  data: (tool: Tool) => object,
  query: unknown,
  options: unknown,
): Promise<readonly object[]> {
  if (options !== undefined && options !== null && !isRecord(options)) {
    throw new ValidationError("search_tools(query, options): options must be an object, as in { limit: 5 }.");
  }
  const read = new MetaArguments(SEARCH_TOOLS, { ...options, query });
  const { entries } = await view.snapshot();
  const { tools } = await findTools(
    [...entries.values()].map(({ shown }) => shown),
    {
      queries: read.strings("query") ?? [],
      limit: read.integer("limit", 1) ?? DEFAULT_SEARCH_LIMIT,
      server: read.string("server"),
      tags: read.strings("tags"),
    },
    { strategy: settings.searchStrategy, aliases: settings.aliases },
  );
  return tools.map(data);
}

/** One definition for a name, a list in the order of a list of names. */
async function getSchema(view: CatalogView, data: (tool: Tool) => object, names: unknown): Promise<unknown> {
  if (typeof names === "string") return data(await toolOf(view, names));
  if (!Array.isArray(names) || !names.every((name) => typeof name === "string")) {
    throw new ValidationError("get_schema(names): give one tool name, or a list of them.");
  }
  return Promise.all((names as string[]).map(async (name) => data(await toolOf(view, name))));
}

async function toolOf(view: CatalogView, name: string): Promise<Tool> {
  const entry = await view.find(name);
  if (entry === undefined) throw unknownTool(name, (await view.snapshot()).entries.keys());
  return entry.shown;
}

/** What a script can use of a tool: no `_meta`, which is between host and client. */
function asData(tool: Tool): object {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  const tags = tagsOf(tool);
  const facts = {
    name,
    title,
    description,
    server: serverOf(tool),
    tags: tags.length > 0 ? tags : undefined,
    inputSchema,
    outputSchema,
    // Learned from results: for reading, under a name of its own since the tool does not promise it.
    observed: learnedResult(tool),
    annotations,
  };
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
}

function bounded<T>(answer: T, most: number): T {
  const bytes = Buffer.byteLength(JSON.stringify(answer));
  if (bytes <= most) return answer;
  throw new LimitError(
    `The answer takes ${bytes} bytes, at most ${most} are allowed (limits.maxDiscoveryBytes). Ask for fewer tools at a time.`,
    { details: { limit: "maxDiscoveryBytes", bytes, most } },
  );
}
