import type { Awaitable, CallContext, Tool, ToolResult, ToolSource } from "../catalog/tool.js";
import { CancelledError, messageOf, ToolCallError } from "../errors.js";

/**
 * Answers one call. A {@link ToolResult} (an object with `content`, `structuredContent` or `isError`) is handed on as it
 * is, a string becomes one text block, nothing becomes an empty result, any other object `structuredContent`, and any
 * other value its JSON text. What it throws becomes a result with `isError`, as an MCP server answers.
 */
export type FakeHandler = (args: Record<string, unknown>, context: CallContext) => Awaitable<unknown>;

/** A tool of a {@link fakeSource}: any part of a tool's definition, and the handler. */
export type FakeTool = FakeHandler | (Partial<Omit<Tool, "name">> & { handler: FakeHandler });

/** One call that reached a {@link fakeSource}. */
export interface FakeCall {
  name: string;
  args: Record<string, unknown>;
}

/** A {@link ToolSource} in memory whose tools can be changed, and which remembers its calls. */
export interface FakeSource extends ToolSource {
  readonly name: string;
  onToolsChanged(listener: () => void): () => void;
  /** Every call that reached a handler, in order. */
  readonly calls: readonly FakeCall[];
  /** Adds or replaces a tool and tells the listeners. */
  set(name: string, tool: FakeTool): void;
  /** Removes a tool and tells the listeners. False when there was none of this name. */
  remove(name: string): boolean;
}

/**
 * A source of tools in memory, for tests of what is built on sources. Tools without an `inputSchema` take any object.
 *
 * @throws {ToolCallError} (from `callTool`) for a name it does not have; {@link CancelledError} when the caller gave up.
 * @example
 * const source = fakeSource({
 *   now: () => ({ hour: 12 }),
 *   greet: { description: "Greets", handler: ({ name }) => `hello ${String(name)}` },
 * });
 * const engine = createCodeMode(source);
 * await engine.execute({ code: `return await call_tool("greet", { name: "Ada" })` });
 * source.calls; // [{ name: "greet", args: { name: "Ada" } }]
 */
export function fakeSource(tools: Record<string, FakeTool>, options: { name?: string } = {}): FakeSource {
  const held = new Map(Object.entries(tools));
  const listeners = new Set<() => void>();
  const calls: FakeCall[] = [];
  const tellListeners = (): void => {
    for (const listener of listeners) listener();
  };
  return {
    name: options.name ?? "fake",
    calls,
    listTools: async () => Array.from(held, ([name, tool]) => definitionOf(name, tool)),
    async callTool(name, args, context) {
      const tool = held.get(name);
      if (tool === undefined) throw new ToolCallError(`Unknown tool: ${name}`, { details: { tool: name } });
      if (context.signal.aborted) throw new CancelledError(`The call of ${name} was cancelled`);
      calls.push({ name, args });
      return untilAborted(name, answer(handlerOf(tool), args, context), context.signal);
    },
    onToolsChanged(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    set(name, tool) {
      held.set(name, tool);
      tellListeners();
    },
    remove(name) {
      const removed = held.delete(name);
      if (removed) tellListeners();
      return removed;
    },
  };
}

const handlerOf = (tool: FakeTool): FakeHandler => (typeof tool === "function" ? tool : tool.handler);

function definitionOf(name: string, tool: FakeTool): Tool {
  const { handler: _handler, ...definition } = typeof tool === "function" ? { handler: tool } : tool;
  return { inputSchema: { type: "object" }, ...definition, name };
}

async function answer(handler: FakeHandler, args: Record<string, unknown>, context: CallContext): Promise<ToolResult> {
  try {
    return toResult(await handler(args, context));
  } catch (error) {
    return { content: [{ type: "text", text: messageOf(error) }], isError: true };
  }
}

const RESULT_KEYS = ["content", "structuredContent", "isError"];

function toResult(value: unknown): ToolResult {
  if (value === undefined || value === null) return { content: [] };
  if (typeof value === "string") return { content: [{ type: "text", text: value }] };
  const text = (): ToolResult => ({ content: [{ type: "text", text: JSON.stringify(value) }] });
  if (typeof value !== "object" || Array.isArray(value)) return text();
  if (RESULT_KEYS.some((key) => Object.hasOwn(value, key))) return value as ToolResult;
  return { ...text(), structuredContent: value };
}

/** Rejects as soon as the caller gives up, even when the handler does not look at its signal. */
function untilAborted<T>(name: string, work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(new CancelledError(`The call of ${name} was cancelled`));
    signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
