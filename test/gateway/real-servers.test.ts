import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { connected, execute, listed } from "./fixtures/clients.js";
import { closeGateways, gatewayOf, valueOf } from "./fixtures/upstreams.js";

afterEach(closeGateways);

const require = createRequire(import.meta.url);

/** The program of a published server. */
function program(name: string): string {
  const manifest = require.resolve(`@modelcontextprotocol/${name}/package.json`);
  const { bin } = JSON.parse(readFileSync(manifest, "utf8")) as { bin: Record<string, string> };
  return join(dirname(manifest), Object.values(bin)[0] ?? "");
}

describe("servers from npm behind a gateway", () => {
  it("work together in one script", async () => {
    const folder = mkdtempSync(join(tmpdir(), "mcp-codemode-files-"));
    writeFileSync(join(folder, "note.md"), "- Ada: 3\n- Grace: 4\n");
    const run = { command: process.execPath };
    const gateway = await gatewayOf(
      {
        files: { ...run, args: [program("server-filesystem"), "${FOLDER}"] },
        memory: { ...run, args: [program("server-memory")], env: { MEMORY_FILE_PATH: "${FOLDER}/memory.json" } },
        everything: { ...run, args: [program("server-everything")], deny: ["*image*"] },
      },
      {},
      { env: { ...process.env, FOLDER: folder } },
    );
    expect(gateway.status().map(({ id, state }) => `${id} ${state}`)).toEqual([
      "files ready",
      "memory ready",
      "everything ready",
    ]);
    const value = await valueOf(
      gateway,
      `const { content } = await tools.files.read_text_file({ path: ${JSON.stringify(join(folder, "note.md"))} });
       const rows = [...content.matchAll(/- (\\w+): (\\d+)/g)].map(([, name, hours]) => ({ name, hours: Number(hours) }));
       await tools.memory.create_entities({ entities: rows.map(({ name }) => ({ name, entityType: "person", observations: [] })) });
       const { entities } = await tools.memory.read_graph();
       const text = await call_tool("everything__get-sum", { a: rows[0].hours, b: rows[1].hours });
       return { people: entities.map(({ name }) => name), text };`,
    );
    expect(value).toEqual({ people: ["Ada", "Grace"], text: expect.stringContaining("7") });
    const classic = await listed(await connected(gateway, "classic"));
    expect(classic.length).toBeGreaterThan(30);
    expect(classic.some((name) => name.includes("image"))).toBe(false);
    const client = await connected(gateway);
    expect(await execute(client, "return await call_tool('everything__echo', { message: 'hi' })")).toContain("hi");
  });
});
