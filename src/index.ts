/**
 * Code mode for any MCP server: its tools hide behind `search` and `execute`, and the model writes one script.
 *
 * ```ts
 * import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
 * import { codeMode, withTransforms } from "mcp-codemode";
 * import { z } from "zod";
 *
 * const server = withTransforms(new McpServer({ name: "demo", version: "1.0.0" }));
 * server.registerTool("add", { inputSchema: { a: z.number(), b: z.number() } }, async ({ a, b }) => ({
 *   content: [{ type: "text", text: String(a + b) }],
 * }));
 * server.use(codeMode());
 * ```
 *
 * @module
 */

// The one line: code mode in front of a server.
export { codeMode, withTransforms, type AppliedTransform, type Transform, type TransformHost } from "./code-mode.js";
export type { CodeModeOptions } from "./options.js";
export type { SessionOptions } from "./options/session.js";

// The same engine without an MCP server.
export { createCodeMode } from "./create-code-mode.js";
export type {
  CallRecord,
  CodeMode,
  ExecuteArguments,
  ExecuteOutcome,
  ExecuteResultSerializer,
  MetaTool,
  MetaToolFactory,
  SearchArguments,
} from "./meta-tools/meta-tool.js";

// Where tools come from.
export type {
  Awaitable,
  CallContext,
  CallToolResult,
  ContentBlock,
  Progress,
  Tool,
  ToolResult,
  ToolSource,
} from "./catalog/tool.js";
export { functionSource, type FunctionSourceOptions, type FunctionTool } from "./catalog/functions.js";
export { clientSource, type ClientSourceOptions } from "./mcp/client-source.js";

// The tools that the model sees.
export { executeTool, type ExecuteToolOptions } from "./meta-tools/execute.js";
export { listTool, type ListToolOptions } from "./meta-tools/list.js";
export { schemaTool, type SchemaToolOptions } from "./meta-tools/schema.js";
export { resumeTool, type ResumeToolOptions } from "./meta-tools/resume.js";
export { searchTool, type SearchToolOptions } from "./meta-tools/search.js";
export { tagsTool, type TagsToolOptions } from "./meta-tools/tags.js";

// Ready options, and what they cost.
export { measure, type MeasureOptions, type Measurement, type PageForm } from "./measure.js";
export { presets } from "./presets.js";

// How tools are found and printed.
export { bm25, type Bm25Options } from "./search/bm25.js";
export { regex } from "./search/regex.js";
export type { SearchFunction, SearchHit, SearchRequest, SearchStrategy } from "./search/strategy.js";
export { gradedSerializer, type GradedOptions } from "./search/serializers/graded.js";
export { jsonSerializer } from "./search/serializers/json.js";
export { markdownSerializer, type MarkdownDetail } from "./search/serializers/markdown.js";
export { typescriptSerializer, type TypeScriptDetail } from "./search/serializers/typescript.js";
export type { Detail, SearchResultSerializer, SerializeContext } from "./search/serializers/serializer.js";

// What the model reads back.
export { jsonResult } from "./meta-tools/results/json.js";
export { outputErrorResult } from "./meta-tools/results/output-error.js";
export { processResult } from "./meta-tools/results/process.js";
export { textResult } from "./meta-tools/results/text.js";

// Where scripts run.
export { inProcessSandbox } from "./sandbox/quickjs/in-process.js";
export { quickJsSandbox, type QuickJsSandboxOptions } from "./sandbox/quickjs/provider.js";
export { suspend } from "./sandbox/provider.js";
export type {
  CallAnswer,
  FinishedResult,
  HostFunction,
  LogEntry,
  PendingCall,
  RunStats,
  SandboxProvider,
  SandboxResult,
  SandboxRunOptions,
  ScriptError,
} from "./sandbox/provider.js";
export type { SandboxLimits, SandboxLimitValues } from "./sandbox/limits.js";
export type { Limits, LimitValues } from "./calls/limits.js";

// What outlives a run, and where it is kept.
export { fileStore, type FileStoreOptions } from "./session/file-store.js";
export { memoryStore, type MemoryStoreOptions } from "./session/memory-store.js";
export { StoreConflictError, type PutOptions, type SessionStore, type StoredEntry } from "./session/store.js";

// What happened, for a host's own log.
export type {
  CallEvent,
  CodeModeEvent,
  EventFacts,
  EventListener,
  ExecuteEvent,
  SchemaEvent,
  SearchEvent,
} from "./telemetry/events.js";

// Which calls are allowed.
export { policies } from "./calls/policies.js";
export type { CallInfo, CallPolicy, PolicyDecision } from "./calls/policy.js";

// Scripts that wait for a person, and where they are kept.
export type { PausedRun, Runs } from "./session/paused-runs.js";

// Errors, recognised across copies of this package.
export {
  ApprovalError,
  CancelledError,
  CodeModeError,
  ConfigurationError,
  LimitError,
  MemoryError,
  SandboxError,
  ScriptRuntimeError,
  ScriptSyntaxError,
  StackError,
  TimeoutError,
  ToolCallError,
  ValidationError,
  type ErrorKind,
  type ErrorOptions,
} from "./errors.js";
export { VERSION } from "./version.js";
