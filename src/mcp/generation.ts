import type { CallContext, Tool, ToolResult } from "../catalog/tool.js";
import type { Handler, HostNotification } from "./host-server.js";

/** One call of a host's own tool, from inside a request or from nowhere. */
export interface NestedCall {
  readonly handler: Handler;
  readonly name: string;
  readonly args: Record<string, unknown>;
  readonly context: CallContext;
  /** The request it belongs to, as the SDK shows it to handlers. */
  readonly extra: object;
}

/** What differs between the generations of the SDK. */
export interface Generation {
  /** The caller of a request. */
  contextOf(extra: object): CallContext;
  /** What a handler gets when no request is behind a call: sending anything to the client is refused. */
  extraWithoutRequest(signal: AbortSignal): object;
  call(call: NestedCall): Promise<ToolResult>;
  /** Hears of every fresh list of the host's own tools. */
  onListed?(tools: readonly Tool[]): void;
  /** True for a notification that only exists because of how nested calls are made: the client must not get it. */
  isInternal?(notification: HostNotification): boolean;
}
