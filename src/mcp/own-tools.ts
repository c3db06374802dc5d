import type { CallContext, Tool } from "../catalog/tool.js";
import { LimitError, ToolCallError } from "../errors.js";
import type { Handler, HighLevelServer, HostServer } from "./host-server.js";
import type { HandlerTable } from "./handler-table.js";
import { withRootSchemas } from "./root-schema.js";
import { SdkListHandler } from "./sdk-list-handler.js";

/** A server that still gives cursors after this many pages does not stop by itself. */
const MAX_PAGES = 1_000;

/** The tools of a host server, as its own `tools/list` handler gives them. */
export class OwnTools {
  readonly #table: HandlerTable;
  readonly #sdkHandler: SdkListHandler | undefined;
  readonly #onListed: ((tools: readonly Tool[]) => void) | undefined;
  readonly #high: HighLevelServer | undefined;
  #kept: Promise<Tool[]> | undefined;
  #revision = 0;

  constructor(server: HostServer, table: HandlerTable, onListed?: (tools: readonly Tool[]) => void) {
    this.#table = table;
    this.#onListed = onListed;
    this.#high = server.high;
    if (server.high !== undefined) this.#sdkHandler = new SdkListHandler(server.high);
  }

  /** True when every caller gets the same tools until the next change, so that no request is needed to list them. */
  get isSameForAll(): boolean {
    const handler = this.#table.own("tools/list");
    return handler === undefined || this.#sdkHandler?.isProven(handler) === true;
  }

  /** All pages, for the caller whose request `extra` is. The same array again while nothing has changed, where that is certain. */
  list(extra: object, context: CallContext): Promise<Tool[]> {
    const handler = this.#table.own("tools/list");
    if (handler === undefined) return Promise.resolve([]);
    if (this.#kept !== undefined && this.#sdkHandler?.isProven(handler) === true) return this.#kept;
    const revision = this.#revision;
    const listing = this.#allPages(handler, extra, context);
    if (this.#sdkHandler?.isProven(handler) === true && revision === this.#revision) this.#keep(listing);
    return listing;
  }

  /** The tools may have changed. */
  forget(): void {
    this.#revision++;
    this.#kept = undefined;
  }

  #keep(listing: Promise<Tool[]>): void {
    this.#kept = listing;
    listing.catch(() => {
      if (this.#kept === listing) this.#kept = undefined;
    });
  }

  async #allPages(handler: Handler, extra: object, context: CallContext): Promise<Tool[]> {
    let { tools, nextCursor } = await this.#page(handler, extra, undefined);
    const seen = new Set<string>();
    // A cursor that comes back would go round for ever: the pages so far are all there is.
    while (nextCursor !== undefined && !seen.has(nextCursor)) {
      if (seen.size >= MAX_PAGES) throw new LimitError(`tools/list did not end after ${MAX_PAGES} pages`);
      if (context.signal.aborted) throw context.signal.reason;
      seen.add(nextCursor);
      const page = await this.#page(handler, extra, nextCursor);
      tools = tools.concat(page.tools);
      nextCursor = page.nextCursor;
    }
    this.#onListed?.(tools);
    return withRootSchemas(tools, this.#high);
  }

  async #page(handler: Handler, extra: object, cursor: string | undefined): Promise<Page> {
    const request = { method: "tools/list", params: cursor === undefined ? {} : { cursor } };
    const answer = this.#sdkHandler?.call(handler, request, extra) ?? handler(request, extra);
    const page = (await answer) as Partial<Page> | undefined;
    if (!Array.isArray(page?.tools)) {
      throw new ToolCallError("The server's own tools/list handler answered without a list of tools");
    }
    return { tools: page.tools, nextCursor: typeof page.nextCursor === "string" ? page.nextCursor : undefined };
  }
}

interface Page {
  readonly tools: Tool[];
  readonly nextCursor: string | undefined;
}
