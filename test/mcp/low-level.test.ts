import { afterEach, describe, expect, it, vi } from "vitest";
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { nobody, plainTool, take, textOf } from "./support.js";
import { type SdkV1, sdksV1 } from "./sdk-v1.js";

/** A low-level server with tools `one` and `two` on two pages. */
function pagedServer(sdk: SdkV1, apply: "first" | "last") {
  const server = new sdk.Server({ name: "low", version: "1" }, { capabilities: { tools: {} } });
  const adapter = apply === "first" ? take(server) : undefined;
  const lists = vi.fn<(cursor: string | undefined) => void>();
  server.setRequestHandler(sdk.types.ListToolsRequestSchema, async ({ params }) => {
    lists(params?.cursor);
    return params?.cursor === "more"
      ? { tools: [plainTool("two")] }
      : { tools: [plainTool("one")], nextCursor: "more" };
  });
  server.setRequestHandler(sdk.types.CallToolRequestSchema, async ({ params }) => ({
    content: [{ type: "text", text: `${params.name} ${JSON.stringify(params.arguments)}` }],
  }));
  return { server, lists, adapter: adapter ?? take(server) };
}

async function clientOf(sdk: SdkV1, server: Server) {
  const [clientSide, serverSide] = sdk.InMemoryTransport.createLinkedPair();
  const client = new sdk.Client({ name: "c", version: "1" });
  await server.connect(serverSide);
  await client.connect(clientSide);
  return client;
}

for (const sdk of await sdksV1()) {
  describe.each(["first", "last"] as const)(`${sdk.label}, low-level Server, applied %s`, (apply) => {
    const closing: (() => Promise<void>)[] = [];
    afterEach(async () => {
      for (const close of closing.splice(0)) await close();
    });
    const connected = async () => {
      const host = pagedServer(sdk, apply);
      const client = await clientOf(sdk, host.server);
      closing.push(() => client.close());
      return { ...host, client };
    };

    it("lists the meta-tools only", async () => {
      const { client } = await connected();
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["search", "execute"]);
    });
    it("reads all pages of the host", async () => {
      const { adapter } = await connected();
      expect((await adapter.source.listTools(nobody())).map(({ name }) => name)).toEqual(["one", "two"]);
    });
    it("asks the host each time, since its answer may depend on the caller", async () => {
      const { adapter, lists } = await connected();
      await adapter.source.listTools(nobody());
      await adapter.source.listTools(nobody());
      expect(lists).toHaveBeenCalledTimes(4);
    });
    it("calls the host's tools from within a meta-tool", async () => {
      const { client } = await connected();
      const calls = [{ name: "two", args: { a: 1 } }];
      const [nested] = JSON.parse(textOf(await client.callTool({ name: "execute", arguments: { calls } }))) as object[];
      expect(nested).toMatchObject({ result: { content: [{ text: 'two {"a":1}' }] } });
    });
    it("passes direct calls on", async () => {
      const { client } = await connected();
      expect(textOf(await client.callTool({ name: "one", arguments: {} }))).toBe("one {}");
    });
    it("says nothing to the client when the host's hidden tools change", async () => {
      const { client, server, adapter } = await connected();
      const changed = vi.fn<() => void>();
      client.setNotificationHandler(sdk.types.ToolListChangedNotificationSchema, changed);
      const heard = vi.fn<() => void>();
      adapter.source.onToolsChanged?.(heard);
      await server.sendToolListChanged();
      await client.listTools();
      expect([heard.mock.calls.length, changed.mock.calls.length]).toEqual([1, 0]);
    });
  });
}
