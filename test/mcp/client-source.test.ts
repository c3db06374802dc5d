import { Client as ClientV2, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import {
  createMcpHandler,
  InMemoryTransport as InMemoryV2,
  McpServer as McpServerV2,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { ConfigurationError } from "../../src/errors.js";
import { clientSource } from "../../src/mcp/client-source.js";
import { type SdkV1, sdksV1 } from "./sdk-v1.js";
import { connect, nobody, plainTool } from "./support.js";

const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });

/** A server behind a client, whatever the SDK. */
interface Upstream {
  client: object;
  register: (name: string) => void;
  /** The user's own handler for list_changed. */
  heard: () => number;
  aborted: () => boolean;
  started: Promise<void>;
}

async function upstreamV1(sdk: SdkV1): Promise<Upstream> {
  const { z: zod, types } = sdk;
  const server = new sdk.McpServer({ name: "upstream", version: "1" });
  let aborted = false;
  let start = (): void => {};
  const started = new Promise<void>((resolve) => (start = resolve));
  const register = (name: string, config: object, handler: (...args: never[]) => unknown): void =>
    void server.registerTool(name, config as never, handler as never);
  register("add", { inputSchema: { a: zod.number(), b: zod.number() } }, async ({ a, b }: { a: number; b: number }) =>
    text(String(a + b)),
  );
  register("boom", {}, async () => {
    throw new Error("it broke");
  });
  register(
    "steps",
    {},
    async (extra: { _meta?: { progressToken?: unknown }; sendNotification(n: object): Promise<void> }) => {
      const progressToken = extra._meta?.progressToken;
      await extra.sendNotification({
        method: "notifications/progress",
        params: { progressToken, progress: 1, total: 2 },
      });
      return text(String(progressToken !== undefined));
    },
  );
  register("slow", {}, (extra: { signal: AbortSignal }) => {
    start();
    return new Promise((_, reject) => {
      extra.signal.addEventListener("abort", () => {
        aborted = true;
        reject(new Error("aborted"));
      });
    });
  });
  const [clientSide, serverSide] = sdk.InMemoryTransport.createLinkedPair();
  const client = new sdk.Client({ name: "c", version: "1" });
  const heard = vi.fn<() => void>();
  client.setNotificationHandler(types.ToolListChangedNotificationSchema, heard);
  await server.connect(serverSide);
  await client.connect(clientSide);
  return {
    client,
    register: (name) => register(name, {}, async () => text(name)),
    heard: () => heard.mock.calls.length,
    aborted: () => aborted,
    started,
  };
}

async function upstreamV2(): Promise<Upstream> {
  const server = new McpServerV2({ name: "upstream", version: "1" });
  let aborted = false;
  let start = (): void => {};
  const started = new Promise<void>((resolve) => (start = resolve));
  server.registerTool("add", { inputSchema: z.object({ a: z.number(), b: z.number() }) }, async ({ a, b }) =>
    text(String(a + b)),
  );
  server.registerTool("boom", {}, async () => {
    throw new Error("it broke");
  });
  server.registerTool("steps", {}, async ({ mcpReq }: ServerContext) => {
    const progressToken = mcpReq._meta?.progressToken;
    if (progressToken !== undefined) {
      await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress: 1, total: 2 } });
    }
    return text(String(progressToken !== undefined));
  });
  server.registerTool("slow", {}, ({ mcpReq }: ServerContext) => {
    start();
    return new Promise((_, reject) => {
      mcpReq.signal.addEventListener("abort", () => {
        aborted = true;
        reject(new Error("aborted"));
      });
    });
  });
  const [clientSide, serverSide] = InMemoryV2.createLinkedPair();
  const client = new ClientV2({ name: "c", version: "1" });
  const heard = vi.fn<() => void>();
  client.setNotificationHandler("notifications/tools/list_changed", heard);
  await server.connect(serverSide);
  await client.connect(clientSide);
  return {
    client,
    register: (name) => void server.registerTool(name, {}, async () => text(name)),
    heard: () => heard.mock.calls.length,
    aborted: () => aborted,
    started,
  };
}

