import { ConfigurationError, messageOf } from "../errors.js";
import { identifiersFor } from "./identifiers.js";
import { withObjectSchema } from "./input-schema.js";
import { isAppOnly, ownNameOf, serverOf, type CallContext, type Tool, type ToolSource } from "./tool.js";

/** One tool of the catalog and where it is called. */
export interface CatalogEntry {
  /** As its source lists it, with the server's mark. */
  tool: Tool;
  /** As a model sees it: without hidden parameters. */
  shown: Tool;
  source: ToolSource;
}

/** The tools of one caller at one moment. */
export interface Snapshot {
  readonly entries: ReadonlyMap<string, CatalogEntry>;
}

/** What a {@link Catalog} is made of. */
export interface CatalogOptions {
  /** The tools of the server itself. */
  source: ToolSource;
  /** Further ones. */
  sources?: readonly ToolSource[] | undefined;
  /** Reachable tools; absent: all. */
  include?: ((tool: Tool) => boolean) | undefined;
  /** Makes what a model sees of a tool. */
  show?: ((tool: Tool) => Tool) | undefined;
}

/** The tools of several sources as one list, as each caller sees them. */
export class Catalog {
  private readonly sources: readonly ToolSource[];
  private readonly entriesByTool = new WeakMap<Tool, CatalogEntry>();
  private readonly warned = new Set<string>();
  private readonly listeners = new Set<() => void>();
  private readonly unsubscribe: (() => void)[] = [];
  private listedOnce = false;
  private last: { lists: readonly (readonly Tool[])[]; snapshot: Snapshot } | undefined;
  /** Counts the changes that sources told of: a snapshot of an older one is stale. */
  revision = 0;

  constructor(private readonly options: CatalogOptions) {
    this.sources = [options.source, ...(options.sources ?? [])];
    for (const source of this.sources) {
      const stop = source.onToolsChanged?.(() => this.changed());
      if (stop !== undefined) this.unsubscribe.push(stop);
    }
  }

  /**
   * Lists all sources for this caller. Gives the same snapshot again while every source lists the very same tools.
   *
   * @throws {ConfigurationError} when two sources have a tool of one name and this is the first list ever. Later on the
   * second one is left out, with one warning.
   * @throws what the server's own source rejected with. A further source that fails is left out, with one warning.
   */
  async list(context: CallContext): Promise<Snapshot> {
    const settled = await Promise.allSettled(this.sources.map(async (source) => source.listTools(context)));
    const [own] = settled;
    if (own?.status === "rejected") throw own.reason;
    const lists = settled.map((list, index) =>
      list.status === "fulfilled" ? list.value : this.unlisted(index, list.reason),
    );
    if (this.last !== undefined && this.options.include === undefined && sameLists(this.last.lists, lists)) {
      return this.last.snapshot;
    }
    const entries = new Map<string, CatalogEntry>();
    for (const [index, source] of this.sources.entries()) this.merge(entries, source, lists[index] ?? []);
    this.listedOnce = true;
    const snapshot = { entries };
    // Copies: a source may change the array it gave.
    this.last = { lists: lists.map((list) => [...list]), snapshot };
    return snapshot;
  }

  /** What one run or one search sees: listed when it is first needed. */
  view(context: CallContext): CatalogView {
    return new CatalogView(this, context);
  }

  /** What the sources say is missing now, or of one name why it is not there: a sentence each. */
  absences(name?: string): readonly string[] {
    return this.sources.flatMap((source) => source.absences?.(name) ?? []);
  }

  /** Calls `listener` after the tools of a source may have changed. Returns a function that stops that. */
  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Stops listening to the sources. They are the host's to close. */
  close(): void {
    for (const stop of this.unsubscribe.splice(0)) stop();
    this.listeners.clear();
  }

  private changed(): void {
    this.revision++;
    for (const listener of this.listeners) listener();
  }

  private merge(entries: Map<string, CatalogEntry>, source: ToolSource, tools: readonly Tool[]): void {
    for (const tool of tools) {
      if (isAppOnly(tool)) continue;
      const entry = this.entryOf(source, tool);
      if (this.options.include && !this.options.include(entry.tool)) continue;
      const other = entries.get(tool.name);
      if (other === undefined) entries.set(tool.name, entry);
      else if (other.source !== source) this.duplicate(tool.name, other.source, source);
    }
  }

  /** Made once per listed tool: indexes and plans are kept by the identity of tools. */
  private entryOf(source: ToolSource, listed: Tool): CatalogEntry {
    const known = this.entriesByTool.get(listed);
    if (known !== undefined && known.source === source) return known;
    const { tool: described, problem } = withObjectSchema(listed);
    if (problem !== undefined) this.warnOnce(`schema ${listed.name}`, problem);
    const tool = withServer(described, source.name);
    const entry = { tool, shown: this.options.show?.(tool) ?? tool, source };
    this.entriesByTool.set(listed, entry);
    return entry;
  }

  private duplicate(name: string, first: ToolSource, second: ToolSource): void {
    const where = `${labelOf(first)} and ${labelOf(second)}`;
    if (!this.listedOnce) {
      throw new ConfigurationError(
        `Tool "${name}" is in two sources: ${where}. Leave one out with \`include\`, or rename it in its source.`,
        { details: { tool: name, sources: [first.name, second.name] } },
      );
    }
    this.warnOnce(name, `Tool "${name}" is in two sources: ${where}. The one of ${labelOf(second)} is left out.`);
  }

