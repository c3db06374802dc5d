import { ArgumentPlans } from "./calls/arguments.js";
import { callerIdOf } from "./calls/caller-id.js";
import { Catalog, type Snapshot } from "./catalog/catalog.js";
import { withoutParameters } from "./catalog/hidden-parameters.js";
import { LearnedTypes } from "./catalog/learned-types.js";
import { deriveContext, type CallContext, type Tool, type ToolSource } from "./catalog/tool.js";
import { ConfigurationError } from "./errors.js";
import type { CodeMode, MetaTool, MetaToolSettings } from "./meta-tools/meta-tool.js";
import type { RunParts } from "./meta-tools/run-script.js";
import { refusal } from "./meta-tools/run-mark.js";
import { search } from "./meta-tools/search.js";
import { resumeWatched, runWatched } from "./meta-tools/watched-run.js";
import { RequiredSchema } from "./meta-tools/required-schema.js";
import type { ScriptSessions } from "./meta-tools/session-script.js";
import { HydratedTools } from "./session/hydration.js";
import { DEFAULT_SESSION_LIMITS, Sessions } from "./session/session.js";
import { PausedRuns, runsOf } from "./session/paused-runs.js";
import { resolveOptions, type CodeModeOptions, type ResolvedOptions } from "./options.js";
import { Telemetry } from "./telemetry/telemetry.js";

/**
 * Code mode without an MCP server: the engine behind `codeMode()`, for hosts of their own.
 *
 * @param source The tools. `options.sources` come on top.
 * @throws {ConfigurationError} for options that are unknown, of the wrong type, or give two meta-tools one name.
 *
 * @example
 * const engine = createCodeMode(source);
 * const outcome = await engine.execute({ code: 'return await call_tool("add", { a: 3, b: 4 })' });
 * if (outcome.status === "completed") console.log(outcome.value); // { result: 7 }
 */
export function createCodeMode(source: ToolSource, options: CodeModeOptions = {}): CodeMode {
  return createEngine(source, resolveOptions(options));
}

/** An engine with what an adapter needs beyond the public face. */
export interface Engine extends CodeMode {
  /** Defaults and hidden parameters of each tool. */
  readonly plans: ArgumentPlans;
  /** A tool of the host as clients may see it: without hidden parameters. */
  showTool(tool: Tool): Tool;
  /** Who asks. */
  callerIdOf(context: CallContext): string | undefined;
}

/** As {@link createCodeMode}, from options that were resolved already. */
export function createEngine(source: ToolSource, options: ResolvedOptions): Engine {
  const plans = new ArgumentPlans(options);
  const metaTools: MetaTool[] = [];
  const { include, sources } = options;
  const catalog = new Catalog({ source, sources, include, show: (tool) => shown(tool, plans) });
  const contextOf = (given?: Partial<CallContext>): CallContext => fullContext(given, options);
  const learned = options.learnedTypes && new LearnedTypes(options.learnedTypes);
  const memoryOf = (context?: Partial<CallContext>): string | undefined => learnerOf(contextOf(context));
  const requiredSchema = requiredSchemaOf(options, source.name, () => nameOf("schema", metaTools));
  const settings = settingsOf(
    options,
    requiredSchema && ((tools, context) => requiredSchema.hydrate(tools, contextOf(context))),
    learned && { decorate: (tool, context) => learned.decorate(tool, memoryOf(context)) },
  );
  const pausedRuns = new PausedRuns(options);
  const metaToolNames = new Set<string>();
  const parts: RunParts = {
    catalog,
    plans,
    policy: options.policy,
    sandbox: options.sandboxProvider,
    sandboxLimits: options.sandboxLimits,
    limits: options.limits,
    settings,
    metaToolNames,
    server: source.name,
    pausedRuns: options.sandboxProvider.resume === undefined ? undefined : pausedRuns,
    sessions: sessionsOf(options, source.name),
    requiredSchema,
    resumeTool: () => nameOf("resume", metaTools),
    onResult: learned && ((tool, value, context) => learned.observe(tool, learnerOf(context), value)),
  };
  const engine: Engine = {
    settings,
    metaTools,
    async listTools(context) {
      return shownTools(catalog, contextOf(context));
    },
    async search(args, context) {
      return search(engine, args, contextOf(context)).catch(refusal);
    },
    async execute(args, context) {
      return runWatched(parts, args, contextOf(context));
    },
    async resume(args, context) {
      return resumeWatched(parts, args, contextOf(context));
    },
    ...runsOf(pausedRuns),
    plans,
    showTool: (tool) => shown(tool, plans),
    absences: () => catalog.absences(),
    callerIdOf: (context) => identify(context, options),
    async close() {
      catalog.close();
    },
  };
  for (const factory of options.metaTools) metaTools.push(factory(engine));
  for (const { tool } of metaTools) addUnique(metaToolNames, tool.name, options);
  return engine;
}

