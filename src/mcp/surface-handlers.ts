import type { CallContext, CallToolResult, Tool } from "../catalog/tool.js";
import type { MetaTool } from "../meta-tools/meta-tool.js";
import type { HandlerTable } from "./handler-table.js";
import type { HostSurface } from "./host-adapter.js";
import { isReported, reportStart } from "./start-report.js";
import { type Handler, type HostRequest, INVALID_PARAMS, METHOD_NOT_FOUND, protocolError } from "./host-server.js";

/** What {@link SurfaceHandlers} needs of the adapter. */
export interface SurfaceHost {
  readonly table: HandlerTable;
  /** The caller of a request, with the request on it. */
  contextOf(extra: object): CallContext;
  /** The server's own tools, for this caller. */
  listOwn(context: CallContext): Promise<readonly Tool[]>;
  /** A client is about to get this list, as JSON. */
  onListed(list: string, context: CallContext): void;
  /** The server's own name, for warnings. */
  readonly name: string;
}

/** Answers `tools/list` and `tools/call` in front of a host server. */
export class SurfaceHandlers {
  readonly #surface: HostSurface;
  readonly #host: SurfaceHost;
  #isChecked = false;

  constructor(surface: HostSurface, host: SurfaceHost) {
    this.#surface = surface;
    this.#host = host;
  }

  get handlers(): ReadonlyMap<string, Handler> {
    return new Map<string, Handler>([
      ["tools/list", (request, extra) => this.#list(request, extra as object)],
      ["tools/call", (request, extra) => this.#call(request, extra as object)],
    ]);
  }

  /** What a caller sees: the meta-tools, then those of the host that stay listed; or the host's own, left as they are. */
  async visibleTools(context: CallContext): Promise<Tool[]> {
    const { metaTools, isDirect, show, leavesAsIs } = this.#surface;
    if (leavesAsIs !== undefined) {
      const all = await this.#host.listOwn(context);
      if (leavesAsIs(all)) return show === undefined ? [...all] : all.map(show);
    }
    const visible = await Promise.all([...metaTools.values()].map(async (one) => one.listed?.(context) ?? one.tool));
    if (isDirect === undefined) return visible;
    const own = (await this.#host.listOwn(context)).filter((tool) => this.#isListed(tool));
    return visible.concat(show === undefined ? own : own.map(show));
  }

  #isListed(tool: Tool): boolean {
    return !this.#surface.metaTools.has(tool.name) && this.#surface.isDirect?.(tool) === true;
  }

  async #list(request: HostRequest, extra: object): Promise<{ tools: Tool[] }> {
    // One page holds everything, so every cursor is one we never gave.
    if (request.params?.["cursor"] !== undefined) throw protocolError(INVALID_PARAMS, "Invalid cursor");
    const context = this.#host.contextOf(extra);
    const tools = await this.visibleTools(context);
    this.#host.onListed(JSON.stringify(tools), context);
    if (!this.#isChecked) {
      this.#isChecked = true;
      // Not awaited: a host that is slow to list, or cannot, must not hold up a list that does not need it.
      this.#warnOfShadowed(context).catch(() => {});
      if (isReported()) this.#report(context, tools).catch(() => {});
    }
    return { tools };
  }

  #call(request: HostRequest, extra: object): unknown {
    const name = request.params?.["name"];
    const metaTool = typeof name === "string" ? this.#surface.metaTools.get(name) : undefined;
    if (metaTool === undefined) return this.#passOn(request, extra);
    const { leavesAsIs } = this.#surface;
    if (leavesAsIs === undefined) return this.#callMeta(metaTool, request, extra);
    return this.#callEither(metaTool, leavesAsIs, request, extra);
  }

  /** Of a server left as it is, a tool with the name of a meta-tool is the one that clients see. */
  async #callEither(
    metaTool: MetaTool,
    leavesAsIs: NonNullable<HostSurface["leavesAsIs"]>,
    request: HostRequest,
    extra: object,
  ): Promise<unknown> {
    const own = await this.#host.listOwn(this.#host.contextOf(extra));
    const isOwn = leavesAsIs(own) && own.some(({ name }) => name === metaTool.tool.name);
    return isOwn ? this.#passOn(request, extra) : this.#callMeta(metaTool, request, extra);
  }

  #callMeta(metaTool: MetaTool, { params }: HostRequest, extra: object): Promise<CallToolResult> {
    const { name } = metaTool.tool;
    if (params?.["task"] !== undefined) {
      throw protocolError(METHOD_NOT_FOUND, `Tool ${name} does not support task-augmented execution`);
    }
    const args = params?.["arguments"] ?? {};
    if (!isObject(args)) {
      const text = `Invalid arguments for tool ${name}: expected an object, got ${Array.isArray(args) ? "an array" : typeof args}`;
      return Promise.resolve({ content: [{ type: "text", text }], isError: true });
    }
    return metaTool.call(args, this.#host.contextOf(extra));
  }

  /** A tool of the host's, hidden or not: hiding is not revoking. */
  #passOn(request: HostRequest, extra: object): unknown {
    const { admit } = this.#surface;
    return admit === undefined ? this.#toHost(request, extra) : this.#admitted(admit, request, extra);
  }

  async #admitted(admit: NonNullable<HostSurface["admit"]>, request: HostRequest, extra: object): Promise<unknown> {
    const { name, arguments: args = {} } = request.params ?? {};
    if (typeof name !== "string" || !isObject(args)) return this.#toHost(request, extra);
    const context = this.#host.contextOf(extra);
    const listed = (await this.#host.listOwn(context)).find((tool) => tool.name === name);
    const tool: Tool = listed ?? { name, inputSchema: { type: "object" } };
    const admission = await admit({ tool, args, isListed: listed !== undefined && this.#isListed(listed), context });
    if ("refused" in admission) return admission.refused;
    return this.#toHost({ ...request, params: { ...request.params, arguments: admission.args } }, extra);
  }

  #toHost(request: HostRequest, extra: object): unknown {
    const handler = this.#host.table.own("tools/call");
    if (handler !== undefined) return handler(request, extra);
    throw protocolError(INVALID_PARAMS, `Tool ${String(request.params?.["name"])} not found`);
  }

  async #report(context: CallContext, visible: readonly Tool[]): Promise<void> {
    const own = await this.#host.listOwn(context);
    reportStart({ server: this.#host.name, own, visible, leftAsIs: this.#surface.leavesAsIs?.(own) === true });
  }

  async #warnOfShadowed(context: CallContext): Promise<void> {
    for (const { name } of await this.#host.listOwn(context)) {
      if (this.#surface.metaTools.has(name)) warnOnce(this.#host.name, name, this.#surface.namingOptions.get(name));
    }
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Per process, not per server: with one server instance per request the same warning would come with each of them. */
const warned = new Set<string>();

function warnOnce(server: string, tool: string, option: string | undefined): void {
  const key = JSON.stringify([server, tool]);
  if (warned.has(key)) return;
  warned.add(key);
  const remedy = option === undefined ? "rename the meta-tool" : `set ${option} to another name`;
  process.emitWarning(
    `The tool "${tool}" of server "${server}" has the name of a meta-tool: clients see the meta-tool, scripts still reach ` +
      `the tool. To let clients see both, ${remedy}.`,
    { type: "McpCodemodeWarning", code: "MCP_CODEMODE_SHADOWED_TOOL" },
  );
}
