import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Progress } from "../../src/catalog/tool.js";
import { connect, nobody, take, textOf } from "./support.js";
import type { Nested } from "./surface.js";

type Token = string | number | undefined;

/** A server whose tool `works` tells its token and reports progress through the server, not through its request. */
async function workingServer() {
  const server = new McpServer({ name: "host", version: "1" });
  const tokens: Token[] = [];
  const report = (progressToken: Token, progress: number) =>
    server.server.notification({
      method: "notifications/progress",
      params: { progress, total: 2, progressToken: progressToken as string },
    });
  server.registerTool("works", {}, async ({ _meta }) => {
    tokens.push(_meta?.progressToken);
    await report(_meta?.progressToken, 1);
    await report(_meta?.progressToken, 2);
    return { content: [] };
  });
  const adapter = take(server);
  const client = await connect(server);
  onTestFinished(() => client.close());
  const others: unknown[] = [];
  client.fallbackNotificationHandler = async ({ method, params }) =>
    void others.push([method, params?.["progressToken"]]);
  client.onerror = (error) => others.push(error.message);
  return { client, adapter, tokens, report, others };
}

describe("progress that a nested call reports through the server", () => {
  it("reaches the listener of the call, and the client hears nothing of a token it never gave", async () => {
    const { client, others } = await workingServer();
    const answer = await client.callTool({
      name: "execute",
      arguments: { calls: [{ name: "works" }, { name: "works" }] },
    });
    const steps = [1, 2].map((progress) => ({ progress, total: 2 }));
    expect((JSON.parse(textOf(answer)) as Nested[]).map(({ progress }) => progress)).toEqual([steps, steps]);
    expect(others).toEqual([]);
  });
  it("is dropped after the end of the call", async () => {
    const { adapter, tokens, report, others, client } = await workingServer();
    const heard: Progress[] = [];
    await adapter.source.callTool("works", {}, { ...nobody(), onProgress: (progress) => heard.push(progress) });
    await report(tokens[0], 3);
    await client.ping();
    expect(heard).toHaveLength(2);
    expect(others).toEqual([]);
  });
  it("is dropped once the call was aborted", async () => {
    const { adapter, tokens, report } = await workingServer();
    const controller = new AbortController();
    const onProgress = vi.fn<(progress: Progress) => void>(() => controller.abort());
    await adapter.source.callTool("works", {}, { signal: controller.signal, onProgress });
    await report(tokens[0], 3);
    expect(onProgress).toHaveBeenCalledTimes(1);
  });
  it("leaves progress of a client's own call alone", async () => {
    const { client } = await workingServer();
    const onprogress = vi.fn<(progress: object) => void>();
    await client.callTool({ name: "works", arguments: {} }, undefined, { onprogress });
    expect(onprogress).toHaveBeenCalledTimes(2);
  });
});
