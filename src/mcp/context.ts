import type { CallContext, Progress } from "../catalog/tool.js";
import type { Notify } from "./host-server.js";

/**
 * A request of a host server, as its SDK showed it to a handler. It travels on the {@link CallContext} under a symbol:
 * contexts are derived by prototype, so nested calls inherit it, and neither scripts nor tools of other sources see it.
 */
const HOST_REQUEST = Symbol("mcp-codemode.host-request");

interface Carried {
  /** The server that got the request: no other one may use it. */
  readonly server: object;
  readonly extra: object;
}

type Carrier = CallContext & { [HOST_REQUEST]?: Carried };

/** Puts a server's request on a context. */
export function carryRequest(context: CallContext, server: object, extra: object): CallContext {
  (context as Carrier)[HOST_REQUEST] = { server, extra };
  return context;
}

/** The request a context descends from, if `server` got it. */
export function carriedRequest(context: CallContext, server: object): object | undefined {
  const carried = (context as Carrier)[HOST_REQUEST];
  return carried?.server === server ? carried.extra : undefined;
}

export type RequestMeta = { readonly [key: string]: unknown; readonly progressToken?: unknown } | undefined;

/** Sends progress to the client that asked for it; undefined when it did not. */
export function progressToClient(meta: RequestMeta, notify: Notify): ((progress: Progress) => void) | undefined {
  const progressToken = meta?.progressToken;
  if (progressToken === undefined) return undefined;
  return (progress) => {
    // A client that is gone must not fail the call that reports its progress.
    notify({ method: "notifications/progress", params: { ...progress, progressToken } }).catch(() => {});
  };
}

let lastToken = 0;

/** A progress token for a nested call when somebody listens: the caller's own one would let a tool move the caller's bar. */
export function nestedToken(context: CallContext): string | undefined {
  return context.onProgress === undefined ? undefined : `mcp-codemode:${++lastToken}`;
}

/** The `_meta` of a nested call: the caller's, with the token of the nested call or none. Undefined when nothing is left. */
export function nestedMeta(meta: RequestMeta, token: string | undefined): RequestMeta {
  if (meta === undefined) return token === undefined ? undefined : { progressToken: token };
  const { progressToken: _callers, ...rest } = meta;
  if (token !== undefined) return { ...rest, progressToken: token };
  return Object.keys(rest).length === 0 ? undefined : rest;
}

/** Sends a nested call's notifications to the caller, except its progress: that goes to the context. Silent once aborted. */
export function nestedNotify(notify: Notify, context: CallContext, token: string | undefined): Notify {
  const { signal, onProgress } = context;
  return async (notification, options) => {
    if (signal.aborted) return;
    const params = notification.params;
    if (
      token !== undefined &&
      notification.method === "notifications/progress" &&
      params?.["progressToken"] === token
    ) {
      const { progressToken: _own, _meta: _unused, ...progress } = params;
      onProgress?.(progress as unknown as Progress);
      return;
    }
    await notify(notification, options);
  };
}