const kinds: { label: string; make: () => Promise<Upstream> }[] = [
  ...(await sdksV1()).map((sdk) => ({ label: sdk.label, make: () => upstreamV1(sdk) })),
  { label: "SDK 2, protocol 2025-11-25", make: upstreamV2 },
];

describe.each(kinds)("clientSource over a client of $label", ({ make }) => {
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });
  const made = async () => {
    const upstream = await make();
    const source = clientSource(upstream.client);
    closing.push(async () => source.close?.());
    return { ...upstream, source };
  };

  it("has the name of the server", async () => {
    expect((await made()).source.name).toBe("upstream");
  });
  it("has the name it is given", async () => {
    const { client } = await made();
    expect(clientSource(client, { name: "mine" }).name).toBe("mine");
  });
  it("lists the tools", async () => {
    const { source } = await made();
    const names = (await source.listTools(nobody())).map(({ name }) => name);
    expect(names).toEqual(["add", "boom", "steps", "slow"]);
  });
  it("calls a tool", async () => {
    const { source } = await made();
    expect(await source.callTool("add", { a: 1, b: 2 }, nobody())).toMatchObject(text("3"));
  });
  it("gives the error of a tool as a result", async () => {
    const { source } = await made();
    expect(await source.callTool("boom", {}, nobody())).toMatchObject({ isError: true, ...text("it broke") });
  });
  it("passes progress on", async () => {
    const { source } = await made();
    const onProgress = vi.fn<(progress: object) => void>();
    await source.callTool("steps", {}, { ...nobody(), onProgress });
    expect(onProgress.mock.calls).toMatchObject([[{ progress: 1, total: 2 }]]);
  });
  it("asks for no progress when nobody listens", async () => {
    const { source } = await made();
    expect(await source.callTool("steps", {}, nobody())).toMatchObject(text("false"));
  });
  it("cancels a call on the server when the signal aborts", async () => {
    const { source, started, aborted } = await made();
    const controller = new AbortController();
    const call = source.callTool("slow", {}, { signal: controller.signal });
    await started;
    controller.abort(new Error("enough"));
    await expect(call).rejects.toThrow(/enough|abort/i);
    await vi.waitFor(() => expect(aborted()).toBe(true));
  });
  it("does not start a call whose signal has aborted", async () => {
    const { source } = await made();
    await expect(
      source.callTool("add", { a: 1, b: 2 }, { signal: AbortSignal.abort(new Error("gone")) }),
    ).rejects.toThrow(/gone|abort/i);
  });
  it("gives up after `timeoutMs`", async () => {
    const { client } = await made();
    await expect(clientSource(client, { timeoutMs: 20 }).callTool("slow", {}, nobody())).rejects.toThrow(/timed out/i);
  });
  it("keeps the list until the server tells of a change", async () => {
    const { source, register } = await made();
    const before = await source.listTools(nobody());
    expect(await source.listTools(nobody())).toBe(before);
    const changed = new Promise<void>((resolve) => source.onToolsChanged?.(resolve));
    register("late");
    await changed;
    expect((await source.listTools(nobody())).map(({ name }) => name)).toContain("late");
  });
  it("leaves the user's own handler of changes alone", async () => {
    const { register, heard } = await made();
    register("late");
    await vi.waitFor(() => expect(heard()).toBe(1));
  });
  it("tells all sources of one client, and stops when asked to", async () => {
    const { source, client, register, heard } = await made();
    const [one, two] = [vi.fn<() => void>(), vi.fn<() => void>()];
    source.onToolsChanged?.(one)();
    clientSource(client).onToolsChanged?.(two);
    register("late");
    await vi.waitFor(() => expect(heard()).toBe(1));
    expect([one.mock.calls.length, two.mock.calls.length]).toEqual([0, 1]);
  });
  it("disconnects the client when it is closed", async () => {
    const { source } = await made();
    await source.close?.();
    await expect(source.callTool("add", { a: 1, b: 2 }, nobody())).rejects.toThrow(/not connected|closed/i);
  });
  it("leaves no listener on a signal that outlives the call", async () => {
    const { source } = await made();
    const { signal } = new AbortController();
    const add = vi.spyOn(signal, "addEventListener");
    const remove = vi.spyOn(signal, "removeEventListener");
    await source.callTool("add", { a: 1, b: 2 }, { signal });
    expect(remove.mock.calls.length).toBe(add.mock.calls.length);
  });
});

