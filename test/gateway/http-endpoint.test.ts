import { request } from "node:http";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterEach, describe, expect, it } from "vitest";
import type { HttpEndpoint } from "../../src/gateway/endpoints/http-endpoint.js";
import type { Gateway } from "../../src/gateway/gateway.js";
import { call, connectedTo, execute, listed } from "./fixtures/clients.js";
import { HttpUpstream } from "./fixtures/http-upstream.js";
import { closeGateways, gatewayOf, scripted, until } from "./fixtures/upstreams.js";

afterEach(closeGateways);

const TOKEN = "a-token-of-more-than-16";
const ping = { name: "ping", on: { text: "pong" } };
const slow = { name: "slow", on: { delayMs: 600 } };
const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
};

async function serving(
  options: Parameters<Gateway["listen"]>[0] = {},
): Promise<{ gateway: Gateway; endpoint: HttpEndpoint }> {
  const gateway = await gatewayOf({ a: scripted({ tools: [ping, slow] }) });
  return { gateway, endpoint: await gateway.listen(options) };
}

/** A POST with any headers, `host` too. */
function post(url: string, headers: Record<string, string> = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const body = JSON.stringify(initialize);
    const sent = request(
      url,
      {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
      },
      (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
        response.destroy();
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}

/** Ends the session, as a client that leaves politely does. */
async function terminate(client: Client | undefined): Promise<void> {
  const transport = client?.transport as unknown as StreamableHTTPClientTransport;
  await transport.terminateSession();
}

describe("the HTTP endpoint of a gateway", () => {
  it("serves every tool on /mcp and code mode on /mcp/code from one process (noxus 1, 2)", async () => {
    const { endpoint } = await serving();
    expect(endpoint.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const [classic, code] = await Promise.all([
      connectedTo(`${endpoint.url}/mcp`),
      connectedTo(`${endpoint.url}/mcp/code`),
    ]);
    expect(await listed(classic)).toEqual(["a__ping", "a__slow"]);
    expect(await listed(code)).toEqual(["search", "execute"]);
    expect(await call(classic, "a__ping")).toBe(await execute(code, "return await call_tool('a__ping')"));
    await Promise.all([classic.close(), code.close()]);
  });

  it("keeps sessions apart, and ends one when its client says so", async () => {
    const { endpoint } = await serving();
    const clients = await Promise.all([1, 2, 3].map(() => connectedTo(`${endpoint.url}/mcp/code`)));
    const values = await Promise.all(
      clients.map((client, index) => execute(client, `globalThis.x = ${index}; return x`)),
    );
    expect(values).toEqual(["0", "1", "2"]);
    await terminate(clients[0]);
    expect(await post(`${endpoint.url}/mcp/code`, { "mcp-session-id": "no-such-session" })).toBe(404);
    await Promise.all(clients.map((client) => client.close()));
  });

  it("refuses other host names and web pages of other origins", async () => {
    const { endpoint } = await serving({ allowedOrigins: ["https://app.example.com"], allowedHosts: ["gateway.lan"] });
    const url = `${endpoint.url}/mcp/code`;
    expect(await post(url, { host: "evil.example.com" })).toBe(403);
    expect(await post(url, { host: `localhost:${endpoint.port}` })).toBe(200);
    expect(await post(url, { host: "gateway.lan:80" })).toBe(200);
    expect(await post(url, { origin: "https://evil.example.com" })).toBe(403);
    expect(await post(url, { origin: "null" })).toBe(403);
    expect(await post(url, { origin: "https://app.example.com" })).toBe(200);
    expect(await post(url, { origin: "http://localhost:5173" })).toBe(200);
  });

  it("lets allowed web pages ask first", async () => {
    const { endpoint } = await serving();
    const asked = await fetch(`${endpoint.url}/mcp`, {
      method: "OPTIONS",
      headers: { origin: "http://localhost:6274" },
    });
    expect(asked.status).toBe(204);
    expect(asked.headers.get("access-control-allow-origin")).toBe("http://localhost:6274");
    const foreign = await fetch(`${endpoint.url}/mcp`, {
      method: "OPTIONS",
      headers: { origin: "https://evil.example" },
    });
    expect(foreign.headers.get("access-control-allow-origin")).toBeNull();
  });

  it("lets nobody in without the token, and does not send it upstream", async () => {
    const upstream = new HttpUpstream({ tools: [ping] });
    const gateway = await gatewayOf({ a: { url: await upstream.listen() } });
    const { url } = await gateway.listen({ token: TOKEN });
    expect(await post(`${url}/mcp/code`)).toBe(401);
    expect(await post(`${url}/mcp/code`, { authorization: `Bearer ${TOKEN}x` })).toBe(401);
    expect(await post(`${url}/mcp`, { authorization: `Basic ${TOKEN}` })).toBe(401);
    const client = await connectedTo(`${url}/mcp/code`, TOKEN);
    expect(await execute(client, "return await call_tool('a__ping')")).toBe("pong");
    expect(upstream.requests.some(({ headers }) => headers.authorization !== undefined)).toBe(false);
    await client.close();
    await gateway.close();
    await upstream.close();
  });

  it("does not start beyond loopback without a token, or with one that can be guessed", async () => {
    const gateway = await gatewayOf({ a: scripted({ tools: [ping] }) });
    await expect(gateway.listen({ host: "0.0.0.0" })).rejects.toThrow(/other machines and needs a token/);
    await expect(gateway.listen({ host: "::" })).rejects.toThrow(/needs a token/);
    await expect(gateway.listen({ host: "0.0.0.0", token: "short" })).rejects.toThrow(/at least 16 characters/);
    const { port } = await gateway.listen({ host: "0.0.0.0", token: TOKEN });
    expect(await post(`http://127.0.0.1:${port}/mcp`, { authorization: `Bearer ${TOKEN}`, host: "any.name" })).toBe(
      200,
    );
  });

  it("says how it is: everything to those who may use it, little to others", async () => {
    const { endpoint } = await serving({ token: TOKEN });
    const open = await fetch(`${endpoint.url}/health`);
    expect([open.status, await open.json()]).toEqual([200, { status: "ok" }]);
    const known = await fetch(`${endpoint.url}/health`, { headers: { authorization: `Bearer ${TOKEN}` } });
    expect(await known.json()).toMatchObject({ status: "ok", upstreams: [{ id: "a", state: "ready", tools: 2 }] });
    expect((await fetch(`${endpoint.url}/nothing`)).status).toBe(404);
  });

  it("lets scripts that run come to their end when it is closed, and takes no new ones", async () => {
    const { gateway, endpoint } = await serving();
    const client = await connectedTo(`${endpoint.url}/mcp/code`);
    let done = "";
    const running = execute(client, "await call_tool('a__slow'); return 'done'").then((text) => (done = text));
    await new Promise((resolve) => setTimeout(resolve, 150));
    const closed = gateway.close({ drainMs: 5_000 });
    expect(await post(`${endpoint.url}/mcp/code`)).toBe(503);
    expect((await fetch(`${endpoint.url}/health`)).status).toBe(503);
    expect(await running).toBe("done");
    await closed;
    expect(done).toBe("done");
    await expect(fetch(`${endpoint.url}/health`)).rejects.toThrow("fetch failed");
  });

  it("answers those who still run with an error when it is closed without waiting", async () => {
    const { gateway, endpoint } = await serving();
    const client = await connectedTo(`${endpoint.url}/mcp/code`);
    const running = execute(client, "return await call_tool('a__slow')");
    await new Promise((resolve) => setTimeout(resolve, 150));
    await gateway.close();
    expect(await running).toMatch(/the gateway was closed/);
  });

  it("goes on when its clients leave in the middle of a call", async () => {
    const { endpoint } = await serving();
    for (let time = 0; time < 3; time++) {
      const client = await connectedTo(`${endpoint.url}/mcp/code`);
      const running = execute(client, "return await call_tool('a__slow')").catch(() => "gone");
      await new Promise((resolve) => setTimeout(resolve, 50));
      await client.close();
      await running;
    }
    const client = await connectedTo(`${endpoint.url}/mcp/code`);
    expect(await execute(client, "return await call_tool('a__ping')")).toBe("pong");
    await until(() => true);
    await client.close();
  });
});

describe("a gateway that many clients come to", () => {
  it("keeps nothing of those who have left, or never came to a session", async () => {
    const { gateway, endpoint } = await serving();
    let listeners = 0;
    const listen = gateway.source.onToolsChanged?.bind(gateway.source);
    gateway.source.onToolsChanged = (listener) => {
      listeners++;
      const stop = listen?.(listener);
      return () => {
        listeners--;
        stop?.();
      };
    };
    const client = await connectedTo(`${endpoint.url}/mcp/code`);
    expect(await execute(client, "return 1")).toBe("1");
    expect(listeners).toBeGreaterThan(0);
    await terminate(client);
    await client.close();
    expect((await fetch(`${endpoint.url}/mcp/code`, { headers: { accept: "text/event-stream" } })).status).toBe(400);
    await until(() => listeners === 0);
  });
});
