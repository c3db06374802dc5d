import { debuglog } from "node:util";
import type { Tool } from "../catalog/tool.js";
import { estimateTokens } from "../search/serializers/token-estimate.js";

const debug = debuglog("mcp-codemode");

/** What was decided for a server, and by which numbers. */
export interface StartReport {
  server: string;
  /** The server's own tools. */
  own: readonly Tool[];
  /** What a client sees. */
  visible: readonly Tool[];
  leftAsIs: boolean;
}

/** True when somebody reads the debug log of this process (NODE_DEBUG=mcp-codemode). */
export const isReported = (): boolean => debug.enabled;

/** Tokens of a list of tools as JSON, estimated. */
export const listTokens = (tools: readonly Tool[]): number => estimateTokens(JSON.stringify(tools));

/** One line in the debug log of the process. */
export function reportStart({ server, own, visible, leftAsIs }: StartReport): void {
  const before = `${own.length} tools, about ${listTokens(own)} tokens in tools/list`;
  const after = leftAsIs
    ? "left as they are (directTools: auto)"
    : `clients see ${visible.length} tools, about ${listTokens(visible)} tokens`;
  debug("%s: %s; %s", server, before, after);
}
