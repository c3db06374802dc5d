import type { CallContext, ToolResult } from "../catalog/tool.js";
import { ToolCallError } from "../errors.js";
import { nestedMeta, nestedNotify, nestedToken, progressToClient, type RequestMeta } from "./context.js";
import type { Generation, NestedCall } from "./generation.js";
import type { HighLevelServer, Notify } from "./host-server.js";

/** The part of `ServerContext` (SDK 2.x) this package uses. */
interface Context {
  readonly sessionId?: string | undefined;
  readonly http?: { readonly authInfo?: unknown } | undefined;
  readonly mcpReq: {
    readonly id: string | number;
    readonly method: string;
    readonly signal: AbortSignal;
    readonly _meta?: RequestMeta;
    readonly notify: Notify;
    readonly requestState: () => unknown;
    readonly inputResponses?: unknown;
    readonly droppedInputResponseKeys?: unknown;
  };
}

/** Nested calls on SDK 2.x, for clients of the 2025 protocol and of 2026-07-28. */
export class GenerationV2 implements Generation {
  readonly #server: HighLevelServer | undefined;

  /** `server`: absent for the low-level class, whose tools have no scopes. */
  constructor(server: HighLevelServer | undefined) {
    this.#server = server;
  }

  contextOf(extra: object): CallContext {
    const { sessionId, http, mcpReq } = extra as Context;
    const { signal, _meta, notify } = mcpReq;
    return { signal, sessionId, authInfo: http?.authInfo, onProgress: progressToClient(_meta, notify) };
  }

  extraWithoutRequest(signal: AbortSignal): object {
    const refuse = async (): Promise<never> => {
      throw new Error("This call was not made by a client, so there is nobody to ask");
    };
    const silent = async (): Promise<void> => {};
    return {
      mcpReq: {
        id: "mcp-codemode",
        method: "tools/list",
        signal,
        requestState: () => undefined,
        notify: silent,
        log: silent,
        send: refuse,
        elicitInput: refuse,
        requestSampling: refuse,
      },
    };
  }

  async call(call: NestedCall): Promise<ToolResult> {
    const token = nestedToken(call.context);
    try {
      return await this.#send(call, nestedContext(call, token.value));
    } finally {
      token.release();
    }
  }

  async #send(call: NestedCall, context: Context): Promise<ToolResult> {
    const params: Record<string, unknown> = { name: call.name, arguments: call.args };
    if (context.mcpReq._meta !== undefined) params["_meta"] = context.mcpReq._meta;
    const request = { jsonrpc: "2.0", id: context.mcpReq.id, method: "tools/call", params };
    await this.#checkScopes(call.name, request, context);
    const result = (await call.handler(request, context)) as ToolResult;
    if (result["resultType"] === "input_required") throw needsInput(call.name);
    return result;
  }

  /**
   * Scopes of the nested tool. The SDK checks those of the tool that the HTTP request names, which here is a meta-tool:
   * without this a script could call what its caller may not. What cannot be checked is refused.
   */
  async #checkScopes(name: string, request: object, { http }: Context): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    const authInfo = http?.authInfo;
    const challenge = await resolveChallenge(
      server,
      name,
      authInfo === undefined ? { request } : { request, authInfo },
    );
    if (challenge === undefined) return;
    const scopes = scopesOf(challenge);
    throw new ToolCallError(`insufficient_scope: ${name} needs ${scopes.join(" ") || "scopes"} that the caller lacks`, {
      details: { reason: "insufficient_scope", tool: name, scopes },
    });
  }
}

async function resolveChallenge(
  server: HighLevelServer,
  name: string,
  context: { request: object; authInfo?: unknown },
): Promise<unknown> {
  if (typeof server.resolveScopeChallenge !== "function") {
    if (server._registeredTools?.[name]?.scopeChallenge === undefined) return undefined;
    throw new ToolCallError(`${name} needs scopes, and this version of the SDK does not let them be checked`);
  }
  try {
    return await server.resolveScopeChallenge(context);
  } catch (error) {
    // The host's own message may hold internals: it stays the cause.
    throw new ToolCallError(`The scopes that ${name} needs could not be checked, so the call was refused`, {
      details: { reason: "insufficient_scope", tool: name },
      cause: error,
    });
  }
}

function scopesOf(challenge: unknown): string[] {
  const scopes = (challenge as { scopes?: unknown } | null)?.scopes;
  return Array.isArray(scopes) ? scopes.map(String) : [];
}

function needsInput(name: string): ToolCallError {
  return new ToolCallError(
    `${name} asks the user for input, which a script cannot pass on over this protocol version; call ${name} directly`,
    { details: { reason: "input_required", tool: name } },
  );
}

/** The caller's context with what belongs to the nested call replaced: also the answers and state of the outer request. */
function nestedContext({ context, extra }: NestedCall, token: string | undefined): Context {
  const callers = extra as Context;
  return {
    ...callers,
    mcpReq: {
      ...callers.mcpReq,
      method: "tools/call",
      signal: context.signal,
      _meta: nestedMeta(callers.mcpReq._meta, token),
      notify: nestedNotify(callers.mcpReq.notify, context),
      inputResponses: undefined,
      droppedInputResponseKeys: undefined,
      requestState: () => undefined,
    },
  };
}
