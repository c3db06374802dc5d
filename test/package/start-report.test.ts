import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const SCRIPT = `
import { codeMode } from "mcp-codemode";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
const server = new McpServer({ name: "office", version: "1" });
server.registerTool("ping", { description: "Pings." }, async () => ({ content: [] }));
codeMode({ directTools: process.argv[1] }).apply(server);
const client = new Client({ name: "t", version: "1" });
const [near, far] = InMemoryTransport.createLinkedPair();
await Promise.all([server.connect(far), client.connect(near)]);
await client.listTools();
await client.listTools();
setTimeout(() => process.exit(0), 50);`;

function logOf(directTools: string, debug: string): string {
  const { stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", SCRIPT, directTools], {
    cwd: fileURLToPath(new URL("../../", import.meta.url)),
    env: { ...process.env, NODE_DEBUG: debug },
    encoding: "utf8",
  });
  return stderr;
}

describe("the debug log of the process", () => {
  it("says once what was decided for a server, with numbers", () => {
    const lines = logOf("auto", "mcp-codemode").trim().split("\n");
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(
      /^MCP-CODEMODE \d+: office: 1 tools, about \d+ tokens in tools\/list; left as they are \(directTools: auto\)$/,
    );
  });

  it("is silent unless it is asked for", () => {
    expect(logOf("auto", "")).toBe("");
  });
});