const nameOf = (role: MetaTool["role"], metaTools: readonly MetaTool[]): string | undefined =>
  metaTools.find((metaTool) => metaTool.role === role)?.tool.name;

function requiredSchemaOf(
  { requireSchema, store, sealer, session, limits }: ResolvedOptions,
  server: string | undefined,
  schemaTool: () => string | undefined,
): RequiredSchema | undefined {
  if (!requireSchema) return undefined;
  const ttlMs = session?.limits.ttlMs ?? DEFAULT_SESSION_LIMITS.ttlMs;
  const tools = new HydratedTools({ store, sealer, ttlMs, maxHydratedTools: limits.maxHydratedTools });
  return new RequiredSchema({ tools, key: session?.key, server, schemaTool });
}

function sessionsOf(
  { session, store, sealer }: ResolvedOptions,
  server: string | undefined,
): ScriptSessions | undefined {
  if (session === undefined) return undefined;
  return { sessions: new Sessions({ store, sealer, limits: session.limits }), key: session.key, server };
}

function shown(tool: Tool, plans: ArgumentPlans): Tool {
  return withoutParameters(tool, plans.for(tool).hidden);
}

/** The same array while the catalog is the same: indexes and identifiers are kept by it. */
const shownBySnapshot = new WeakMap<Snapshot, readonly Tool[]>();

async function shownTools(catalog: Catalog, context: CallContext): Promise<readonly Tool[]> {
  const snapshot = await catalog.list(context);
  const known = shownBySnapshot.get(snapshot);
  if (known !== undefined) return known;
  const tools = Object.freeze([...snapshot.entries.values()].map((entry) => entry.shown));
  shownBySnapshot.set(snapshot, tools);
  return tools;
}

/** Whose results teach whom: without an identity it is the session, or this engine's only connection. */
const learnerOf = ({ callerId, sessionId }: CallContext): string | undefined => callerId ?? sessionId;

function settingsOf(
  options: ResolvedOptions,
  hydrate: MetaToolSettings["hydrate"],
  learnedTypes: MetaToolSettings["learnedTypes"],
): MetaToolSettings {
  const { searchToolName, executeToolName, executeDescription, searchStrategy, searchResultSerializer } = options;
  const { executeResultSerializer, structuredOutput, limits, aliases, isDirect, catalogInDescription } = options;
  return Object.freeze({
    searchToolName,
    executeToolName,
    executeDescription,
    searchStrategy,
    searchResultSerializer,
    executeResultSerializer,
    structuredOutput,
    limits: Object.freeze({ ...limits }),
    session: options.session !== undefined,
    hydrate,
    aliases,
    telemetry: new Telemetry(options.onEvent),
    isDirect,
    catalogInDescription,
    learnedTypes,
    sandbox: options.sandboxProvider,
    sandboxLimits: options.sandboxLimits,
  });
}

function addUnique(names: Set<string>, name: string, { executeToolName }: ResolvedOptions): void {
  if (!names.has(name)) {
    names.add(name);
    return;
  }
  const what =
    name === executeToolName
      ? `The name "${name}" collides with the execute tool.`
      : `Two meta-tools are named "${name}".`;
  throw new ConfigurationError(`${what} Names of meta-tools must be unique.`, { details: { name } });
}

function fullContext(given: Partial<CallContext> | undefined, options: ResolvedOptions): CallContext {
  const parent = (given ?? {}) as CallContext;
  const signal = parent.signal ?? new AbortController().signal;
  return deriveContext(parent, { callerId: identify(parent, options), signal });
}

/** The identity of a caller is the host's to say: by the option, else from the request, else as the adapter knows it. */
function identify({ authInfo, sessionId, callerId }: CallContext, options: ResolvedOptions): string | undefined {
  return options.callerId?.({ authInfo, sessionId }) ?? callerIdOf(authInfo) ?? callerId;
}
