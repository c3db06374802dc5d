import type { CallRecord } from "../calls/call-record.js";
import type { CallContext, CallToolResult, ContentBlock, Tool } from "../catalog/tool.js";
import type { SandboxResult } from "../sandbox/provider.js";
import type { Detail } from "../search/serializers/serializer.js";

export type { CallRecord } from "../calls/call-record.js";

/** What the model sees instead of the tools. */
export interface MetaTool {
  readonly tool: Tool;
  /** Never rejects for what the model sent: that is a result with `isError`. */
  call(args: Record<string, unknown>, context: CallContext): Promise<CallToolResult>;
}

/** Makes a meta-tool over an engine. Called once per engine. */
export type MetaToolFactory = (engine: CodeMode) => MetaTool;

/** What became of a script. */
export type ExecuteOutcome = SandboxResult & {
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
  durationMs: number;
};

/** Arguments of a search. */
export interface SearchArguments {
  query?: string | readonly string[];
  limit?: number | null;
  detail?: Detail;
  server?: string;
  tags?: readonly string[];
}

/** Arguments of an execute. */
export interface ExecuteArguments {
  code: string;
  inputs?: Record<string, unknown>;
}

/** Code mode without an MCP server: the engine behind {@link codeMode}. */
export interface CodeMode {
  readonly metaTools: readonly MetaTool[];
  /** The tools that this caller may use now. */
  listTools(context?: Partial<CallContext>): Promise<readonly Tool[]>;
  search(args: SearchArguments, context?: Partial<CallContext>): Promise<CallToolResult>;
  execute(args: ExecuteArguments, context?: Partial<CallContext>): Promise<ExecuteOutcome>;
  /** Ends what this engine started: its sources' listeners and its own sandbox (not the shared one). */
  close(): Promise<void>;
}
