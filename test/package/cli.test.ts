import { spawn, type ChildProcess } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { afterEach, describe, expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const CLI = join(ROOT, "dist/cli.js");
const FIXTURE = join(ROOT, "test/gateway/fixtures/scripted-upstream.mjs");

const tools = [
  { name: "ping", on: { text: "pong" } },
  { name: "slow", on: { delayMs: 1_000 } },
];
const folder = mkdtempSync(join(tmpdir(), "mcp-codemode-bin-"));
const CONFIG = join(folder, "mcp.json");
writeFileSync(
  CONFIG,
  JSON.stringify({
    mcpServers: {
      a: { command: process.execPath, args: [FIXTURE], env: { UPSTREAM_SPEC: JSON.stringify({ tools }) } },
    },
  }),
);

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** The program as npm links it. */
function start(args: readonly string[], options: { cli?: string; env?: Record<string, string>; stdin?: string } = {}) {
  const child = spawn(process.execPath, [options.cli ?? CLI, ...args], { env: { ...process.env, ...options.env } });
  children.push(child);
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  if (options.stdin !== undefined) child.stdin.end(options.stdin);
  const ended = new Promise<Ended>((resolve) => child.once("close", (code) => resolve({ code, stdout, stderr })));
  const printed = async (pattern: RegExp): Promise<string> => {
    for (;;) {
      const found = pattern.exec(stderr)?.[1];
      if (found !== undefined) return found;
      await new Promise((resolve) => child.stderr.once("data", resolve));
    }
  };
  return { child, ended, printed };
}

async function connect(url: string, token?: string): Promise<Client> {
  const client = new Client({ name: "test", version: "1.0.0" });
  const requestInit = token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }) as never);
  return client;
}

const textOf = (result: unknown): string => String(((result as CallToolResult).content[0] as { text?: string }).text);
const execute = async (client: Client, code: string): Promise<string> =>
  textOf(await client.callTool({ name: "execute", arguments: { code } }));

describe("mcp-codemode serve", () => {
  it.each([
    ["code", ["search", "execute"]],
    ["classic", ["a__ping", "a__slow"]],
  ])("serves a client over stdio in mode %s, and ends with it (nomad 34)", async (mode, names) => {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [CLI, "serve", "--config", CONFIG, "--mode", mode],
      stderr: "pipe",
    });
    const client = new Client({ name: "test", version: "1.0.0" });
    await client.connect(transport);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(names);
    const { pid } = transport;
    await client.close();
    expect(() => process.kill(pid ?? 0, 0)).toThrow("ESRCH");
  });

  it("serves both endpoints by HTTP, and lets what runs come to its end at SIGTERM (nomad 34)", async () => {
    const token = "a-token-for-this-test";
    const { child, ended, printed } = start(["serve", "-c", CONFIG, "--http", "0"], {
      env: { MCP_CODEMODE_TOKEN: token },
    });
    const url = await printed(/Code mode: (\S+)\/mcp\/code/);
    await expect(connect(`${url}/mcp`)).rejects.toThrow(/401|token/i);
    const [classic, code] = await Promise.all([connect(`${url}/mcp`, token), connect(`${url}/mcp/code`, token)]);
    expect((await classic.listTools()).tools).toHaveLength(2);
    expect(await execute(code, "return await call_tool('a__ping')")).toBe("pong");
    const running = execute(code, "await call_tool('a__slow'); return 'finished'");
    await new Promise((resolve) => setTimeout(resolve, 300));
    child.kill("SIGTERM");
    expect(await running).toBe("finished");
    const { code: exitCode, stdout, stderr } = await ended;
    expect([exitCode, stdout]).toEqual([0, ""]);
    expect(stderr).not.toContain(token);
  });

  it("does not start beyond loopback without a token", async () => {
    const { code, stderr } = await start(["serve", "-c", CONFIG, "--http", "0", "--host", "0.0.0.0"]).ended;
    expect([code, stderr]).toEqual([2, expect.stringContaining("MCP_CODEMODE_TOKEN")]);
  });
});

describe("mcp-codemode exec", () => {
  it("runs a script and leaves no process behind (nomad 30, 33)", async () => {
    const { code, stdout } = await start(["exec", "-", "-c", CONFIG], { stdin: "return await tools.a.ping()" }).ended;
    expect(JSON.parse(stdout)).toMatchObject({ result: "pong", returncode: 0 });
    expect(code).toBe(0);
  });

  it("goes on where its reader stops reading", async () => {
    const { child, ended } = start(["exec", "-", "-c", CONFIG], { stdin: "return 'x'.repeat(20_000)" });
    child.stdout.destroy();
    expect((await ended).code).toBe(0);
  });
});

describe("without the SDK", () => {
  it("says with which command it runs", async () => {
    const bare = mkdtempSync(join(tmpdir(), "mcp-codemode-bare-"));
    const modules = join(bare, "node_modules");
    const own = join(modules, "mcp-codemode");
    mkdirSync(own, { recursive: true });
    cpSync(join(ROOT, "dist"), join(own, "dist"), { recursive: true });
    cpSync(join(ROOT, "package.json"), join(own, "package.json"));
    const { dependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { dependencies: object };
    for (const name of Object.keys(dependencies)) {
      mkdirSync(dirname(join(modules, name)), { recursive: true });
      symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
    }
    const cli = join(own, "dist/cli.js");
    const { code, stderr } = await start(["exec", "my script.ts", "--config", CONFIG, "--", "it's"], { cli }).ended;
    // Without the script it would fail later: the SDK is asked for when the upstreams start.
    expect([code, stderr.includes("cannot be read")]).toEqual([2, true]);
    const served = await start(["serve", "--config", CONFIG, "--http", "0"], { cli }).ended;
    expect(served.stderr).toContain(
      `npx -p mcp-codemode -p @modelcontextprotocol/sdk mcp-codemode serve --config ${CONFIG} --http 0`,
    );
    const piped = await start(["exec", "-", "-c", CONFIG, "--", "it's"], { cli, stdin: "1" }).ended;
    expect(piped.stderr).toContain(`mcp-codemode exec - -c ${CONFIG} -- 'it'\\''s'`);
    expect([served.code, piped.code]).toEqual([2, 2]);
    const help = await start(["--help"], { cli }).ended;
    expect(help.code).toBe(0);
  });
});
