// Servers of a configuration file behind one gateway: every tool on /mcp, search and execute on /mcp/code.
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { createGateway, readGatewayConfig } from "mcp-codemode/gateway";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

async function connect(url) {
  const client = new Client({ name: "example", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client;
}

const textOf = ({ content }) => content.map(({ text }) => text).join("\n");
const namesOf = async (client) => (await client.listTools()).tools.map(({ name }) => name);

const SCRIPT = `
const { content } = await tools.files.list_directory({ path: FOLDER });
const notes = [...content.matchAll(/\\[FILE\\] (.+\\.md)/g)].map(([, name]) => name);
await tools.memory.create_entities({
  entities: notes.map((name) => ({ name, entityType: "note", observations: [] })),
});
const { entities } = await tools.memory.read_graph();
return entities.map(({ name }) => name).sort();`;

const notes = await mkdtemp(join(tmpdir(), "gateway-example-"));
await writeFile(join(notes, "monday.md"), "- milk\n");
await writeFile(join(notes, "tuesday.md"), "- bread\n");
const env = { ...process.env, NOTES: notes, SERVERS: here("../../node_modules/@modelcontextprotocol") };
const gateway = await createGateway(await readGatewayConfig(here("mcp.json")), { env });
try {
  await gateway.ready();
  for (const { id, state, tools, reason } of gateway.status()) console.log(id, state, tools, reason ?? "");

  const { url } = await gateway.listen();
  const [classic, code] = await Promise.all([connect(`${url}/mcp`), connect(`${url}/mcp/code`)]);
  const all = await namesOf(classic);
  console.log("/mcp:     ", all.length, "tools");
  console.log("/mcp/code:", (await namesOf(code)).join(", "));
  assert.ok(all.includes("memory__read_graph") && !all.includes("files__write_file"));
  // "resume", since the policy of a server might ask a person.
  assert.deepEqual(await namesOf(code), ["search", "execute", "resume"]);

  const script = `const FOLDER = ${JSON.stringify(notes)};${SCRIPT}`;
  const result = await code.callTool({ name: "execute", arguments: { code: script } });
  console.log("execute:  ", textOf(result));
  assert.deepEqual(JSON.parse(textOf(result)), ["monday.md", "tuesday.md"]);

  const found = await code.callTool({ name: "search", arguments: { query: "read a file" } });
  assert.match(textOf(found), /files__read_text_file/);
  assert.match(textOf(found), /Server "broken" is not available.*NO_SUCH_KEY is not set/);
  await Promise.all([classic.close(), code.close()]);
} finally {
  await gateway.close();
  await rm(notes, { recursive: true, force: true });
}
