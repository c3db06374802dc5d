import type { ArgumentsFor } from "./calls/arguments.js";
import type { CallerFacts } from "./calls/caller-id.js";
import { givenSandboxLimits, resolveRunLimits, type Limits, type LimitValues } from "./calls/limits.js";
import type { CallPolicy } from "./calls/policy.js";
import type { Tool, ToolSource } from "./catalog/tool.js";
import { ConfigurationError } from "./errors.js";
import { executeTool } from "./meta-tools/execute.js";
import type { CatalogInDescription, ExecuteResultSerializer, MetaToolFactory } from "./meta-tools/meta-tool.js";
import { resumeTool } from "./meta-tools/resume.js";
import { textResult } from "./meta-tools/results/text.js";
import { searchTool } from "./meta-tools/search.js";
import { OptionReader } from "./options/reader.js";
import { resolveSession, type ResolvedSession, type SessionOptions } from "./options/session.js";
import type { SandboxLimits } from "./sandbox/limits.js";
import type { SandboxProvider } from "./sandbox/provider.js";
import { quickJsSandbox } from "./sandbox/quickjs/provider.js";
import { bm25 } from "./search/bm25.js";
import { gradedSerializer } from "./search/serializers/graded.js";
import type { SearchResultSerializer } from "./search/serializers/serializer.js";
import { sharedMemoryStore } from "./session/memory-store.js";
import { sealerFor, type Sealer } from "./session/seal.js";
import type { SessionStore } from "./session/store.js";
import { toStrategy, type SearchFunction, type SearchStrategy } from "./search/strategy.js";
import type { EventListener } from "./telemetry/events.js";

/** Options of {@link codeMode} and {@link createCodeMode}. All may be left out. */
export interface CodeModeOptions {
  /** `false`: nothing is changed, as if the line were not there. @default true */
  enabled?: boolean;
  /** Further tools beside the server's own. One name in two sources is an error. @default [] */
  sources?: readonly ToolSource[];
  /** Which tools can be found and called. @default all */
  include?: (tool: Tool) => boolean;
  /**
   * Tools that stay listed for clients, by name or by a function; scripts can call them too. "auto": a server whose
   * tools/list costs less than about 2,000 tokens is left as it is, and larger ones are hidden; the process' debug log
   * (NODE_DEBUG=mcp-codemode) says which, with numbers. @default none
   */
  directTools?: readonly string[] | ((tool: Tool) => boolean) | "auto";
  /** Extra search words by tool name. @default none */
  aliases?: Readonly<Record<string, readonly string[]>>;
  /** Short for `searchTool({ name })` in `metaTools`. @default "search" */
  searchToolName?: string;
  /** Short for `executeTool({ name })` in `metaTools`. @default "execute" */
  executeToolName?: string;
  /** Short for `executeTool({ description })` in `metaTools`. @default built in */
  executeDescription?: string;
  /** What clients see. @default [searchTool(), executeTool()]; and resumeTool() with a policy or long scripts */
  metaTools?: readonly MetaToolFactory[];
  /** How tools are found. @default bm25() */
  searchStrategy?: SearchStrategy | SearchFunction;
  /** How found tools are printed. @default gradedSerializer() */
  searchResultSerializer?: SearchResultSerializer;
  /** How the outcome of a script is printed. @default textResult() */
  executeResultSerializer?: ExecuteResultSerializer;
  /** "value": replies of execute carry the value as structuredContent too. @default "none" */
  structuredOutput?: "none" | "value";
  /**
   * Which tools the descriptions of the meta-tools name. "auto": names, as far as they fit into descriptions of 2,048
   * characters, where some clients cut; "names", "summaries" (with the first sentence of each): in the description of
   * execute, within 4,000 tokens; `{ tokens }`: as "summaries", within so many. What does not fit falls back to names, then
   * to some of them. They say COMPLETE or "N of M". `executeDescription` is left alone unless this is set.
   * @default "auto"
   */
  catalogInDescription?: false | "auto" | "names" | "summaries" | { tokens: number };
  /**
   * Remembers the types of real results of tools that declare none, and shows them with how often they were observed:
   * never values, never in a description, never to validate by. `share`: what one caller's results taught is shown to
   * others. @default true, for each caller alone
   */
  learnedTypes?: boolean | { share?: boolean };
  /**
   * Scripts may call only tools whose schema was asked for, with `schemaTool()`, in the same session: at most
   * `limits.maxHydratedTools` of them. @default false
   */
  requireSchema?: boolean;
  /** Values for parameters that a script did not give, where the tool accepts them. @default none */
  defaultArguments?: Readonly<Record<string, unknown>>;
  /** Defaults and hidden parameters by tool. @default none */
  argumentsFor?: ArgumentsFor;
  /** Where scripts run. @default quickJsSandbox() */
  sandboxProvider?: SandboxProvider;
  /** Limits that differ from the defaults; `null` removes one. */
  limits?: Limits;
  /** Decides about every call. @default none: all are allowed */
  policy?: CallPolicy;
  /** A client's own calls of hidden tools. @default "policy" with a policy, else "allow" */
  directCalls?: "allow" | "policy" | "refuse";
  /** Who asks, as the host knows it. @default client id and subject of authInfo, else a hash of its token */
  callerId?: (caller: CallerFacts) => string | undefined;
  /**
   * `{ variables: true }`: variables, functions and classes of a script's top level are there in the next script of the same
   * MCP session and caller, also after a failure. @default false
   */
  session?: false | SessionOptions;
  /** Where paused scripts and sessions are kept. @default one memoryStore per process, shared by all codeMode() calls */
  store?: SessionStore;
  /**
   * Seals what is kept: at least 16 characters, or a list of such texts of which the first one seals and all open. Another
   * process can go on with a script only with the same secret and store. @default a random key of this process
   */
  secret?: string | readonly string[];
  /** Gets an event after every search, execute and call, for the host's own log. @default none */
  onEvent?: EventListener;
}

