import type { CallContext, Tool, ToolResult, ToolSource } from "../catalog/tool.js";
import { ToolCallError } from "../errors.js";
import { beginningOf, ToolNames } from "./tool-names.js";
import type { Upstream } from "./upstream/upstream.js";

/** An upstream whose configuration could not be read. */
export interface BrokenUpstream {
  id: string;
  error: string;
}

/** Marks of this package that an upstream may set on its own tools; all others are the gateway's to say. */
const UPSTREAM_MARKS: ReadonlySet<string> = new Set(["mcp-codemode/tags", "mcp-codemode/sequential"]);

/** The tools of all upstreams as one source, under names of the gateway. */
export class GatewaySource implements ToolSource {
  readonly #names = new ToolNames();
  readonly #upstreams: ReadonlyMap<string, Upstream>;
  readonly #broken: readonly BrokenUpstream[];
  readonly #settled: Promise<unknown>;
  readonly #listeners = new Set<() => void>();
  /** An upstream's tool -> the same under the gateway's name: one object, since search keeps what it knows by it. */
  readonly #exposed = new WeakMap<Tool, Tool>();
  #tools: Tool[] | undefined;

  /** @param settled Resolves when every upstream has been tried, or has had long enough. */
  constructor(upstreams: ReadonlyMap<string, Upstream>, broken: readonly BrokenUpstream[], settled: Promise<unknown>) {
    this.#upstreams = upstreams;
    this.#broken = broken;
    this.#settled = settled;
  }

  /** Never fails: an upstream that is down has no tools. The same array while nothing has changed. */
  async listTools(): Promise<Tool[]> {
    await this.#settled;
    return this.current;
  }

  /** The tools now, without waiting for upstreams that still start. */
  get current(): Tool[] {
    this.#tools ??= [...this.#upstreams.values()].flatMap((upstream) =>
      upstream.tools.map((tool) => this.#expose(upstream, tool)),
    );
    return this.#tools;
  }

  /** Which upstream a tool belongs to. */
  upstreamOf(name: string): Upstream | undefined {
    const own = this.#names.toolOf(name);
    return own && this.#upstreams.get(own.upstream);
  }

  async callTool(name: string, args: Record<string, unknown>, context: CallContext): Promise<ToolResult> {
    const own = this.#names.toolOf(name);
    const upstream = own && this.#upstreams.get(own.upstream);
    if (own === undefined || upstream === undefined) {
      throw new ToolCallError(`Unknown tool: ${name}.`, { details: { tool: name } });
    }
    return upstream.call(own.tool, name, args, context);
  }

  onToolsChanged(listener: () => void): () => void {
    const entry = (): void => listener();
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  absences(name?: string): readonly string[] {
    const down = [...this.#upstreams.values()].filter(({ state }) => state !== "ready");
    const all = [
      ...down.map((upstream) => ({
        id: upstream.id,
        prefix: upstream.config.prefix,
        text: `Server "${upstream.id}" is not available: ${upstream.why}. Its tools are absent.`,
      })),
      ...this.#broken.map(({ id, error }) => ({
        id,
        prefix: id,
        text: `Server "${id}" is not available, its configuration cannot be used: ${error}`,
      })),
    ];
    return all.filter((absence) => name === undefined || this.#belongs(name, absence)).map(({ text }) => text);
  }

  /** By the table when the tool has been listed before; else by how its name begins, which is good enough for a hint. */
  #belongs(name: string, { id, prefix }: { id: string; prefix: string }): boolean {
    const known = this.#names.toolOf(name);
    if (known !== undefined) return known.upstream === id;
    return (
      (prefix !== "" && name.startsWith(beginningOf(prefix))) || name.startsWith(`${id}.`) || name.startsWith(`${id}__`)
    );
  }

  /** The tools of an upstream are others now. */
  changed(): void {
    const before = this.#tools;
    this.#tools = undefined;
    if (before !== undefined && isSame(before, this.current)) {
      this.#tools = before;
      return;
    }
    for (const listener of this.#listeners) listener();
  }

  #expose({ id, config }: Upstream, tool: Tool): Tool {
    const known = this.#exposed.get(tool);
    if (known !== undefined) return known;
    const own = Object.entries(tool._meta ?? {}).filter(
      ([key]) => !key.startsWith("mcp-codemode/") || UPSTREAM_MARKS.has(key),
    );
    const exposed: Tool = {
      ...tool,
      name: this.#names.nameFor(config.prefix, { upstream: id, tool: tool.name }),
      _meta: {
        ...Object.fromEntries(own),
        "mcp-codemode/server": id,
        "mcp-codemode/name": tool.name,
        ...(config.trust ? {} : { "mcp-codemode/untrusted": true }),
      },
    };
    this.#exposed.set(tool, exposed);
    return exposed;
  }
}

const isSame = (left: readonly Tool[], right: readonly Tool[]): boolean =>
  left.length === right.length && left.every((tool, index) => tool === right[index]);

/** @returns a promise that resolves with the other one, or after `ms`. */
export async function atMost(promise: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise, late]);
  clearTimeout(timer);
}
