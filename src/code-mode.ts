import { ArgumentPlans } from "./calls/arguments.js";
import { callerIdOf } from "./calls/caller-id.js";
import { withoutParameters } from "./catalog/hidden-parameters.js";
import type { CallContext } from "./catalog/tool.js";
import { createEngine } from "./create-code-mode.js";
import { ConfigurationError } from "./errors.js";
import { attach } from "./mcp/attach.js";
import { directAdmission } from "./mcp/direct-calls.js";
import { listTokens } from "./mcp/start-report.js";
import type { HostAdapter, HostSurface } from "./mcp/host-adapter.js";
import type { CodeMode } from "./meta-tools/meta-tool.js";
import { PausedRuns, runsOf, type Runs } from "./session/paused-runs.js";
import { resolveOptions, type CodeModeOptions, type ResolvedOptions } from "./options.js";

/** Changes what the clients of an MCP server see. One may be applied to many servers. */
export interface Transform {
  readonly name: string;
  /**
   * Applies it to a server of the MCP TypeScript SDK, 1.12 or newer or 2.x, `McpServer` or `Server`; before or after its
   * tools are registered, before `connect`.
   *
   * @throws {ConfigurationError} when `server` is no such server, or this has been applied to it already.
   */
  apply(server: object): AppliedTransform;
}

/** A {@link Transform} on one server. */
export interface AppliedTransform {
  /** Gives the server back as it was. */
  dispose(): Promise<void>;
}

/** A server that takes transforms. */
export interface TransformHost {
  /**
   * Applies a transform to this server, as {@link Transform.apply} does.
   *
   * @returns this server
   */
  use(transform: Transform): this;
}

/**
 * Hides a server's tools behind two meta-tools: `search` finds them, and `execute` runs a script that calls them.
 *
 * @throws {ConfigurationError} for options that are unknown, of the wrong type, or give two meta-tools one name. Those
 * that only show on a server are thrown by `apply`.
 *
 * @example
 * const server = withTransforms(new McpServer({ name: "demo", version: "1.0.0" }));
 * server.use(codeMode());
 *
 * @example
 * const { dispose } = codeMode({ directTools: ["ping"] }).apply(server);
 */
export function codeMode(options: CodeModeOptions = {}): Transform & Runs {
  const resolved = resolveOptions(options);
  return {
    ...runsOf(new PausedRuns(resolved)),
    name: "code-mode",
    apply(server) {
      return resolved.enabled ? applyTo(server, resolved) : { dispose: async () => {} };
    },
  };
}

function applyTo(server: object, options: ResolvedOptions): AppliedTransform {
  const adapter = attach(server);
  try {
    const engine = createEngine(adapter.source, options);
    adapter.install(surfaceOf(engine, adapter, options));
    // The first script finds a sandbox that is ready; nobody waits for it here.
    options.sandboxProvider.warmUp?.();
    return {
      async dispose() {
        await adapter.dispose();
        await engine.close();
      },
    };
  } catch (error) {
    // A server whose options were wrong is as it was.
    void adapter.dispose();
    throw error;
  }
}

/** What clients of the server see from now on. */
function surfaceOf(engine: CodeMode, adapter: HostAdapter, options: ResolvedOptions): HostSurface {
  const { searchToolName, executeToolName, hasDirectTools, argumentsFor, include, isDirect } = options;
  const plans = new ArgumentPlans(options);
  const hidesParameters = argumentsFor !== undefined;
  return {
    metaTools: new Map(engine.metaTools.map((metaTool) => [metaTool.tool.name, metaTool])),
    namingOptions: new Map([
      [searchToolName, "searchToolName"],
      [executeToolName, "executeToolName"],
    ]),
    isDirect: hasDirectTools ? (tool) => isDirect(tool) && include?.(tool) !== false : undefined,
    leavesAsIs: leavesSmall(options) ? (tools) => listTokens(tools) < SMALL_LIST_TOKENS : undefined,
    show: hidesParameters ? (tool) => withoutParameters(tool, plans.for(tool).hidden) : undefined,
    admit: directAdmission({
      directCalls: options.directCalls,
      policy: options.policy,
      plans,
      hidesParameters,
      callerId: (context) => callerOf(context, options),
      server: adapter.source.name,
      humanWaitMs: options.humanWaitMs,
      executeToolName,
    }),
  };
}

/** Up to so many tokens of tools/list, a client is better off with the tools themselves. */
const SMALL_LIST_TOKENS = 2_000;

/** Tools of further sources, and a choice of tools, exist only behind the meta-tools. */
const leavesSmall = ({ leavesSmallServers, sources, include }: ResolvedOptions): boolean =>
  leavesSmallServers && sources.length === 0 && include === undefined;

/** Who makes a direct call: as for calls of scripts. */
function callerOf(context: CallContext, { callerId }: ResolvedOptions): string | undefined {
  const { authInfo, sessionId } = context;
  return callerId?.({ authInfo, sessionId }) ?? callerIdOf(authInfo) ?? context.callerId;
}

/** On servers that got their `use` from this package. Shared by its copies. */
const USE = Symbol.for("mcp-codemode.use");

/**
 * Gives a server `use(transform)`. It stays the same object; a second time changes nothing.
 *
 * @throws {ConfigurationError} when the server has a `use` of its own: call `codeMode().apply(server)` then.
 *
 * @example
 * const server = withTransforms(new McpServer({ name: "demo", version: "1.0.0" }));
 * server.registerTool("add", { inputSchema: { a: z.number(), b: z.number() } }, async ({ a, b }) => sum(a, b));
 * server.use(codeMode());
 */
export function withTransforms<S extends object>(server: S): S & TransformHost {
  if (!("use" in server)) Object.defineProperty(server, "use", { value: use, configurable: true, writable: true });
  else if (!isTransformUse(server.use)) {
    throw new ConfigurationError(
      "This server has a use() of its own, which withTransforms would replace: call codeMode().apply(server)",
    );
  }
  return server as S & TransformHost;
}

/**
 * Puts {@link use} on a class of servers, once.
 *
 * @param sdk Whose class it is, for errors.
 * @param entry Who does it, for errors.
 * @throws {ConfigurationError} when the class has a `use` of its own.
 */
export function addUse(prototype: object, sdk: string, entry: string): void {
  const own = Object.getOwnPropertyDescriptor(prototype, "use");
  if (isTransformUse(own?.value)) return;
  if (own !== undefined) {
    throw new ConfigurationError(
      `McpServer of ${sdk} has a use() already, which is not that of ${entry}: ` +
        "use withTransforms(server) or codeMode().apply(server)",
    );
  }
  Object.defineProperty(prototype, "use", { value: use, configurable: true, writable: true });
}

/** True for the {@link use} of any copy of this package. */
function isTransformUse(method: unknown): boolean {
  return typeof method === "function" && USE in method;
}

/**
 * The method `use` of {@link withTransforms}.
 *
 * @throws {ConfigurationError} for anything but a {@link Transform}.
 */
const use: TransformHost["use"] = Object.assign(
  function use<S extends object>(this: S, transform: Transform): S {
    if (typeof (transform as Partial<Transform> | undefined)?.apply !== "function") {
      throw new ConfigurationError("use(transform) expected a transform, such as codeMode()");
    }
    transform.apply(this);
    return this;
  },
  { [USE]: true },
) as TransformHost["use"];
