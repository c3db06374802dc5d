import type { CallContext, ToolSource } from "../../../src/catalog/tool.js";
import type { HostSurface } from "../../../src/mcp/host-adapter.js";
import type { Message } from "./wire.js";

/** What a server's own `tools/call` handler was given, and what it gave. */
export interface Recorded {
  params: string;
  /** authInfo, session, request id, headers and the rest of `_meta`, as JSON. */
  caller: string;
  outcome: string;
}

interface View {
  sessionId?: unknown;
  authInfo?: unknown;
  requestId?: unknown;
  requestInfo?: unknown;
  _meta?: Record<string, unknown>;
  http?: { authInfo?: unknown };
  mcpReq?: { id?: unknown; method?: unknown; _meta?: Record<string, unknown> };
}

type Handlers = Map<string, (request: Message, extra: View) => unknown>;

/** Puts a recorder around a server's own handler, below everything else. */
export function record(lowLevelServer: object): Recorded[] {
  const records: Recorded[] = [];
  const handlers = (lowLevelServer as { _requestHandlers: Handlers })._requestHandlers;
  const own = handlers.get("tools/call");
  if (own === undefined) throw new Error("register the tools first");
  handlers.set("tools/call", async (request, view) => {
    const { _meta, task: _task, ...params } = request.params ?? {};
    const entry: Recorded = { params: JSON.stringify(params), caller: callerOf(view), outcome: "" };
    records.push(entry);
    try {
      const result = await own(request, view);
      entry.outcome = JSON.stringify({ result });
      return result;
    } catch (error) {
      const { code, message, data } = error as { code?: unknown; message?: unknown; data?: unknown };
      entry.outcome = JSON.stringify({ error: { code, message, data } });
      throw error;
    }
  });
  return records;
}

/** The token for progress is the nested call's own: only whether there is one counts. */
function callerOf({ sessionId, authInfo, requestId, requestInfo, _meta, http, mcpReq }: View): string {
  const meta = { ..._meta, ...mcpReq?._meta };
  const hasToken = typeof meta["progressToken"] === "string";
  const id = requestId ?? mcpReq?.id;
  const rest = { ...meta, progressToken: hasToken };
  return JSON.stringify({
    sessionId,
    authInfo: authInfo ?? http?.authInfo,
    requestInfo,
    id,
    method: mcpReq?.method,
    rest,
  });
}

/** A meta-tool `relay` that hands `{ name, args }` to a source, and its answer back as it is. */
export function relaySurface(source: ToolSource): HostSurface {
  const tool = { name: "relay", inputSchema: { type: "object" as const } };
  const call = (args: Record<string, unknown>, context: CallContext): Promise<never> =>
    source.callTool(String(args["name"]), args["args"] as Record<string, unknown>, context) as Promise<never>;
  return { metaTools: new Map([["relay", { tool, call }]]), namingOptions: new Map() };
}
