import type { CallContext, Progress } from "../catalog/tool.js";
import { relayProgress } from "../meta-tools/progress.js";
import type { HostNotification, Notify } from "./host-server.js";

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

/** Progress as it was notified, whatever fields it has, with any token. */
type ProgressParams = { readonly [key: string]: unknown };
type Listener = NonNullable<CallContext["onProgress"]>;

/** For listeners that are a client: takes the notification of a nested call as it is, so that the client gets all of it. */
const forwards = new WeakMap<Listener, (params: ProgressParams) => void>();

/** Sends progress to the client that asked for it; undefined when it did not. */
export function progressToClient(meta: RequestMeta, notify: Notify): Listener | undefined {
  const progressToken = meta?.progressToken;
  if (progressToken === undefined) return undefined;
  const forward = (params: ProgressParams): void => {
    // A client that is gone must not fail the call that reports its progress.
    notify({ method: PROGRESS, params: { ...params, progressToken } }).catch(() => {});
  };
  const listener = (progress: Progress): void => forward({ progressToken, ...progress });
  forwards.set(listener, forward);
  return listener;
}

const PROGRESS = "notifications/progress";
const TOKEN_PREFIX = "mcp-codemode:";
let lastToken = 0;

/** Calls under way that somebody listens to, by the token of their progress. */
const listening = new Map<string, CallContext>();

/** The progress token of one nested call: the caller's own one would let a tool move the caller's bar. */
export interface NestedToken {
  /** Undefined when nobody listens: the call gets no token then. */
  readonly value: string | undefined;
  /** What is notified under it from now on is dropped. */
  release(): void;
}

/** A token for a nested call of this context. */
export function nestedToken(context: CallContext): NestedToken {
  if (context.onProgress === undefined) return NO_TOKEN;
  const value = `${TOKEN_PREFIX}${++lastToken}`;
  listening.set(value, context);
  return { value, release: () => listening.delete(value) };
}

const NO_TOKEN: NestedToken = { value: undefined, release: () => {} };

/**
 * Takes the progress of a nested call on its way to the client, and gives it to the call's own listener. Tools send it
 * by the request's own function or by the server: all of it passes here.
 *
 * @returns true when it was that: the client must not get it, since it never gave this token.
 */
export function takeNestedProgress({ method, params }: HostNotification): boolean {
  const token = params?.["progressToken"];
  if (method !== PROGRESS || params === undefined || typeof token !== "string" || !token.startsWith(TOKEN_PREFIX)) {
    return false;
  }
  const context = listening.get(token);
  if (context?.onProgress === undefined || context.signal.aborted) return true;
  const relayed = relayProgress(context.onProgress, params);
  if (relayed === undefined) return true;
  const forward = forwards.get(relayed.listener);
  if (forward !== undefined) forward(relayed.progress);
  else relayed.listener(withoutToken(relayed.progress));
  return true;
}

function withoutToken({ progressToken: _own, _meta: _unused, ...progress }: ProgressParams): Progress {
  return progress as unknown as Progress;
}

/** The `_meta` of a nested call: the caller's, with the token of the nested call or none. Undefined when nothing is left. */
export function nestedMeta(meta: RequestMeta, token: string | undefined): RequestMeta {
  if (meta === undefined) return token === undefined ? undefined : { progressToken: token };
  const { progressToken: _callers, ...rest } = meta;
  if (token !== undefined) return { ...rest, progressToken: token };
  return Object.keys(rest).length === 0 ? undefined : rest;
}

/** Sends a nested call's notifications to the caller, except its progress: that goes to the context. Silent once aborted. */
export function nestedNotify(notify: Notify, context: CallContext): Notify {
  return async (notification, options) => {
    if (context.signal.aborted || takeNestedProgress(notification)) return;
    await notify(notification, options);
  };
}
