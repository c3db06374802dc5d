import { asJson, type Json, knownKeys } from "./case.js";
import type { Fixture } from "./fixtures.js";

type Handler = (request: { params: { arguments?: Json } }, extra: unknown) => Promise<unknown>;

/**
 * What a direct tools/call passes through on the host, as hosts do it: around the registered handler of tools/call. The
 * SDK has no hook of its own for this.
 */
export function addMiddleware(server: object, fixture: Fixture, middleware: readonly unknown[]): void {
  const handlers = (server as { _requestHandlers: Map<string, Handler> })._requestHandlers;
  for (const entry of middleware) {
    const spec = asJson(entry, "config.middleware");
    knownKeys(spec, ["count", "addToArgument"], "config.middleware");
    const inner = handlers.get("tools/call");
    if (inner === undefined) throw new Error("the server has no handler of tools/call");
    handlers.set("tools/call", (request, extra) => {
      if (spec["count"] === true) fixture.middlewareCalls++;
      return inner(withAdded(request, asJson(spec["addToArgument"] ?? {}, "addToArgument")), extra);
    });
  }
}

function withAdded(request: Parameters<Handler>[0], added: Json): Parameters<Handler>[0] {
  const args: Record<string, unknown> = { ...request.params.arguments };
  for (const [name, amount] of Object.entries(added)) {
    if (typeof args[name] === "number") args[name] += Number(amount);
  }
  return { ...request, params: { ...request.params, arguments: args } };
}
