import type { CallContext, CallToolResult, Tool, ToolSource } from "../catalog/tool.js";
import type { MetaTool } from "../meta-tools/meta-tool.js";

/** What clients of a host server see instead of its tools. */
export interface HostSurface {
  /** By name, in the order in which they are listed. */
  readonly metaTools: ReadonlyMap<string, MetaTool>;
  /** True for a tool of the host that stays listed. Absent: none does, and listing never asks the host. */
  readonly isDirect?: ((tool: Tool) => boolean) | undefined;
  /** True for tools of the host that clients see as they are, without any meta-tool. Absent: never. */
  readonly leavesAsIs?: ((tools: readonly Tool[]) => boolean) | undefined;
  /** What clients see of a tool that stays listed. Absent: all of it. */
  readonly show?: ((tool: Tool) => Tool) | undefined;
  /** Asked before a client's own call of a host's tool, hidden or listed, goes to the host. Absent: it goes untouched. */
  readonly admit?: ((call: DirectCall) => Promise<Admission>) | undefined;
  /**
   * The option that renames a meta-tool, by the name of the meta-tool: the warning about a host tool with the same name
   * points to it.
   *
   * @example new Map([["search", "searchToolName"], ["execute", "executeToolName"]])
   */
  readonly namingOptions: ReadonlyMap<string, string>;
}

/** A client's own call of a tool of the host, hidden or listed. */
export interface DirectCall {
  /** As the host lists it for this caller; a tool that it does not list has nothing but its name. */
  readonly tool: Tool;
  readonly args: Readonly<Record<string, unknown>>;
  readonly isListed: boolean;
  readonly context: CallContext;
}

/** What becomes of a {@link DirectCall}: the host gets it with these arguments, or the client gets this answer. */
export type Admission = { readonly args: Readonly<Record<string, unknown>> } | { readonly refused: CallToolResult };

/** One MCP server of the TypeScript SDK, taken over: its own tools as a source, and a place to put other ones in front. */
export interface HostAdapter {
  /** Of the SDK: 1.x or 2.x. */
  readonly generation: "v1" | "v2";
  readonly level: "McpServer" | "Server";
  /**
   * The server's own tools. Both methods run the server's own handlers, with the request of the caller when the context
   * descends from one: same `authInfo`, session, headers, logging, sampling and elicitation; the signal and `onProgress`
   * are those of the context. Errors of those handlers reject as they are; results with `isError` resolve.
   *
   * `listTools` resolves to the same array as long as nothing has changed: do not alter it.
   */
  readonly source: ToolSource;
  /** From now on clients see the surface. Tools that it hides can still be called by name. */
  install(surface: HostSurface): void;
  /** Gives the server back as it was. Calls that still run go on. */
  dispose(): Promise<void>;
}
