import type { CallContext, Tool, ToolResult, ToolSource } from "../catalog/tool.js";
import { ConfigurationError } from "../errors.js";
import { carriedRequest, carryRequest, takeNestedProgress } from "./context.js";
import { connectionOf } from "./connection.js";
import { elicitationOf } from "./elicitation.js";
import type { Generation } from "./generation.js";
import { HandlerTable, markInside } from "./handler-table.js";
import type { HostAdapter, HostSurface } from "./host-adapter.js";
import {
  type HostServer,
  INVALID_PARAMS,
  type LowLevelServer,
  protocolError,
  recogniseServer,
  wantsNoListChanged,
} from "./host-server.js";
import { ListChanges } from "./list-changes.js";
import { MethodOverride } from "./method-override.js";
import { OwnTools } from "./own-tools.js";
import { GenerationV1 } from "./server-v1.js";
import { GenerationV2 } from "./server-v2.js";
import { SurfaceHandlers } from "./surface-handlers.js";

/** Shared by every copy of this package in a process: two of them on one server would hide each other's meta-tools. */
const ATTACHED = Symbol.for("mcp-codemode.attached");

/**
 * Takes over a server of the MCP TypeScript SDK, 1.12 or newer or 2.x, `McpServer` or `Server`. Until
 * {@link HostAdapter.install} clients notice nothing. To be done before `connect` when the server has no tools yet: SDKs
 * declare capabilities only then.
 *
 * @throws {ConfigurationError} when `server` is no such server, is attached already, or is connected without tools.
 */
export function attach(server: object): HostAdapter {
  const host = recogniseServer(server);
  if (ATTACHED in host.low) throw new ConfigurationError("Code mode is already applied to this server");
  declareTools(host);
  return new ServerAdapter(host);
}

/** Declares the capability, as registering a tool would. */
function declareTools({ low }: HostServer): void {
  if (wantsNoListChanged(low)) keepListChangedFalse(low);
  const declared = low.getCapabilities?.()?.tools;
  if (low.transport === undefined) {
    low.registerCapabilities({ tools: { listChanged: declared?.listChanged ?? true } });
  } else if (declared === undefined) {
    throw new ConfigurationError("The server is connected and has declared no tools: apply code mode before connect()");
  }
}

/** Whatever the SDK declares at the next tool: the host's word stands. */
function keepListChangedFalse(low: LowLevelServer): void {
  type Declare = LowLevelServer["registerCapabilities"];
  new MethodOverride<Declare>(low, "registerCapabilities", (original) => (capabilities) => {
    const { tools } = capabilities as { tools?: object };
    original(tools === undefined ? capabilities : { ...capabilities, tools: { ...tools, listChanged: false } });
  });
}

class ServerAdapter implements HostAdapter {
  readonly generation: "v1" | "v2";
  readonly level: "McpServer" | "Server";
  readonly source: ToolSource;
  readonly #server: HostServer;
  readonly #table: HandlerTable;
  readonly #generation: Generation;
  readonly #ownTools: OwnTools;
  readonly #changes: ListChanges;
  readonly #listeners = new Set<() => void>();
  #hasListed = false;
  /** The request that listed last: what depends on callers is compared from its view. */
  #lastLister: CallContext | undefined;

  constructor(server: HostServer) {
    const { low, high, generation } = server;
    this.#server = server;
    this.generation = generation;
    this.level = high === undefined ? "Server" : "McpServer";
    this.#table = new HandlerTable(low);
    this.#generation = generation === "v1" ? new GenerationV1(this.#table) : new GenerationV2(high);
    this.#ownTools = new OwnTools(server, this.#table, (tools) => this.#onListed(tools));
    this.#changes = new ListChanges(server, {
      isSilent: wantsNoListChanged(low),
      onChange: () => this.#onChange(),
      isInternal: (notification) =>
        takeNestedProgress(notification) || this.#generation.isInternal?.(notification) === true,
    });
    Object.defineProperty(low, ATTACHED, { value: true, configurable: true });
    this.source = this.#asSource();
  }

  install(surface: HostSurface): void {
    const ours = new SurfaceHandlers(surface, {
      name: this.#name,
      table: this.#table,
      contextOf: (extra) => this.#contextOf(extra),
      listOwn: (context) => this.#listTools(context),
      onListed: (list, context) => {
        this.#lastLister = context;
        this.#changes.seen(list);
      },
    });
    this.#table.putInFront(ours.handlers);
    const metaToolsOnly = [...surface.metaTools.values()].map(({ tool }) => tool);
    this.#changes.watch(
      () => this.#ourList(surface, ours),
      dependsOnTools(surface) ? undefined : JSON.stringify(metaToolsOnly),
    );
  }

  async dispose(): Promise<void> {
    this.#table.release();
    this.#listeners.clear();
    Reflect.deleteProperty(this.#server.low, ATTACHED);
    await this.#changes.release();
  }

  get #name(): string {
    const name = this.#server.low._serverInfo?.name;
    return typeof name === "string" ? name : "server";
  }

  /** The caller of a request, with the request on it. */
  #contextOf(extra: object): CallContext {
    const { low } = this.#server;
    const context = {
      ...this.#generation.contextOf(extra),
      elicit: elicitationOf(low, extra),
      connection: connectionOf(low, extra),
    };
    return carryRequest(context, low, extra);
  }

  #asSource(): ToolSource {
    return {
      name: this.#name,
      // An McpServer's handlers do; those of the low-level class are the user's.
      validatesArguments: this.level === "McpServer",
      listTools: (context) => this.#listTools(context),
      callTool: (name, args, context) => this.#callTool(name, args, context),
      onToolsChanged: (listener) => {
        // A function of its own, so that one listener given twice is two.
        const entry = (): void => listener();
        this.#listeners.add(entry);
        return () => this.#listeners.delete(entry);
      },
    };
  }

  #listTools(context: CallContext): Promise<Tool[]> {
    return this.#ownTools.list(this.#requestOf(context), context);
  }

  async #callTool(name: string, args: Record<string, unknown>, context: CallContext): Promise<ToolResult> {
    const handler = this.#table.own("tools/call");
    if (handler === undefined) throw protocolError(INVALID_PARAMS, `Tool ${name} not found`);
    // Which tools only run as tasks is known from a list.
    if (!this.#hasListed && this.#table.has("tasks/result")) await this.#listTools(context);
    return this.#generation.call({ handler, name, args, context, extra: this.#requestOf(context) });
  }

  #requestOf(context: CallContext): object {
    return (
      carriedRequest(context, this.#server.low) ?? markInside(this.#generation.extraWithoutRequest(context.signal))
    );
  }

  #onListed(tools: readonly Tool[]): void {
    this.#hasListed = true;
    this.#generation.onListed?.(tools);
  }

  #onChange(): void {
    this.#ownTools.forget();
    for (const listener of this.#listeners) listener();
  }

  /** Our list now, as JSON; undefined while it depends on callers and none has asked. */
  async #ourList(surface: HostSurface, ours: SurfaceHandlers): Promise<string | undefined> {
    const needsCaller = dependsOnTools(surface) && !this.#ownTools.isSameForAll;
    if (needsCaller && this.#lastLister === undefined) return undefined;
    const context = this.#lastLister ?? { signal: new AbortController().signal };
    return JSON.stringify(await ours.visibleTools(context));
  }
}

/** True when what clients see changes with the tools of the host. */
function dependsOnTools({ isDirect, leavesAsIs, metaTools }: HostSurface): boolean {
  const named = [...metaTools.values()].some((one) => one.listed !== undefined);
  return named || isDirect !== undefined || leavesAsIs !== undefined;
}