/** The options with every default filled in. */
export interface ResolvedOptions {
  enabled: boolean;
  sources: readonly ToolSource[];
  include: ((tool: Tool) => boolean) | undefined;
  /** True for a tool that stays listed. */
  isDirect: (tool: Tool) => boolean;
  /** False when no tool can be direct: then nobody has to list the tools to know. */
  hasDirectTools: boolean;
  aliases: ReadonlyMap<string, readonly string[]>;
  searchToolName: string;
  executeToolName: string;
  executeDescription: string | undefined;
  metaTools: readonly MetaToolFactory[];
  searchStrategy: SearchStrategy;
  searchResultSerializer: SearchResultSerializer;
  executeResultSerializer: ExecuteResultSerializer;
  structuredOutput: "none" | "value";
  catalogInDescription: CatalogInDescription;
  /** Undefined: nothing is learned. */
  learnedTypes: { shared: boolean } | undefined;
  /** A small server is left as it is. */
  leavesSmallServers: boolean;
  defaultArguments: Readonly<Record<string, unknown>>;
  argumentsFor: ArgumentsFor | undefined;
  sandboxProvider: SandboxProvider;
  limits: LimitValues;
  /** Those of the given limits that the sandbox keeps. */
  sandboxLimits: SandboxLimits;
  policy: CallPolicy | undefined;
  directCalls: "allow" | "policy" | "refuse";
  callerId: ((caller: CallerFacts) => string | undefined) | undefined;
  requireSchema: boolean;
  /** Undefined: scripts leave nothing for the next one. */
  session: ResolvedSession | undefined;
  store: SessionStore;
  sealer: Sealer;
  /** How long a person has time to answer, in milliseconds. */
  humanWaitMs: number;
  onEvent: EventListener | undefined;
}

const KEYS: readonly (keyof CodeModeOptions)[] = [
  "enabled",
  "sources",
  "include",
  "directTools",
  "aliases",
  "searchToolName",
  "executeToolName",
  "executeDescription",
  "metaTools",
  "searchStrategy",
  "searchResultSerializer",
  "executeResultSerializer",
  "structuredOutput",
  "catalogInDescription",
  "learnedTypes",
  "defaultArguments",
  "argumentsFor",
  "sandboxProvider",
  "limits",
  "policy",
  "directCalls",
  "callerId",
  "requireSchema",
  "session",
  "store",
  "secret",
  "onEvent",
];

/**
 * The options over the defaults, checked.
 *
 * @throws {ConfigurationError} for an unknown option (with the nearest known one) and for a value of the wrong type; the
 * message names the path.
 *
 * @example
 * resolveOptions({ limits: { maxToolCalls: 10 } }).limits.maxToolCalls; // 10
 */
