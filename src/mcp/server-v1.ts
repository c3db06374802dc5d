import type { CallContext, Tool, ToolResult } from "../catalog/tool.js";
import { nestedMeta, nestedNotify, nestedToken, progressToClient, type RequestMeta } from "./context.js";
import type { Generation, NestedCall } from "./generation.js";
import type { HandlerTable } from "./handler-table.js";
import { type HostNotification, INVALID_PARAMS, type Notify, protocolError } from "./host-server.js";

/** The part of `RequestHandlerExtra` (SDK 1.x) this package uses. */
interface Extra {
  readonly signal: AbortSignal;
  readonly sessionId?: string | undefined;
  readonly authInfo?: unknown;
  readonly requestId: string | number;
  readonly _meta?: RequestMeta;
  readonly sendNotification: Notify;
  readonly taskStore?: TaskStore | undefined;
}

interface TaskStore {
  createTask(...args: unknown[]): Promise<{ taskId: string }>;
}

/** How many tasks of nested calls are remembered, to keep their status from clients that never made them. */
const REMEMBERED_TASKS = 256;

/** Nested calls on SDK 1.x. */
export class GenerationV1 implements Generation {
  readonly #table: HandlerTable;
  /** Tools that only run as a task, as last listed. */
  readonly #taskTools = new Set<string>();
  readonly #tasks = new Set<string>();

  constructor(table: HandlerTable) {
    this.#table = table;
  }

  contextOf(extra: object): CallContext {
    const { signal, sessionId, authInfo, _meta, sendNotification } = extra as Extra;
    return { signal, sessionId, authInfo, onProgress: progressToClient(_meta, sendNotification) };
  }

  extraWithoutRequest(signal: AbortSignal): object {
    return {
      signal,
      requestId: "mcp-codemode",
      sendNotification: async () => {},
      sendRequest: async () => {
        throw new Error("This call was not made by a client, so there is nobody to ask");
      },
    };
  }

  onListed(tools: readonly Tool[]): void {
    for (const tool of tools) {
      const execution = tool["execution"] as { taskSupport?: unknown } | undefined;
      if (execution?.taskSupport === "required") this.#taskTools.add(tool.name);
      else this.#taskTools.delete(tool.name);
    }
  }

  isInternal({ method, params }: HostNotification): boolean {
    return method === "notifications/tasks/status" && this.#tasks.has(String(params?.["taskId"]));
  }

  async call(call: NestedCall): Promise<ToolResult> {
    const token = nestedToken(call.context);
    const extra = nestedExtra(call, token.value);
    try {
      return await (this.#taskTools.has(call.name)
        ? this.#callAsTask(call, extra)
        : this.#send(call, extra, undefined));
    } finally {
      token.release();
    }
  }

  #send(call: NestedCall, extra: Extra, task: object | undefined): Promise<ToolResult> {
    const params: Record<string, unknown> = { name: call.name, arguments: call.args };
    if (extra._meta !== undefined) params["_meta"] = extra._meta;
    if (task !== undefined) params["task"] = task;
    const request = { jsonrpc: "2.0", id: extra.requestId, method: "tools/call", params };
    return call.handler(request, extra) as Promise<ToolResult>;
  }

  /** Creates a task for a tool that demands one, and waits for its result. */
  async #callAsTask(call: NestedCall, nested: Extra): Promise<ToolResult> {
    const extra = this.#withOwnTasks(nested);
    const created = await this.#send(call, extra, {});
    const taskId = (created["task"] as { taskId?: unknown } | undefined)?.taskId;
    if (typeof taskId !== "string") return created;
    const cancel = (): void => this.#cancelTask(taskId, extra);
    call.context.signal.addEventListener("abort", cancel, { once: true });
    try {
      return (await this.#taskRequest("tasks/result", taskId, extra)) as ToolResult;
    } finally {
      call.context.signal.removeEventListener("abort", cancel);
    }
  }

  #taskRequest(method: string, taskId: string, extra: Extra): unknown {
    const handler = this.#table.own(method);
    if (handler === undefined) throw protocolError(INVALID_PARAMS, `The server has no handler for ${method}`);
    return handler({ jsonrpc: "2.0", id: extra.requestId, method, params: { taskId } }, extra);
  }

  #cancelTask(taskId: string, extra: Extra): void {
    // The caller has gone: a task that has ended meanwhile refuses, and nobody is left to tell.
    Promise.resolve(this.#taskRequest("tasks/cancel", taskId, extra)).catch(() => {});
  }

  /** Learns the id of a task before the tool can report on it. */
  #withOwnTasks(extra: Extra): Extra {
    const store = extra.taskStore;
    if (store === undefined) return extra;
    const createTask: TaskStore["createTask"] = async (...args) => {
      const task = await store.createTask(...args);
      this.#remember(task.taskId);
      return task;
    };
    return { ...extra, taskStore: { ...store, createTask } };
  }

  #remember(taskId: string): void {
    this.#tasks.add(taskId);
    const [oldest] = this.#tasks;
    if (this.#tasks.size > REMEMBERED_TASKS && oldest !== undefined) this.#tasks.delete(oldest);
  }
}

/** The caller's `extra` with what belongs to the nested call replaced. A plain copy, since handlers may spread it. */
function nestedExtra({ context, extra }: NestedCall, token: string | undefined): Extra {
  const callers = extra as Extra;
  return {
    ...callers,
    signal: context.signal,
    _meta: nestedMeta(callers._meta, token),
    sendNotification: nestedNotify(callers.sendNotification, context),
  };
}