describe("clientSource", () => {
  it("works over HTTP in protocol 2026-07-28", async () => {
    const handler = createMcpHandler(() => {
      const server = new McpServerV2({ name: "modern", version: "1" });
      server.registerTool("hello", { inputSchema: z.object({}) }, async () => text("hi"));
      return server;
    });
    const client = new ClientV2({ name: "c", version: "1" }, { versionNegotiation: { mode: "auto" } });
    const fetch = (url: string | URL, init?: RequestInit) => handler.fetch(new Request(url, init));
    await client.connect(new StreamableHTTPClientTransport(new URL("http://test.local/mcp"), { fetch }));
    const source = clientSource(client);
    expect(client.getProtocolEra()).toBe("modern");
    expect((await source.listTools(nobody())).map(({ name }) => name)).toEqual(["hello"]);
    expect(await source.callTool("hello", {}, nobody())).toMatchObject(text("hi"));
    await source.close?.();
  });
  it.each([null, "client", {}, new Server({ name: "s", version: "1" })])("refuses what is no client: %s", (value) => {
    expect(() => clientSource(value as never)).toThrow(ConfigurationError);
  });

  const scripted = async (pages: (cursor: string | undefined) => object, listChanged = true) => {
    const { CallToolRequestSchema, ListToolsRequestSchema } = await import("@modelcontextprotocol/sdk/types.js");
    const server = new Server({ name: "s", version: "1" }, { capabilities: { tools: { listChanged } } });
    const lists = vi.fn<(cursor: string | undefined) => void>();
    server.setRequestHandler(ListToolsRequestSchema, async ({ params }) => {
      lists(params?.cursor);
      return pages(params?.cursor) as never;
    });
    server.setRequestHandler(CallToolRequestSchema, async () => ({
      content: [],
      structuredContent: { n: "no number" },
    }));
    return { source: clientSource(await connect(server)), lists };
  };
  it("reads all pages", async () => {
    const { source } = await scripted((cursor) =>
      cursor === "b" ? { tools: [plainTool("two")] } : { tools: [plainTool("one")], nextCursor: "b" },
    );
    expect((await source.listTools(nobody())).map(({ name }) => name)).toEqual(["one", "two"]);
  });
  it("stops at a cursor that comes back", async () => {
    const { source, lists } = await scripted(() => ({ tools: [], nextCursor: "again" }));
    await source.listTools(nobody());
    expect(lists.mock.calls).toEqual([[undefined], ["again"]]);
  });
  it("lists again after a list that failed", async () => {
    let isDown = true;
    const { source } = await scripted(() => {
      if (isDown) throw new Error("down");
      return { tools: [plainTool("up")] };
    });
    await expect(source.listTools(nobody())).rejects.toThrow(/down/);
    isDown = false;
    expect(await source.listTools(nobody())).toHaveLength(1);
  });
  it("lists again after a while when the server never tells of changes", async () => {
    const { source, lists } = await scripted(() => ({ tools: [] }), false);
    const now = vi.spyOn(performance, "now").mockReturnValue(1_000);
    await source.listTools(nobody());
    now.mockReturnValue(30_999);
    await source.listTools(nobody());
    expect(lists).toHaveBeenCalledTimes(1);
    now.mockReturnValue(31_001);
    await source.listTools(nobody());
    now.mockRestore();
    expect(lists).toHaveBeenCalledTimes(2);
  });
  it("rejects when a result does not fit the tool's outputSchema", async () => {
    const outputSchema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
    const { source } = await scripted(() => ({ tools: [{ ...plainTool("wrong"), outputSchema }] }));
    await source.listTools(nobody());
    await expect(source.callTool("wrong", {}, nobody())).rejects.toMatchObject({ code: -32602 });
  });
});