export function resolveOptions(options: CodeModeOptions = {}): ResolvedOptions {
  const read = new OptionReader(options, KEYS);
  const directTools = read.namesOrFunction("directTools", ["auto"]) as CodeModeOptions["directTools"];
  const policy = read.function("policy") as CallPolicy | undefined;
  const sandboxProvider = read.objectWith("sandboxProvider", ["run"]) as SandboxProvider | undefined;
  const limits = read.object("limits") as Limits | undefined;
  const runLimits = resolveRunLimits(limits);
  const provider = sandboxProvider ?? quickJsSandbox();
  return {
    ...names(read),
    enabled: read.boolean("enabled") ?? true,
    sources: read.listOf("sources", ["listTools", "callTool"]) as readonly ToolSource[],
    include: read.function("include") as ResolvedOptions["include"],
    isDirect: toPredicate(directTools),
    hasDirectTools: directTools !== undefined && directTools !== "auto" && directTools.length > 0,
    leavesSmallServers: directTools === "auto",
    aliases: aliasMap(read.object("aliases")),
    metaTools:
      (read.functions("metaTools") as readonly MetaToolFactory[] | undefined) ??
      defaultMetaTools(provider, policy, runLimits),
    searchStrategy: strategyOf(read),
    searchResultSerializer: (read.function("searchResultSerializer") as SearchResultSerializer) ?? gradedSerializer(),
    executeResultSerializer: (read.function("executeResultSerializer") as ExecuteResultSerializer) ?? textResult(),
    structuredOutput: read.oneOf("structuredOutput", ["none", "value"]) ?? "none",
    catalogInDescription: catalogOf(read),
    learnedTypes: learnedTypesOf(read),
    defaultArguments: read.object("defaultArguments") ?? {},
    argumentsFor: read.function("argumentsFor") as ArgumentsFor | undefined,
    sandboxProvider: provider,
    limits: runLimits,
    sandboxLimits: givenSandboxLimits(limits),
    policy,
    directCalls: directCallsOf(read, policy),
    callerId: read.function("callerId") as ResolvedOptions["callerId"],
    requireSchema: read.boolean("requireSchema") ?? false,
    session: resolveSession(options.session, provider),
    store:
      (read.objectWith("store", ["get", "put", "delete", "list"]) as SessionStore | undefined) ?? sharedMemoryStore(),
    sealer: sealerFor(options.secret),
    humanWaitMs: runLimits.humanWaitMs,
    onEvent: read.function("onEvent") as EventListener | undefined,
  };
}

/** Scripts can be paused for a person only where a policy may ask one, and for time only where they may outlive a request. */
function defaultMetaTools(
  provider: SandboxProvider,
  policy: CallPolicy | undefined,
  { timeoutMs, clientTimeoutMs }: LimitValues,
): readonly MetaToolFactory[] {
  const canPause = provider.resume !== undefined && (policy !== undefined || timeoutMs > clientTimeoutMs);
  return [searchTool(), executeTool(), ...(canPause ? [resumeTool()] : [])];
}

function names(read: OptionReader): Pick<ResolvedOptions, "searchToolName" | "executeToolName" | "executeDescription"> {
  const searchToolName = read.toolName("searchToolName") ?? "search";
  const executeToolName = read.toolName("executeToolName") ?? "execute";
  if (searchToolName === executeToolName) {
    throw new ConfigurationError(
      `searchToolName collides with executeToolName: both are "${executeToolName}". Names of meta-tools must be unique.`,
    );
  }
  return { searchToolName, executeToolName, executeDescription: read.string("executeDescription") };
}

function strategyOf(read: OptionReader): SearchStrategy {
  const given = read.functionOrObjectWith("searchStrategy", ["search"]) as SearchStrategy | SearchFunction | undefined;
  return given === undefined ? bm25() : toStrategy(given);
}

function directCallsOf(read: OptionReader, policy: CallPolicy | undefined): ResolvedOptions["directCalls"] {
  const given = read.oneOf("directCalls", ["allow", "policy", "refuse"]);
  if (given === "policy" && policy === undefined) {
    throw new ConfigurationError('directCalls is "policy", but there is no `policy`.');
  }
  return given ?? (policy === undefined ? "allow" : "policy");
}

function catalogOf(read: OptionReader): CatalogInDescription {
  const given = read.valueOrNumbers("catalogInDescription", [false, "auto", "names", "summaries"], ["tokens"]);
  return (given as CatalogInDescription | undefined) ?? "unset";
}

function learnedTypesOf(read: OptionReader): ResolvedOptions["learnedTypes"] {
  const given = read.booleanOrFlags("learnedTypes", ["share"]);
  if (given === false) return undefined;
  return { shared: typeof given === "object" && given["share"] === true };
}

function toPredicate(direct: CodeModeOptions["directTools"]): (tool: Tool) => boolean {
  if (typeof direct === "function") return direct;
  if (direct === "auto") return () => false;
  const directNames = new Set(direct);
  return ({ name }) => directNames.has(name);
}

function aliasMap(aliases: Record<string, unknown> = {}): ReadonlyMap<string, readonly string[]> {
  const entries = Object.entries(aliases).map(([tool, words]): [string, readonly string[]] => {
    if (Array.isArray(words) && words.every((word) => typeof word === "string")) return [tool, words as string[]];
    throw new ConfigurationError(`aliases.${tool} must be a list of strings.`);
  });
  return new Map(entries);
}