  private unlisted(index: number, reason: unknown): readonly Tool[] {
    const source = labelOf(this.sources[index] ?? {});
    this.warnOnce(
      `source ${index}`,
      `The tools of ${source} could not be listed and are left out: ${messageOf(reason)}`,
    );
    return [];
  }

  private warnOnce(subject: string, message: string): void {
    if (this.warned.has(subject)) return;
    this.warned.add(subject);
    process.emitWarning(message, { type: "McpCodemodeWarning" });
  }
}

/** One caller's catalog over the time of one run: listed lazily, listed again when a source says that it changed. */
export class CatalogView {
  private listed: Promise<Snapshot> | undefined;
  /** The list that has no answer yet: many unknown names at once ask for one. */
  private underway: Promise<Snapshot> | undefined;
  private revision = -1;

  constructor(
    private readonly catalog: Catalog,
    private readonly context: CallContext,
  ) {}

  /** The tools now. */
  snapshot(): Promise<Snapshot> {
    return this.isCurrent() ? (this.listed as Promise<Snapshot>) : this.list();
  }

  /**
   * The tool of this name; else of this identifier; else of this `server.tool` path. A name that is not there is looked
   * up in a new list before undefined is said, since not every source tells of changes.
   */
  async find(name: string): Promise<CatalogEntry | undefined> {
    const isNew = !this.isCurrent();
    const found = this.lookUp(await this.snapshot(), name);
    if (found !== undefined || isNew) return found;
    return this.lookUp(await (this.underway ?? this.list()), name);
  }

  /** As {@link Catalog.absences}. */
  absences(name?: string): readonly string[] {
    return this.catalog.absences(name);
  }

  private isCurrent(): boolean {
    return this.listed !== undefined && this.revision === this.catalog.revision;
  }

  private list(): Promise<Snapshot> {
    this.revision = this.catalog.revision;
    const listed = this.catalog.list(this.context);
    this.listed = listed;
    this.underway = listed;
    const settled = (failed: boolean): void => {
      if (this.underway === listed) this.underway = undefined;
      if (failed && this.listed === listed) this.listed = undefined;
    };
    listed.then(
      () => settled(false),
      () => settled(true),
    );
    return listed;
  }

  private lookUp(snapshot: Snapshot, name: string): CatalogEntry | undefined {
    const exact = snapshot.entries.get(name);
    if (exact !== undefined) return exact;
    const meant = pathsOf(snapshot).get(name);
    return meant === undefined ? undefined : snapshot.entries.get(meant);
  }
}

const pathsBySnapshot = new WeakMap<Snapshot, ReadonlyMap<string, string>>();

/** Every way a script may write a tool besides its name, with the name it means. */
function pathsOf(snapshot: Snapshot): ReadonlyMap<string, string> {
  const known = pathsBySnapshot.get(snapshot);
  if (known !== undefined) return known;
  const paths = collectPaths(snapshot);
  pathsBySnapshot.set(snapshot, paths);
  return paths;
}

/** An earlier way wins over a later one. */
function collectPaths({ entries }: Snapshot): Map<string, string> {
  const paths = new Map<string, string>();
  const add = (path: string, name: string): void => void (paths.has(path) || paths.set(path, name));
  const names = [...entries.keys()];
  const identifiers = identifiersFor(names);
  for (const [name, identifier] of identifiers) add(identifier, name);
  for (const [server, own] of namesByServer(entries)) {
    const serverIdentifier = identifiersFor([server]).get(server) ?? server;
    for (const [ownName, identifier] of identifiersFor(own.keys())) {
      const name = own.get(ownName) ?? ownName;
      for (const prefix of new Set([server, serverIdentifier])) {
        add(`${prefix}.${ownName}`, name);
        add(`${prefix}.${identifier}`, name);
      }
      // A gateway spells names so that every client takes them; the server's own spelling works too.
      add(`${server}__${ownName}`, name);
    }
  }
  return paths;
}

function sameLists(left: readonly (readonly Tool[])[], right: readonly (readonly Tool[])[]): boolean {
  return left.every((list, index) => {
    const other = right[index];
    return other !== undefined && other.length === list.length && list.every((tool, at) => tool === other[at]);
  });
}

/** Server -> the name of each tool within it -> its name here. */
function namesByServer(entries: Snapshot["entries"]): Map<string, Map<string, string>> {
  const byServer = new Map<string, Map<string, string>>();
  for (const [name, { tool }] of entries) {
    const server = serverOf(tool);
    if (server === undefined) continue;
    const own = byServer.get(server) ?? new Map<string, string>();
    byServer.set(server, own);
    own.set(ownNameOf(tool), name);
  }
  return byServer;
}

function withServer(tool: Tool, server: string | undefined): Tool {
  if (server === undefined || serverOf(tool) !== undefined) return tool;
  return { ...tool, _meta: { ...tool._meta, "mcp-codemode/server": server } };
}

const labelOf = (source: Pick<ToolSource, "name">): string =>
  source.name === undefined ? "the server itself" : `"${source.name}"`;
