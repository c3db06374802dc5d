import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { GatewayConfig } from "../../src/gateway/config.js";
import { findGatewayConfig, readGatewayConfig } from "../../src/gateway/config-file.js";
import { parseJsonText } from "../../src/gateway/json-text.js";
import { resolveConfig, type ReadOptions } from "../../src/gateway/resolve-config.js";
import type { HttpTarget, ResolvedUpstream, StdioTarget } from "../../src/gateway/resolved-upstream.js";
import { toolFilter } from "../../src/gateway/tool-filter.js";

async function resolved(config: GatewayConfig, options: ReadOptions = {}): Promise<Map<string, ResolvedUpstream>> {
  const { upstreams } = await resolveConfig(config, { env: {}, ...options });
  const entries = [...upstreams].map(([id, resolution]): [string, ResolvedUpstream] => {
    if (!("upstream" in resolution)) throw new Error(JSON.stringify(resolution));
    return [id, resolution.upstream];
  });
  return new Map(entries);
}

async function errorOf(entry: Record<string, unknown>, options: ReadOptions = {}): Promise<string> {
  const { upstreams } = await resolveConfig({ mcpServers: { files: entry as never } }, { env: {}, ...options });
  const resolution = upstreams.get("files");
  return resolution !== undefined && "error" in resolution ? resolution.error : "no error";
}

const stdioOf = (upstream: ResolvedUpstream | undefined): StdioTarget => upstream?.target as StdioTarget;
const httpOf = (upstream: ResolvedUpstream | undefined): HttpTarget => upstream?.target as HttpTarget;

describe("the configurations of MCP clients", () => {
  it("are read as Claude Desktop, Cursor and Windsurf write them", async () => {
    const upstreams = await resolved({
      mcpServers: {
        files: { command: "npx", args: ["-y", "server-files", "/data"], env: { MODE: "fast" } },
        remote: { url: "https://example.com/tenant/42/mcp?x=1", headers: { "X-Key": "k" } },
        surf: { serverUrl: "https://example.com/sse", type: "sse" },
      },
    });
    expect(stdioOf(upstreams.get("files"))).toMatchObject({
      command: "npx",
      args: ["-y", "server-files", "/data"],
      env: { MODE: "fast" },
    });
    expect(httpOf(upstreams.get("remote")).url.href).toBe("https://example.com/tenant/42/mcp?x=1");
    expect(httpOf(upstreams.get("remote"))).toMatchObject({ protocol: "auto", headers: { "X-Key": "k" } });
    expect(httpOf(upstreams.get("surf")).protocol).toBe("sse");
  });

  it("are read as VS Code writes them, with inputs that are asked for once", async () => {
    const asked: string[] = [];
    const upstreams = await resolved(
      {
        servers: {
          a: { type: "stdio", command: "a", env: { KEY: "${input:key}", OTHER: "${input:key}/${input:region}" } },
          b: { type: "http", url: "https://example.com/", headers: { Authorization: "Bearer ${input:key}" } },
        },
        inputs: [
          { id: "key", password: true },
          { id: "region", default: "eu" },
        ],
      },
      { ask: ({ id }) => (asked.push(id), id === "key" ? "s3cret" : undefined) },
    );
    expect(stdioOf(upstreams.get("a")).env).toMatchObject({ KEY: "s3cret", OTHER: "s3cret/eu" });
    expect(httpOf(upstreams.get("b")).headers).toEqual({ Authorization: "Bearer s3cret" });
    expect(asked.toSorted()).toEqual(["key", "region"]);
  });

  it("may hold comments and trailing commas", () => {
    const text =
      '\uFEFF{ // servers\n "mcpServers": { "a": { "command": "x", "args": ["-1", -1, null, true,], }, }, /* end */ } // that is all\n';
    expect(parseJsonText(text, "mcp.json")).toEqual({
      mcpServers: { a: { command: "x", args: ["-1", -1, null, true] } },
    });
    expect(Object.keys(parseJsonText('{ "__proto__": 1, }', "mcp.json") as object)).toEqual(["__proto__"]);
  });

  it.each(["{ a: 1 }", '{ "a": f() }', '{ "a": `x` }', "{} {}", '{ "a": 1', "{ ...x }", '{ "a": /x/ }'])(
    "say where they are no JSON: %s",
    (text) => {
      expect(() => parseJsonText(text, "mcp.json")).toThrow(/^mcp\.json is no JSON: /);
    },
  );

  it("say what is missing when there are no servers", async () => {
    await expect(resolveConfig({}, {})).rejects.toThrow("`mcpServers`");
  });

  it("are found where projects keep them", async () => {
    const folder = mkdtempSync(join(tmpdir(), "mcp-codemode-config-"));
    expect(findGatewayConfig(folder)).toBeUndefined();
    writeFileSync(join(folder, ".mcp.json"), '{ "mcpServers": {} }');
    expect(findGatewayConfig(folder)).toBe(join(folder, ".mcp.json"));
    await expect(readGatewayConfig(join(folder, ".mcp.json"))).resolves.toEqual({ mcpServers: {} });
    await expect(readGatewayConfig(join(folder, "none.json"))).rejects.toThrow("none.json");
  });
});

