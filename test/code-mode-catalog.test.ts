import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { codeMode } from "../src/code-mode.js";
import type { CodeModeOptions } from "../src/options.js";
import { inProcessSandbox } from "../src/sandbox/quickjs/in-process.js";
import { textOf } from "./mcp/support.js";

const sandboxProvider = inProcessSandbox();
const answer = async () => ({ content: [{ type: "text" as const, text: "ok" }] });

function serverOf(count: number, words = 1): McpServer {
  const server = new McpServer({ name: "office", version: "1" });
  for (let index = 0; index < count; index++) {
    const description = `Does thing ${index}. ${"Words about it. ".repeat(words)}`;
    server.registerTool(`thing_${index}`, { description, inputSchema: { id: z.string() } }, answer);
  }
  return server;
}

async function connected(server: McpServer): Promise<{ client: Client; changes: () => number }> {
  const client = new Client({ name: "test", version: "1" });
  let count = 0;
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void count++);
  const [near, far] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(far), client.connect(near)]);
  return { client, changes: () => count };
}

const use = (server: McpServer, options: CodeModeOptions = {}) =>
  codeMode({ sandboxProvider, ...options }).apply(server);
const descriptionOf = async (client: Client, tool: string): Promise<string> =>
  (await client.listTools()).tools.find(({ name }) => name === tool)?.description ?? "";
/** Long enough for a notification that was not to come. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 20));

describe("the catalog in descriptions", () => {
  it("is by default the names of all tools, within the 2,048 characters that every client reads", async () => {
    const server = serverOf(12);
    use(server);
    const { client } = await connected(server);
    const execute = await descriptionOf(client, "execute");
    expect(execute).toMatch(/\nTools, COMPLETE, 12:\nthing_0, thing_1, thing_10, thing_11, thing_2/);
    expect(execute.length).toBeLessThanOrEqual(2_048);
    expect(await descriptionOf(client, "search")).not.toContain("thing_");
  });

  it("moves to search, which has more room, and says N of M when not all names fit", async () => {
    const server = serverOf(1_000);
    use(server);
    const { client } = await connected(server);
    const [search, execute] = [await descriptionOf(client, "search"), await descriptionOf(client, "execute")];
    expect(search).toMatch(/\nTools, \d+ of 1000; search finds the others:\nthing_0, .*thing_\d+$/);
    expect(Math.max(search.length, execute.length)).toBeLessThanOrEqual(2_048);
    expect(search.length).toBeGreaterThan(1_900);
    expect(execute).not.toContain("thing_");
  });

  it("leaves a description of the host's own alone, unless the host asks for the catalog in it", async () => {
    const alone = serverOf(3);
    use(alone, { executeDescription: "Mine." });
    expect(await descriptionOf((await connected(alone)).client, "execute")).toBe("Mine.");
    const asked = serverOf(3);
    use(asked, { executeDescription: "Mine.", catalogInDescription: "names" });
    expect(await descriptionOf((await connected(asked)).client, "execute")).toMatch(/^Mine\.\nTools, COMPLETE, 3:/);
  });

  it("is absent with false, and with no tools", async () => {
    for (const [count, catalogInDescription] of [[3, false] as const, [0, "summaries"] as const]) {
      const server = serverOf(count);
      use(server, { catalogInDescription });
      const { client } = await connected(server);
      expect(await descriptionOf(client, "execute")).not.toContain("Tools,");
    }
  });

  it("is the same bytes while the tools are, whatever order they come in", async () => {
    const listed = async (names: string[]): Promise<string> => {
      const server = new McpServer({ name: "office", version: "1" });
      for (const name of names) server.registerTool(name, { description: `Does ${name}.` }, answer);
      use(server, { catalogInDescription: "summaries" });
      const { client } = await connected(server);
      const [first, second] = [await client.listTools(), await client.listTools()];
      expect(JSON.stringify(second)).toBe(JSON.stringify(first));
      return JSON.stringify(first);
    };
    expect(await listed(["b", "a", "c"])).toBe(await listed(["c", "b", "a"]));
  });

  it("announces a change of the list when its bytes changed, and only then", async () => {
    const server = serverOf(2);
    const named = server.registerTool("named", { description: "One sentence. Another one." }, answer);
    use(server, { catalogInDescription: "summaries" });
    const { client, changes } = await connected(server);
    await client.listTools();
    await settled();
    const before = changes();
    named.update({ description: "One sentence. Another one, longer." });
    await settled();
    expect(changes()).toBe(before);
    named.update({ description: "A new sentence." });
    await settled();
    expect(changes()).toBe(before + 1);
    expect(await descriptionOf(client, "execute")).toContain("- named: A new sentence.");
  });

  it("never announces one where no description names tools", async () => {
    const server = serverOf(2);
    use(server, { catalogInDescription: false });
    const { client, changes } = await connected(server);
    await client.listTools();
    server.registerTool("late", {}, answer);
    await settled();
    expect(changes()).toBe(0);
  });
});

describe('directTools: "auto"', () => {
  it("leaves a small server as it is", async () => {
    const plain = await connected(serverOf(5));
    const server = serverOf(5);
    use(server, { directTools: "auto" });
    const { client } = await connected(server);
    expect(JSON.stringify(await client.listTools())).toBe(JSON.stringify(await plain.client.listTools()));
    const result = await client.callTool({
      name: "execute",
      arguments: { code: "return await tools.thing_1({ id: '1' })" },
    });
    expect(textOf(result)).toBe("ok");
  });

  it("hides the tools of a larger one", async () => {
    const server = serverOf(40, 20);
    use(server, { directTools: "auto" });
    const { client } = await connected(server);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["search", "execute"]);
  });

  it("leaves a tool with the name of a meta-tool to the server that was left as it is", async () => {
    const server = serverOf(1);
    server.registerTool("search", {}, answer);
    use(server, { directTools: "auto" });
    const { client } = await connected(server);
    expect(textOf(await client.callTool({ name: "search", arguments: {} }))).toBe("ok");
  });
});
