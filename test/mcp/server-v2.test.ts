import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import {
  createMcpHandler,
  InMemoryTransport,
  inputRequired,
  McpServer,
  requireScopes,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { z } from "zod";
import { attach } from "../../src/mcp/attach.js";
import type { HostAdapter } from "../../src/mcp/host-adapter.js";
import { nobody, take, textOf } from "./support.js";
import type { Nested, NestedOptions } from "./surface.js";

const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });

interface Seen {
  context?: ServerContext;
  aborted: boolean;
  started?: () => void;
  adapter?: HostAdapter;
}

/** Makes servers with the same tools; the adapter is put on at some point. */
function serverFactory(order: string, seen: Seen) {
  return () => {
    const server = new McpServer({ name: "host", version: "1" }, { capabilities: { logging: {} } });
    const put = (at: string) => {
      if (order === at) seen.adapter = take(server, { direct: ["kept"] });
    };
    put("first");
    server.registerTool(
      "add",
      {
        description: "Adds numbers",
        inputSchema: z.object({ a: z.number(), b: z.number().default(5) }),
        outputSchema: z.object({ sum: z.number() }),
      },
      async ({ a, b }) => ({ ...text("x"), structuredContent: { sum: a + b } }),
    );
    server.registerTool("wrong_output", { outputSchema: z.object({ sum: z.number() }) }, async () => ({
      content: [],
      structuredContent: { sum: "x" },
    }));
    put("in the middle");
    server.registerTool("kept", {}, async () => text("kept"));
    server.registerTool("probe", {}, async (context) => {
      seen.context = context;
      return text("seen");
    });
    server.registerTool("steps", {}, async ({ mcpReq }) => {
      for (const progress of [1, 2, 3]) {
        const progressToken = mcpReq._meta?.progressToken as string;
        await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: 3 } });
      }
      return text("done");
    });
    server.registerTool("ask_later", {}, async ({ mcpReq }) => {
      const requestedSchema = { type: "object" as const, properties: { yes: { type: "boolean" as const } } };
      if (mcpReq.inputResponses !== undefined) return text("answered");
      return inputRequired({ inputRequests: { q: inputRequired.elicit({ message: "yes?", requestedSchema }) } });
    });
    server.registerTool("slow", {}, ({ mcpReq }) => {
      seen.started?.();
      return new Promise((_, reject) => {
        mcpReq.signal.addEventListener("abort", () => {
          seen.aborted = true;
          reject(new Error("aborted"));
        });
      });
    });
    server.registerTool("boom", {}, async () => {
      throw new Error("it broke");
    });
    server.registerResource("r", "res://x", {}, async () => ({ contents: [{ uri: "res://x", text: "R" }] }));
    put("last");
    return server;
  };
}

const capabilities = { elicitation: {}, sampling: {} };
const authInfo = { token: "secret", clientId: "me", scopes: ["read"] };

/** 2025: one server, in memory. 2026-07-28: a fresh server for each request, over HTTP. */
async function connected(era: string, order: string) {
  const seen: Seen = { aborted: false };
  const factory = serverFactory(order, seen);
  const modern = era === "2026-07-28";
  const client = new Client(
    { name: "c", version: "1" },
    { capabilities, ...(modern && { versionNegotiation: { mode: "auto" as const } }) },
  );
  client.setRequestHandler("elicitation/create", async () => ({ action: "accept", content: { yes: true } }));
  if (modern) {
    const handler = createMcpHandler(factory);
    const fetch = (url: string | URL, init?: RequestInit) => handler.fetch(new Request(url, init), { authInfo });
    await client.connect(new StreamableHTTPClientTransport(new URL("http://test.local/mcp"), { fetch }));
  } else {
    const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
    await factory().connect(serverSide);
    const deliver = serverSide.onmessage;
    serverSide.onmessage = (message, extra) => deliver?.(message, { ...extra, authInfo });
    await client.connect(clientSide);
  }
  const execute = async (options: NestedOptions, request: object = {}): Promise<Nested[]> => {
    const answer = await client.callTool({ name: "execute", arguments: { ...options } }, request);
    return JSON.parse(textOf(answer)) as Nested[];
  };
  const nested = async (name: string, args: Record<string, unknown> = {}): Promise<Nested> => {
    const [only] = await execute({ calls: [{ name, args }] });
    if (only === undefined) throw new Error("no answer");
    return only;
  };
  return { seen, client, execute, nested };
}

