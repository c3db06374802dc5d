import type { RegisteredTool } from "@modelcontextprotocol/sdk/server/mcp.js";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { attach } from "../../src/mcp/attach.js";
import type { HostAdapter } from "../../src/mcp/host-adapter.js";
import { type SdkV1, sdksV1 } from "./sdk-v1.js";
import { type Nested, type NestedOptions, nestingSurface } from "./surface.js";

const ORDERS = ["first", "in the middle", "last", "last, tools declared beforehand"] as const;

/** What handlers of SDK 1.x get as their last argument. */
interface Extra {
  signal: AbortSignal;
  sessionId?: string;
  requestId: unknown;
  authInfo?: { token: string };
  requestInfo?: { headers: Record<string, string> };
  _meta?: Record<string, unknown>;
  sendNotification(notification: object): Promise<void>;
  sendRequest(request: object, schema: unknown): Promise<{ content: { text: string } }>;
}

const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });

/** One connected server of a copy of the SDK, with the adapter put on it at some point. */
async function connectedServer(sdk: SdkV1, order: (typeof ORDERS)[number]) {
  const { z, types } = sdk;
  const tools = order.includes("declared") ? { tools: {} } : {};
  const server = new sdk.McpServer({ name: "host", version: "1" }, { capabilities: { logging: {}, ...tools } });
  const seen: { extra?: Extra; aborted: boolean; started?: () => void } = { aborted: false };
  const parts = {} as { adapter: HostAdapter; probe: RegisteredTool };
  const put = (at: string): void => {
    if (!order.startsWith(at)) return;
    parts.adapter = attach(server);
    parts.adapter.install(nestingSurface(parts.adapter.source, { direct: ["kept", "kept_later"] }));
  };
  const register = (name: string, config: object, handler: (...args: never[]) => unknown): RegisteredTool =>
    server.registerTool(name, config as never, handler as never);

  put("first");
  register(
    "add",
    {
      description: "Adds numbers",
      inputSchema: { a: z.number(), b: z.number().default(5) },
      outputSchema: { sum: z.number() },
    },
    async ({ a, b }: { a: number; b: number }) => ({ ...text(String(a + b)), structuredContent: { sum: a + b } }),
  );
  register("wrong_output", { inputSchema: {}, outputSchema: { sum: z.number() } }, async () => ({
    content: [],
    structuredContent: { sum: "x" },
  }));
  register("kept", { description: "Stays listed" }, async () => text("kept"));
  put("in the middle");
  parts.probe = register("probe", { description: "Looks at its context" }, async (extra: Extra) => {
    seen.extra = extra;
    return text("seen");
  });
  register("steps", {}, async (extra: Extra) => {
    for (const progress of [1, 2, 3]) {
      await extra.sendNotification({
        method: "notifications/progress",
        params: { progressToken: extra._meta?.["progressToken"], progress, total: 3, message: `step ${progress}` },
      });
    }
    return text("done");
  });
  register("logs", {}, async (extra: Extra) => {
    await extra.sendNotification({ method: "notifications/message", params: { level: "info", data: "hello" } });
    return text("logged");
  });
  register("slow", {}, (extra: Extra) => {
    seen.started?.();
    return new Promise((_, reject) => {
      extra.signal.addEventListener("abort", () => {
        seen.aborted = true;
        reject(new Error("aborted"));
      });
    });
  });
  register("sample", {}, async (extra: Extra) => {
    const messages = [{ role: "user", content: { type: "text", text: "hi" } }];
    const answer = await extra.sendRequest(
      { method: "sampling/createMessage", params: { messages, maxTokens: 5 } },
      types.CreateMessageResultSchema,
    );
    return text(answer.content.text);
  });
  register("ask", {}, async () => {
    const properties = { yes: { type: "boolean" as const } };
    const answer = await server.server.elicitInput({
      message: "ok?",
      requestedSchema: { type: "object", properties },
    } as never);
    return text(`${answer.action}: ${String(answer.content?.["yes"])}`);
  });
  register("boom", {}, async () => {
    throw new Error("it broke");
  });
  server.resource("r", "res://x", async () => ({ contents: [{ uri: "res://x", text: "R" }] }));
  server.prompt("p", async () => ({ messages: [{ role: "user", content: { type: "text", text: "P" } }] }));
  put("last");

  const [clientSide, serverSide] = sdk.InMemoryTransport.createLinkedPair();
  serverSide.sessionId = "session-1";
  const client = new sdk.Client({ name: "c", version: "1" }, { capabilities: { sampling: {}, elicitation: {} } });
  client.setRequestHandler(types.CreateMessageRequestSchema, async () => ({
    model: "m",
    role: "assistant",
    content: { type: "text", text: "sampled" },
  }));
  if (sdk.hasElicitation) {
    client.setRequestHandler(types.ElicitRequestSchema, async () => ({ action: "accept", content: { yes: true } }));
  }
  const logged: unknown[] = [];
  client.setNotificationHandler(types.LoggingMessageNotificationSchema, ({ params }) => void logged.push(params.data));
  const changed = vi.fn<() => void>();
  client.setNotificationHandler(types.ToolListChangedNotificationSchema, () => changed());
  await server.connect(serverSide);
  // What an HTTP transport adds to each message.
  const deliver = serverSide.onmessage;
  serverSide.onmessage = (message, extra) =>
    deliver?.(message, {
      ...extra,
      authInfo: { token: "secret", clientId: "me", scopes: ["s"] },
      requestInfo: { headers: { "x-tenant": "t1" } },
    } as never);
  await client.connect(clientSide);

  const execute = async (options: NestedOptions, request: object = {}): Promise<Nested[]> => {
    const answer = await client.callTool({ name: "execute", arguments: { ...options } }, undefined, request);
    return JSON.parse((answer.content as { text: string }[])[0]?.text ?? "") as Nested[];
  };
  const nested = async (name: string, args: Record<string, unknown> = {}): Promise<Nested> => {
    const [only] = await execute({ calls: [{ name, args }] });
    if (only === undefined) throw new Error("no answer");
    return only;
  };
  const found = async (): Promise<string[]> => {
    const answer = await client.callTool({ name: "search", arguments: {} });
    const listed = JSON.parse((answer.content as { text: string }[])[0]?.text ?? "") as { name: string }[];
    return listed.map(({ name }) => name);
  };
  const listed = async (): Promise<string[]> => (await client.listTools()).tools.map(({ name }) => name);
  return { ...parts, server, client, register, seen, logged, changed, execute, nested, found, listed };
}

