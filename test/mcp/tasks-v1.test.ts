import {
  InMemoryTaskMessageQueue,
  InMemoryTaskStore,
} from "@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { UrlElicitationRequiredError } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { z } from "zod";
import { connect, take, textOf } from "./support.js";
import type { Nested } from "./surface.js";

/** A server with tools that run as tasks: `never` ends only when it is cancelled. */
async function taskServer() {
  const taskStore = new InMemoryTaskStore();
  onTestFinished(() => taskStore.cleanup());
  const server = new McpServer(
    { name: "tasks", version: "1" },
    {
      capabilities: { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
      taskStore,
      taskMessageQueue: new InMemoryTaskMessageQueue(),
    },
  );
  const adapter = take(server);
  const created: string[] = [];
  const register = (name: string, taskSupport: "optional" | "required", ends: boolean): void => {
    server.experimental.tasks.registerToolTask(
      name,
      { inputSchema: { n: z.number() }, execution: { taskSupport } },
      {
        async createTask({ n }, extra) {
          const task = await extra.taskStore.createTask({ ttl: 60_000, pollInterval: 20 });
          created.push(task.taskId);
          const result = { content: [{ type: "text" as const, text: `task ${n}` }] };
          if (ends) await extra.taskStore.storeTaskResult(task.taskId, "completed", result);
          return { task };
        },
        getTask: async (_, extra) => extra.taskStore.getTask(extra.taskId),
        getTaskResult: async (_, extra) => (await extra.taskStore.getTaskResult(extra.taskId)) as never,
      },
    );
  };
  register("optional", "optional", true);
  register("required", "required", true);
  register("never", "required", false);
  server.registerTool("visit", {}, async () => {
    const elicitation = { mode: "url" as const, message: "go", url: "https://x.test", elicitationId: "e1" };
    throw new UrlElicitationRequiredError([elicitation]);
  });
  const client = await connect(server);
  onTestFinished(() => client.close());
  const others = vi.fn<(method: string) => void>();
  client.fallbackNotificationHandler = async ({ method }) => others(method);
  const nested = async (name: string, options: { signal?: AbortSignal } = {}): Promise<Nested[]> => {
    const args = { calls: [{ name, args: { n: 7 } }] };
    const answer = await client.callTool({ name: "execute", arguments: args }, undefined, options);
    return JSON.parse(textOf(answer)) as Nested[];
  };
  return { client, adapter, nested, others, created, taskStore };
}

describe("a tool that may run as a task", () => {
  it("is waited for", async () => {
    const { nested } = await taskServer();
    expect(await nested("optional")).toMatchObject([{ result: { content: [{ text: "task 7" }] } }]);
  });
});

describe("a tool that only runs as a task", () => {
  it("is called as one, and its result is waited for", async () => {
    const { nested } = await taskServer();
    expect(await nested("required")).toMatchObject([{ result: { content: [{ text: "task 7" }] } }]);
  });
  it("tells the client nothing of a task that it never made", async () => {
    const { nested, others } = await taskServer();
    await nested("required");
    expect(others).not.toHaveBeenCalled();
  });
  it("is cancelled with the call", async () => {
    const { nested, created, taskStore } = await taskServer();
    const controller = new AbortController();
    const call = nested("never", { signal: controller.signal });
    await vi.waitFor(() => expect(created).toHaveLength(1));
    controller.abort("enough");
    await expect(call).rejects.toThrow(/enough/);
    await vi.waitFor(async () => expect((await taskStore.getTask(created[0] ?? ""))?.status).toBe("cancelled"));
  });
});

describe("a meta-tool", () => {
  it("does not run as a task", async () => {
    const { client } = await taskServer();
    const stream = client.experimental.tasks.callToolStream({ name: "execute", arguments: { calls: [] } }, undefined, {
      task: {},
    });
    const messages = [];
    for await (const message of stream) messages.push(message);
    expect(messages).toMatchObject([{ type: "error", error: { code: -32601 } }]);
  });
});

describe("a tool that sends the user to a page (-32042)", () => {
  it("rejects a nested call with the host's own error, so that the client gets it", async () => {
    const { nested } = await taskServer();
    await expect(nested("visit")).rejects.toMatchObject({
      code: -32042,
      data: { elicitations: [{ url: "https://x.test" }] },
    });
  });
});
