/**
 * The sandbox by itself: run scripts without any server.
 *
 * @module
 */
export { quickJsSandbox, type QuickJsSandboxOptions } from "./sandbox/quickjs/provider.js";
export { inProcessSandbox } from "./sandbox/quickjs/in-process.js";
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
export { DEFAULT_SANDBOX_LIMITS, type SandboxLimits, type SandboxLimitValues } from "./sandbox/limits.js";
export { CodeModeError, type ErrorKind } from "./errors.js";