const refusal = ({ result, rejected }: Nested): string =>
  rejected?.message ?? (result?.isError ? (result.content?.[0]?.text ?? "") : "");

const ERAS = ["2025-11-25", "2026-07-28"];
const ORDERS = ["first", "in the middle", "last"];

describe.each(ERAS.flatMap((era) => ORDERS.map((order) => ({ era, order }))))(
  "SDK 2, protocol $era, applied $order",
  ({ era, order }) => {
    let host: Awaited<ReturnType<typeof connected>>;
    beforeAll(async () => {
      host = await connected(era, order);
    });
    afterAll(() => host.client.close());

    it("speaks the protocol it is tested with", () => {
      expect(host.client.getNegotiatedProtocolVersion()).toBe(era);
    });
    it("lists the meta-tools and the tools that stay direct", async () => {
      expect((await host.client.listTools()).tools.map(({ name }) => name)).toEqual(["search", "execute", "kept"]);
    });
    it("finds hidden tools", async () => {
      const listed = JSON.parse(textOf(await host.client.callTool({ name: "search", arguments: {} }))) as object[];
      expect(listed).toEqual(expect.arrayContaining([expect.objectContaining({ name: "add" })]));
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
    it("rejects with the host's error for an unknown tool", async () => {
      expect((await host.nested("nope")).rejected).toMatchObject({
        code: -32602,
        message: expect.stringMatching(/nope/) as string,
      });
    });
    it("passes on who the caller is", async () => {
      await host.nested("probe");
      expect(host.seen.context?.http?.authInfo).toEqual(authInfo);
    });
    it.runIf(era === "2026-07-28")("passes on the HTTP request", async () => {
      await host.nested("probe");
      expect(host.seen.context?.http?.req?.headers.get("mcp-name")).toBe("execute");
    });
    it("sends progress of a nested call to the caller's context", async () => {
      expect((await host.nested("steps")).progress).toEqual([1, 2, 3].map((progress) => ({ progress, total: 3 })));
    });
    it("does not send progress of a nested call to the client", async () => {
      const onprogress = vi.fn<() => void>();
      await host.execute({ calls: [{ name: "steps" }] }, { onprogress });
      expect(onprogress).not.toHaveBeenCalled();
    });
    it("runs nested calls in parallel", async () => {
      const answers = await host.execute({ calls: [1, 2].map((a) => ({ name: "add", args: { a } })) });
      expect(answers.map(({ result }) => result?.structuredContent)).toEqual([{ sum: 6 }, { sum: 7 }]);
    });
    it("aborts a nested call when the client cancels", async () => {
      const started = new Promise<void>((resolve) => (host.seen.started = resolve));
      const controller = new AbortController();
      const call = host.execute({ calls: [{ name: "slow" }] }, { signal: controller.signal });
      await started;
      controller.abort(new Error("enough"));
      await expect(call).rejects.toThrow(/enough|abort/i);
      await vi.waitFor(() => expect(host.seen.aborted).toBe(true));
    });
    it("answers a direct call of a hidden tool as the host does", async () => {
      expect(await host.client.callTool({ name: "add", arguments: { a: 1 } })).toMatchObject({
        structuredContent: { sum: 6 },
      });
    });
    it("leaves resources alone", async () => {
      expect((await host.client.readResource({ uri: "res://x" })).contents[0]).toMatchObject({ text: "R" });
    });
    it("keeps the list until something changes", async () => {
      await host.client.callTool({ name: "search", arguments: {} });
      const source = host.seen.adapter?.source;
      const [one, two] = [await source?.listTools(nobody()), await source?.listTools(nobody())];
      expect(one).toBe(two);
    });
    it.runIf(era === "2025-11-25")("lets the SDK ask the user for a nested call", async () => {
      expect(await host.nested("ask_later")).toMatchObject({ result: { content: [{ text: "answered" }] } });
    });
    it.runIf(era === "2026-07-28")("says that a script cannot ask the user", async () => {
      expect(refusal(await host.nested("ask_later"))).toMatch(/asks the user for input.*call ask_later directly/);
    });
  },
);

describe("SDK 2, scopes of tools", () => {
  const challenge = vi.fn<(name: string) => void>();
  const factory = (wrap: boolean, check: ReturnType<typeof requireScopes>) => () => {
    const server = new McpServer({ name: "host", version: "1" });
    server.registerTool("scoped", { scopeChallenge: check }, async () => text("the secret"));
    if (wrap) take(server);
    return server;
  };
  const call = async (
    server: ReturnType<typeof factory>,
    name: string,
    args: object,
    scopes: string[] = ["read"],
  ): Promise<{ status: number; body: string }> => {
    const handler = createMcpHandler(server, { onerror: () => {} });
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "x", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const request = new Request("http://test.local/mcp", {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": name,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args, _meta } }),
    });
    const response = await handler.fetch(request, { authInfo: { token: "t", clientId: "c", scopes } });
    return { status: response.status, body: await response.text() };
  };
  const nestedCall = { calls: [{ name: "scoped" }] };

  it("are checked by the SDK for a direct call", async () => {
    expect(await call(factory(true, requireScopes("admin")), "scoped", {})).toMatchObject({ status: 403 });
  });
  it("are checked for a nested call, which names another tool to the SDK", async () => {
    const { body } = await call(factory(true, requireScopes("admin")), "execute", nestedCall);
    expect(body).toMatch(/insufficient_scope: scoped needs admin/);
    expect(body).not.toMatch(/the secret/);
  });
  it("let a nested call pass whose caller has them", async () => {
    const { body } = await call(factory(true, requireScopes("admin")), "execute", nestedCall, ["admin"]);
    expect(body).toMatch(/the secret/);
  });
  it("refuse when checking them fails, without its message", async () => {
    const { body } = await call(
      factory(true, () => {
        throw new Error("ldap://internal is down");
      }),
      "execute",
      nestedCall,
    );
    expect(body).toMatch(/could not be checked/);
    expect(body).not.toMatch(/ldap|the secret/);
  });
  it("refuse when the SDK has no way to check them", async () => {
    const server = () => {
      const made = factory(true, requireScopes("admin"))();
      const resolve = made.resolveScopeChallenge;
      // The HTTP entry asks first, for the tool that is named to it; the nested call asks next.
      made.resolveScopeChallenge = (context) => {
        challenge(String(context.request.params?.["name"]));
        Reflect.set(made, "resolveScopeChallenge", undefined);
        return resolve(context);
      };
      return made;
    };
    const { body } = await call(server, "execute", nestedCall);
    expect(challenge.mock.calls).toEqual([["execute"]]);
    expect(body).toMatch(/does not let them be checked/);
    expect(body).not.toMatch(/the secret/);
  });
});

describe("SDK 2, low-level Server", () => {
  const lowLevel = async (order: string) => {
    const server = new Server({ name: "low", version: "1" }, { capabilities: { tools: {} } });
    if (order === "first") take(server);
    server.setRequestHandler("tools/list", async () => ({ tools: [{ name: "one", inputSchema: { type: "object" } }] }));
    server.setRequestHandler("tools/call", async ({ params }) => text(`low: ${params.name}`));
    if (order === "last") take(server);
    const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
    const client = new Client({ name: "c", version: "1" });
    await server.connect(serverSide);
    await client.connect(clientSide);
    onTestFinished(() => client.close());
    return { client, server };
  };
  it.each(["first", "last"])("lists the meta-tools only, applied %s", async (order) => {
    const { client } = await lowLevel(order);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["search", "execute"]);
  });
  it.each(["first", "last"])("calls the host's tools from within a meta-tool, applied %s", async (order) => {
    const { client } = await lowLevel(order);
    const answer = await client.callTool({ name: "execute", arguments: { calls: [{ name: "one" }] } });
    expect(JSON.parse(textOf(answer))).toMatchObject([{ result: { content: [{ text: "low: one" }] } }]);
  });
  it("refuses to be applied twice", async () => {
    const { server } = await lowLevel("first");
    expect(() => attach(server)).toThrow(/already applied/);
  });
});