describe("references", () => {
  it("are filled from the environment, with defaults, and are not looked at again", async () => {
    const upstreams = await resolved(
      {
        mcpServers: {
          a: {
            command: "${BIN:-node}",
            args: ["${env:A}", "x${A}y${B:-b}", "${EMPTY}", "${EMPTY:-full}", "$A ${A"],
            cwd: "${userHome}",
          },
        },
      },
      { env: { A: "${B}", EMPTY: "" } },
    );
    const target = stdioOf(upstreams.get("a"));
    expect(target.command).toBe("node");
    expect(target.args).toEqual(["${B}", "x${B}yb", "", "full", "$A ${A"]);
    expect(target.cwd).toMatch(/^[/\\]|^[A-Z]:/);
  });

  it("that have no value name themselves, the server and the key, and take no other server down", async () => {
    const { upstreams } = await resolveConfig(
      { mcpServers: { bad: { command: "x", env: { KEY: "${GITHUB_TOKN}" } }, good: { command: "y" } } },
      { env: { GITHUB_TOKEN: "ghp_very-secret" } },
    );
    expect(upstreams.get("bad")).toEqual({
      error:
        'Server "bad", env.KEY: the environment variable GITHUB_TOKN is not set. Did you mean GITHUB_TOKEN? Set it, or write ${GITHUB_TOKN:-default}.',
    });
    expect(upstreams.get("good")).toHaveProperty("upstream");
  });

  it("of other kinds are refused: commands above all", async () => {
    expect(await errorOf({ command: "${cmd: cat /etc/passwd}" })).toMatch(/\$\{cmd:\.\.\.\} would run a program/);
    expect(await errorOf({ command: "${command:x}" })).toContain("is no reference");
    expect(await errorOf({ url: "http://x/${input:none}" })).toContain('"none"');
    expect(await errorOf({ command: "${constructor}" })).toContain("constructor is not set");
  });

  it("never show up in messages", async () => {
    const env = { TOKEN: "abcd-1234-efgh", SHORT: "1" };
    const { secrets, upstreams } = await resolveConfig(
      { mcpServers: { a: { url: "not a url ${TOKEN}", headers: { K: "literal-key-9" } }, b: { command: "${SHORT}" } } },
      { env },
    );
    expect(JSON.stringify(upstreams.get("a"))).not.toContain(env.TOKEN);
    expect(secrets.redact("got abcd-1234-efgh and literal-key-9 in 1 line")).toBe("got [TOKEN] and [K] in 1 line");
  });
});

describe("the entries of servers", () => {
  it("name server and key of what is wrong", async () => {
    expect(await errorOf({ command: 5 })).toBe('Server "files": command must be a string.');
    expect(await errorOf({ args: [] })).toContain("needs a `command` to start or a `url` to reach");
    expect(await errorOf({ url: "ftp://x" })).toContain("url must be a complete http or https address");
    expect(await errorOf({ url: "http://x", type: "websocket" })).toContain("type must be");
    expect(await errorOf({ command: "x", toolTimeoutMs: -1 })).toContain("toolTimeoutMs must be");
    expect(await errorOf({ command: "x", policy: "maybe" })).toContain("policy must be");
  });

  it("may be disabled, and may hold keys of other clients", async () => {
    const { upstreams } = await resolveConfig(
      { mcpServers: { off: { command: "${NOT_SET}", disabled: true }, on: { command: "x", autoApprove: ["*"] } } },
      { env: {} },
    );
    expect(upstreams.get("off")).toEqual({ disabled: true });
    expect(upstreams.get("on")).toHaveProperty("upstream");
  });

  it("give a child its own variables and what every program needs, nothing else of the host", async () => {
    const folder = mkdtempSync(join(tmpdir(), "mcp-codemode-env-"));
    writeFileSync(join(folder, ".env"), "A=1\nB=2\n");
    const upstreams = await resolved(
      { mcpServers: { a: { command: "x", envFile: join(folder, ".env"), env: { B: "own" } } } },
      { env: { PATH: "/bin", AWS_SECRET_ACCESS_KEY: "no" } },
    );
    expect(stdioOf(upstreams.get("a")).env).toEqual({ PATH: "/bin", A: "1", B: "own" });
  });

  it("take bearer tokens from the environment by name", async () => {
    const config = { mcpServers: { a: { url: "http://x/", bearerTokenEnv: "T" } } };
    const upstreams = await resolved(config, { env: { T: "tok" } });
    expect(httpOf(upstreams.get("a")).headers).toEqual({ Authorization: "Bearer tok" });
  });

  it("choose tools by patterns", () => {
    const admits = toolFilter(["read_*", "list", "*_all*s"], ["*secret*"]);
    const names = ["read_file", "read_", "list", "list_x", "read_secret_file", "get_all_things", "_alls", "_als"];
    expect(names.filter(admits)).toEqual(["read_file", "read_", "list", "get_all_things", "_alls"]);
    expect(toolFilter(undefined, undefined)("anything")).toBe(true);
    expect(toolFilter(["a*a"], undefined)("a")).toBe(false);
    expect(toolFilter(["*".repeat(60)], undefined)("a".repeat(5000))).toBe(true);
  });
});
