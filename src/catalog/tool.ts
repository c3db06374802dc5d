/** A value, or a promise of it. */
export type Awaitable<T> = T | Promise<T>;

type Meta = { [key: string]: unknown } | undefined;

/** A tool as `tools/list` gives it. */
export interface Tool {
  name: string;
  title?: string | undefined;
  description?: string | undefined;
  inputSchema: { type: "object"; [key: string]: unknown };
  outputSchema?: { [key: string]: unknown } | undefined;
  annotations?: { [key: string]: unknown } | undefined;
  _meta?: Meta;
  [key: string]: unknown;
}

/** One block of the content of a result. */
export type ContentBlock =
  | { type: "text"; text: string; _meta?: Meta }
  | { type: "image" | "audio"; data: string; mimeType: string; _meta?: Meta }
  | { type: "resource_link"; uri: string; name: string; _meta?: Meta }
  | {
      type: "resource";
      resource:
        | { uri: string; text: string; mimeType?: string | undefined }
        | { uri: string; blob: string; mimeType?: string | undefined };
      _meta?: Meta;
    };

/** A result as this package produces it. */
export interface CallToolResult {
  content: ContentBlock[];
  structuredContent?: { [key: string]: unknown } | undefined;
  isError?: boolean | undefined;
  _meta?: Meta;
  [key: string]: unknown;
}

/** A result as this package accepts it from a source: of either SDK generation. */
export interface ToolResult {
  content?: unknown;
  structuredContent?: unknown;
  isError?: boolean | undefined;
  _meta?: Meta;
  [key: string]: unknown;
}

/** Progress of one call, as in `notifications/progress`. */
export interface Progress {
  progress: number;
  total?: number | undefined;
  message?: string | undefined;
}

/** A question to the person behind a client: a text and a form, as in `elicitation/create`. */
export interface ElicitQuestion {
  message: string;
  requestedSchema: { type: "object"; properties: Record<string, object>; required?: string[] };
}

/** What the person said. `content` is what was filled in, as the client sent it. */
export interface ElicitAnswer {
  action: "accept" | "decline" | "cancel";
  content?: Readonly<Record<string, unknown>> | undefined;
}

/** Who asks, and how long they wait. One per request; nested calls derive theirs with {@link deriveContext}. */
export interface CallContext {
  /** Aborts when the caller gives up, the run ends or the call takes too long. */
  signal: AbortSignal;
  /** The identity of the caller, never a session id alone. */
  callerId?: string | undefined;
  sessionId?: string | undefined;
  authInfo?: unknown;
  /** Names a connection that serves one client until it closes, such as stdio: unique in all processes. */
  connection?: string | undefined;
  /** Gets the progress of this call. Absent: nobody listens. */
  onProgress?: ((progress: Progress) => void) | undefined;
  /**
   * Asks the person behind the client, for at most `timeoutMs` or until `signal` fires; rejects when there is no answer.
   * Absent: the client cannot ask anybody.
   */
  elicit?:
    | ((question: ElicitQuestion, wait: { signal: AbortSignal; timeoutMs: number }) => Promise<ElicitAnswer>)
    | undefined;
}

/** Where tools come from and are called: an MCP server, a client of one, an OpenAPI document, plain functions. */
export interface ToolSource {
  /** The server name of its tools. */
  readonly name?: string;
  /**
   * True when `callTool` itself refuses arguments that do not fit a tool's inputSchema, as an MCP server's own handlers
   * do; a function says it by tool name. Otherwise they are checked before the call.
   *
   * @default false
   */
  readonly validatesArguments?: boolean | ((name: string) => boolean);
  /** The tools that this caller may use now. */
  listTools(context: CallContext): Promise<Tool[]>;
  /** Calls one. A tool's own failure is a result with `isError`; a rejection means that the call did not reach the tool. */
  callTool(name: string, args: Record<string, unknown>, context: CallContext): Promise<ToolResult>;
  /** Calls `listener` after the list may have changed. Returns a function that stops that. */
  onToolsChanged?(listener: () => void): () => void;
  /**
   * What is not listed now although it belongs here, such as the tools of a server that is down: a sentence each, for
   * models. With a name: about the tool of that name alone.
   */
  absences?(name?: string): readonly string[];
  close?(): Promise<void>;
}

/**
 * A context for one nested call: everything of `parent` that `own` does not replace. What an adapter has put on the
 * parent under symbols is inherited too (it is the prototype), which is how a host's request reaches nested calls.
 */
export function deriveContext(parent: CallContext, own: Partial<CallContext>): CallContext {
  return Object.assign(Object.create(parent) as CallContext, own);
}

/** The server (source or upstream) a tool belongs to, if known. */
export function serverOf(tool: Tool): string | undefined {
  const server = tool._meta?.["mcp-codemode/server"];
  return typeof server === "string" ? server : undefined;
}

/** The name of a tool within its server: without what a gateway puts before it. */
export function ownNameOf(tool: Tool): string {
  const name = tool._meta?.["mcp-codemode/name"];
  return typeof name === "string" ? name : tool.name;
}

/** True for a tool whose own words must not stand in instructions to a model: that of a server nobody vouched for. */
export function isUntrusted(tool: Tool): boolean {
  return tool._meta?.["mcp-codemode/untrusted"] === true;
}

/** A tool's tags: `_meta["mcp-codemode/tags"]`, else `_meta.fastmcp.tags`, else `_meta.tags`. */
export function tagsOf(tool: Tool): readonly string[] {
  const meta = tool._meta;
  const fastmcp = meta?.["fastmcp"] as { tags?: unknown } | undefined;
  for (const tags of [meta?.["mcp-codemode/tags"], fastmcp?.tags, meta?.["tags"]]) {
    if (Array.isArray(tags)) return tags.filter((tag): tag is string => typeof tag === "string");
  }
  return [];
}

/** True for a tool that must run alone: no other call of the same run at the same time. */
export function isSequential(tool: Tool): boolean {
  return tool._meta?.["mcp-codemode/sequential"] === true;
}

/** True for a tool that only an app's user interface may see (MCP Apps, `_meta.ui.visibility` without "model"). */
export function isAppOnly(tool: Tool): boolean {
  const ui = tool._meta?.["ui"] as { visibility?: unknown } | undefined;
  return Array.isArray(ui?.visibility) && !ui.visibility.includes("model");
}
