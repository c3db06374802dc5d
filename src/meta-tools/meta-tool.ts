import type { CallRecord } from "../calls/call-record.js";
import type { Awaitable, CallContext, CallToolResult, ContentBlock, Tool } from "../catalog/tool.js";
import type { LimitValues } from "../calls/limits.js";
import type { SandboxLimits } from "../sandbox/limits.js";
import type { FinishedResult, SandboxProvider } from "../sandbox/provider.js";
import type { Detail, SearchResultSerializer } from "../search/serializers/serializer.js";
import type { SearchStrategy } from "../search/strategy.js";
import type { Telemetry } from "../telemetry/telemetry.js";

export type { CallRecord } from "../calls/call-record.js";

/** What the model sees instead of the tools. */
export interface MetaTool {
  readonly tool: Tool;
  /**
   * The tool as this caller's `tools/list` shows it, where that depends on the catalog (its description names tools).
   * The same for the same catalog. Never rejects. Absent: `tool`.
   */
  listed?(context: CallContext): Promise<Tool>;
  /**
   * Never rejects for what the model sent: that is a result with `isError`. Rejects only with a protocol error that the
   * client itself has to act on (a URL to open).
   */
  call(args: Record<string, unknown>, context: CallContext): Promise<CallToolResult>;
}

/** Makes a meta-tool over an engine. Called once per engine. */
export type MetaToolFactory = (engine: CodeMode) => MetaTool;

/** What became of a script. */
export type ExecuteOutcome = FinishedResult & {
  calls: readonly CallRecord[];
  /** Lines of console.log, info and debug. */
  stdout: string;
  /** Lines of console.warn and error. */
  stderr: string;
  /** What was repaired, ignored or cut: sentences for the model. */
  notes: readonly string[];
  /** Images, audio and resources that the value holds, in order. In the value itself each is `{ type, mimeType }`. */
  content: readonly ContentBlock[];
  /** True when the value is nothing but content: one block, or a list of blocks. `content` then holds its text blocks too. */
  contentOnly: boolean;
  /** A line of code for the next try, when the error tells what it should be. */
  next?: string | undefined;
  /** True when the value was made smaller to fit `limits.maxResultBytes`. */
  truncated: boolean;
  /** A protocol error of a tool that the client itself has to act on (a URL to open), as the source threw it. */
  protocolError?: unknown;
  durationMs: number;
};

/** Makes the reply of an execute. A string becomes its only text. */
export type ExecuteResultSerializer = (outcome: ExecuteOutcome) => Awaitable<string | CallToolResult>;

/** Arguments of a search. */
export interface SearchArguments {
  query?: string | readonly string[];
  limit?: number | null;
  detail?: Detail;
  server?: string;
  tags?: readonly string[];
  /** From the page before. */
  cursor?: string;
}

/** Arguments of an execute. */
export interface ExecuteArguments {
  code: string;
  inputs?: Record<string, unknown>;
}

/** The options of an engine, as far as meta-tools need them. */
export interface MetaToolSettings {
  readonly searchToolName: string;
  readonly executeToolName: string;
  /** Absent: the built-in description. */
  readonly executeDescription: string | undefined;
  readonly searchStrategy: SearchStrategy;
  readonly searchResultSerializer: SearchResultSerializer;
  readonly executeResultSerializer: ExecuteResultSerializer;
  readonly structuredOutput: "none" | "value";
  readonly limits: Readonly<LimitValues>;
  /** Extra search words by tool name. */
  readonly aliases: ReadonlyMap<string, readonly string[]>;
  /** Where events and spans go. */
  readonly telemetry: Telemetry;
  /** True for a tool that stays listed: search does not show it. */
  isDirect(tool: Tool): boolean;
  /** How much of the catalog descriptions name. */
  readonly catalogInDescription: CatalogInDescription;
  /** Puts result types on tools that were learned for this caller. Absent: none are learned. */
  readonly learnedTypes: { decorate(tool: Tool, context: Partial<CallContext>): Tool } | undefined;
  /** Where code of searches runs, and the limits given for it. */
  readonly sandbox: SandboxProvider;
  readonly sandboxLimits: SandboxLimits;
}

/** The option `catalogInDescription`; "unset" for its default, which gives way to a description of the host's own. */
export type CatalogInDescription = false | "unset" | "auto" | "names" | "summaries" | { tokens: number };

/** Code mode without an MCP server: the engine behind {@link codeMode}. */
export interface CodeMode {
  readonly settings: MetaToolSettings;
  readonly metaTools: readonly MetaTool[];
  /** The tools that this caller may use now. */
  listTools(context?: Partial<CallContext>): Promise<readonly Tool[]>;
  /** What is not there now although it belongs to the catalog, such as the tools of a server that is down: a sentence each. */
  absences(): readonly string[];
  search(args: SearchArguments, context?: Partial<CallContext>): Promise<CallToolResult>;
  execute(args: ExecuteArguments, context?: Partial<CallContext>): Promise<ExecuteOutcome>;
  /** Ends what this engine started: its sources' listeners and its own sandbox (not the shared one). */
  close(): Promise<void>;
}
