import type { CallRecord } from "../calls/call-record.js";
import type { Awaitable, CallContext, CallToolResult, ContentBlock, Tool } from "../catalog/tool.js";
import type { LimitValues } from "../calls/limits.js";
import type { SandboxLimits } from "../sandbox/limits.js";
import type { FinishedResult, LogEntry, RunStats, SandboxProvider } from "../sandbox/provider.js";
import type { Detail, SearchResultSerializer } from "../search/serializers/serializer.js";
import type { Runs } from "../session/paused-runs.js";
import type { SearchStrategy } from "../search/strategy.js";
import type { Telemetry } from "../telemetry/telemetry.js";

export type { CallRecord } from "../calls/call-record.js";

/** What the model sees instead of the tools. */
export interface MetaTool {
  readonly tool: Tool;
  /** "resume": goes on with paused scripts. "schema": shows schemas. Replies name these tools where they help. */
  readonly role?: "resume" | "schema";
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

/** A call that waits until a person has decided about it. */
export interface PendingQuestion {
  /** Names the call within its run. */
  callId: number;
  tool: string;
  server?: string | undefined;
  /** As the tool will get them, without hidden ones. */
  arguments: Readonly<Record<string, unknown>>;
  reason?: string | undefined;
}

/** A script that was paused: it goes on by `resume`. */
export interface SuspendedRun {
  status: "suspended";
  /** Names the run. */
  run: string;
  /** Milliseconds since 1970; from then on it cannot go on any more. */
  expiresAt: number;
  /** What a person has to decide. */
  pending: readonly PendingQuestion[];
  /** Tools that had not answered when the client's time was over; they go on. */
  stillRunning: readonly string[];
  /** The meta-tool that goes on with it; absent: only the host can, by {@link CodeMode.resume}. */
  resumeTool?: string | undefined;
  logs?: LogEntry[];
  notes?: readonly string[];
  stats?: RunStats;
}

/** What became of a script. */
export type ExecuteOutcome = (FinishedResult | SuspendedRun) & {
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
  /** Begin the session anew: what earlier scripts left in variables is gone. */
  restart?: boolean;
}

/** Arguments of a resume: nothing that could decide anything. */
export interface ResumeArguments {
  /** From the reply that paused the script. */
  run: string;
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
  /** True where scripts leave their variables for the next one. */
  readonly session: boolean;
  /** With `requireSchema`: lets scripts of the caller's session call these tools. */
  readonly hydrate: ((names: readonly string[], context: CallContext) => Promise<void>) | undefined;
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
export interface CodeMode extends Runs {
  readonly settings: MetaToolSettings;
  readonly metaTools: readonly MetaTool[];
  /** The tools that this caller may use now. */
  listTools(context?: Partial<CallContext>): Promise<readonly Tool[]>;
  /** What is not there now although it belongs to the catalog, such as the tools of a server that is down: a sentence each. */
  absences(): readonly string[];
  search(args: SearchArguments, context?: Partial<CallContext>): Promise<CallToolResult>;
  execute(args: ExecuteArguments, context?: Partial<CallContext>): Promise<ExecuteOutcome>;
  /**
   * Goes on with a paused script whose questions were answered, by {@link Runs.decide} or by the caller's own client. Exactly
   * once: whoever asks again gets the recorded outcome. For another caller there is no such run.
   */
  resume(args: ResumeArguments, context?: Partial<CallContext>): Promise<ExecuteOutcome>;
  /** Ends what this engine started: its sources' listeners and its own sandbox (not the shared one). */
  close(): Promise<void>;
}