const refusal = ({ result, rejected }: Nested): string =>
  rejected?.message ?? (result?.isError ? (result.content?.[0]?.text ?? "") : "");

for (const sdk of await sdksV1()) {
  describe.each(ORDERS)(`${sdk.label}, applied %s`, (order) => {
    let host: Awaited<ReturnType<typeof connectedServer>>;
    beforeAll(async () => {
      host = await connectedServer(sdk, order);
    });
    afterAll(() => host.client.close());

    it("lists the meta-tools and the tools that stay direct", async () => {
      expect(await host.listed()).toEqual(["search", "execute", "kept"]);
    });
    it("finds hidden tools, registered before and after", async () => {
      expect(await host.found()).toEqual(expect.arrayContaining(["add", "kept", "probe", "boom"]));
    });
    it("lets the host apply its defaults", async () => {
      expect((await host.nested("add", { a: 1 })).result?.structuredContent).toEqual({ sum: 6 });
    });
    it("lets the host refuse wrong arguments", async () => {
      expect(refusal(await host.nested("add", { a: "x" }))).toMatch(/invalid arguments/i);
    });
    it("lets the host refuse its own wrong output", async () => {
      expect(refusal(await host.nested("wrong_output"))).toMatch(/structured content/i);
    });
    it("gives the error of a tool as a result", async () => {
      expect(await host.nested("boom")).toMatchObject({ result: { isError: true, content: [{ text: "it broke" }] } });
    });
    it("gives the host's own answer for an unknown tool", async () => {
      expect(refusal(await host.nested("nope"))).toMatch(/nope not found/);
    });
    it("passes on who the caller is", async () => {
      await host.nested("probe");
      expect(host.seen.extra?.authInfo?.token).toBe("secret");
    });
    it("passes on the session", async () => {
      await host.nested("probe");
      expect(host.seen.extra?.sessionId).toBe("session-1");
    });
    it.runIf(sdk.hasRequestInfo)("passes on the headers", async () => {
      await host.nested("probe");
      expect(host.seen.extra?.requestInfo?.headers["x-tenant"]).toBe("t1");
    });
    it("keeps the id of the request, by which answers find their stream", async () => {
      await host.nested("probe");
      expect(host.seen.extra?.requestId).toEqual(expect.any(Number));
    });
    it("sends progress of a nested call to the caller's context", async () => {
      const { progress } = await host.nested("steps");
      expect(progress).toEqual([1, 2, 3].map((n) => ({ progress: n, total: 3, message: `step ${n}` })));
    });
    it("does not send progress of a nested call to the client", async () => {
      const onprogress = vi.fn<() => void>();
      await host.execute({ calls: [{ name: "steps" }] }, { onprogress });
      expect(onprogress).not.toHaveBeenCalled();
    });
    it("keeps the progress of parallel calls apart", async () => {
      const answers = await host.execute({ calls: [{ name: "steps" }, { name: "steps" }] });
      expect(answers.map(({ progress }) => progress.length)).toEqual([3, 3]);
    });
    it("gives a nested call no progress token when nobody listens", async () => {
      await host.execute({ calls: [{ name: "probe" }], deaf: true }, { onprogress: () => {} });
      expect(host.seen.extra?._meta?.["progressToken"]).toBeUndefined();
    });
    it("sends logs of a nested call to the client", async () => {
      const before = host.logged.length;
      await host.nested("logs");
      expect(host.logged.slice(before)).toEqual(["hello"]);
    });
    it("lets a nested call sample", async () => {
      expect((await host.nested("sample")).result?.content?.[0]?.text).toBe("sampled");
    });
    it.runIf(sdk.hasElicitation)("lets a nested call ask the user", async () => {
      expect((await host.nested("ask")).result?.content?.[0]?.text).toBe("accept: true");
    });
    it("runs nested calls in parallel", async () => {
      const answers = await host.execute({ calls: [1, 2, 3].map((a) => ({ name: "add", args: { a } })) });
      expect(answers.map(({ result }) => result?.structuredContent)).toEqual([6, 7, 8].map((sum) => ({ sum })));
    });
    it("aborts a nested call when the client cancels", async () => {
      const started = new Promise<void>((resolve) => (host.seen.started = resolve));
      const controller = new AbortController();
      const call = host.execute({ calls: [{ name: "slow" }] }, { signal: controller.signal });
      await started;
      controller.abort("enough");
      await expect(call).rejects.toThrow(/enough/);
      await vi.waitFor(() => expect(host.seen.aborted).toBe(true));
    });
    it("answers a direct call of a hidden tool as the host does", async () => {
      const answer = await host.client.callTool({ name: "add", arguments: { a: 1 } });
      expect(answer).toMatchObject({ structuredContent: { sum: 6 } });
    });
    it("answers a direct call of a listed tool", async () => {
      expect(await host.client.callTool({ name: "kept", arguments: {} })).toMatchObject(text("kept"));
    });
    it("neither finds nor calls a disabled tool", async () => {
      host.probe.disable();
      const [found, call] = [await host.found(), await host.nested("probe")];
      host.probe.enable();
      expect({ found: found.includes("probe"), call: refusal(call) }).toEqual({
        found: false,
        call: expect.stringMatching(/disabled/) as string,
      });
    });
    it("finds and calls a tool under its new name", async () => {
      const tool = host.register("before", {}, async () => text("renamed"));
      tool.update({ name: "behind" });
      expect(await host.found()).toContain("behind");
      expect((await host.nested("behind")).result?.content?.[0]?.text).toBe("renamed");
    });
    it("calls a tool registered after connect", async () => {
      host.register("late", {}, async () => text("late"));
      expect((await host.nested("late")).result?.content?.[0]?.text).toBe("late");
    });
    it("does not know a removed tool", async () => {
      host.register("gone", {}, async () => text("gone")).remove();
      expect(await host.found()).not.toContain("gone");
      expect(refusal(await host.nested("gone"))).toMatch(/not found/);
    });
    it("says nothing to the client when hidden tools change", async () => {
      await host.listed();
      const before = host.changed.mock.calls.length;
      host.register("hidden_one", {}, async () => text("")).update({ description: "Another one" });
      await host.listed();
      expect(host.changed.mock.calls.length).toBe(before);
    });
    it("tells the client once when tools that stay direct change", async () => {
      await host.listed();
      const before = host.changed.mock.calls.length;
      const tool = host.register("kept_later", { description: "One" }, async () => text(""));
      tool.update({ description: "Two" });
      await vi.waitFor(() => expect(host.changed.mock.calls.length).toBe(before + 1));
      tool.remove();
      await vi.waitFor(() => expect(host.changed.mock.calls.length).toBe(before + 2));
    });
    it("tells listeners of the source of every change", () => {
      const heard = vi.fn<() => void>();
      const stop = host.adapter.source.onToolsChanged?.(heard);
      const tool = host.register("heard", {}, async () => text(""));
      tool.disable();
      stop?.();
      tool.remove();
      expect(heard).toHaveBeenCalledTimes(2);
    });
    it("keeps the list until something changes", async () => {
      const context = { signal: new AbortController().signal };
      const before = await host.adapter.source.listTools(context);
      expect(await host.adapter.source.listTools(context)).toBe(before);
      host.register("fresh", {}, async () => text(""));
      expect(await host.adapter.source.listTools(context)).not.toBe(before);
    });
    it("refuses a cursor, since it never gives one", async () => {
      await expect(host.client.listTools({ cursor: "x" })).rejects.toMatchObject({ code: -32602 });
    });
    it("refuses to be applied twice", () => {
      expect(() => attach(host.server)).toThrow(/already applied/);
    });
    it("refuses to be applied to the server inside", () => {
      expect(() => attach(host.server.server)).toThrow(/already applied/);
    });
    it("leaves resources alone", async () => {
      expect((await host.client.readResource({ uri: "res://x" })).contents[0]).toMatchObject({ text: "R" });
    });
    it("leaves prompts alone", async () => {
      expect((await host.client.getPrompt({ name: "p" })).messages[0]?.content).toMatchObject({ text: "P" });
    });
    it("answers wrong arguments of a meta-tool with an error result", async () => {
      const request = { method: "tools/call" as const, params: { name: "execute", arguments: [1] } };
      const answer = await host.client.request(request as never, sdk.types.CallToolResultSchema);
      expect(answer).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(/an array/) as string }] });
    });
  });
}
