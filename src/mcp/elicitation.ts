import type { CallContext, ElicitAnswer, ElicitQuestion } from "../catalog/tool.js";
import type { LowLevelServer } from "./host-server.js";

type Elicit = NonNullable<CallContext["elicit"]>;

/** The part of the SDKs by which a server asks the person behind its client. */
interface Asking {
  getClientCapabilities?(): { readonly elicitation?: unknown } | undefined;
  elicitInput?: ElicitInput;
}

type ElicitInput = (params: object, options: object) => Promise<unknown>;

/** A request of either generation of the SDK, as far as questions belong to one. */
interface AskingRequest {
  readonly requestId?: string | number | undefined;
  readonly mcpReq?: { readonly id?: string | number; readonly elicitInput?: ElicitInput } | undefined;
}

/** A longer timer fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * How the person behind this request is asked, if its client said at `initialize` that it can. The question belongs to
 * the request: over HTTP it goes out on the request's own stream, so it reaches the client that made the call.
 */
export function elicitationOf(server: LowLevelServer, extra: object): Elicit | undefined {
  const asking = server as LowLevelServer & Asking;
  const { requestId, mcpReq } = extra as AskingRequest;
  if (!takesForms(asking.getClientCapabilities?.()?.elicitation)) return undefined;
  const ask = mcpReq?.elicitInput ?? asking.elicitInput?.bind(asking);
  if (ask === undefined) return undefined;
  const relatedRequestId = requestId ?? mcpReq?.id;
  return async function elicit(question, { signal, timeoutMs }): Promise<ElicitAnswer> {
    const timeout = Math.min(timeoutMs, MAX_TIMER_MS);
    return readAnswer(await ask(asForm(question), { signal, timeout, maxTotalTimeout: timeout, relatedRequestId }));
  };
}

/** Clients that only open URLs cannot show a form; those from before there were modes say nothing more than `{}`. */
function takesForms(capability: unknown): boolean {
  if (typeof capability !== "object" || capability === null) return false;
  return "form" in capability || Object.keys(capability).length === 0;
}

const asForm = ({ message, requestedSchema }: ElicitQuestion): object => ({ message, requestedSchema });

/** Anything but a clear yes is none. */
function readAnswer(answer: unknown): ElicitAnswer {
  const { action, content } = (answer ?? {}) as { action?: unknown; content?: unknown };
  if (action !== "accept") return { action: action === "decline" ? "decline" : "cancel" };
  const isObject = typeof content === "object" && content !== null && !Array.isArray(content);
  return { action, ...(isObject ? { content: content as Record<string, unknown> } : {}) };
}
