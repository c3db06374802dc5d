// A policy decides about every call, with the arguments the tool would get.
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { codeMode, policies, withTransforms } from "mcp-codemode";
import { z } from "zod";

const deleted = [];
const server = withTransforms(new McpServer({ name: "files", version: "1.0.0" }));
server.registerTool("list_files", { annotations: { readOnlyHint: true } }, async () => ({
  content: [{ type: "text", text: '["a.txt","b.txt"]' }],
}));
server.registerTool(
  "delete_file",
  { inputSchema: { name: z.string() }, annotations: { destructiveHint: true } },
  async ({ name }) => {
    deleted.push(name);
    return { content: [{ type: "text", text: "deleted" }] };
  },
);
server.registerTool("share_file", { inputSchema: { name: z.string(), people: z.number() } }, async (args) => ({
  content: [{ type: "text", text: JSON.stringify(args) }],
}));

/** Ready policies are functions: one of your own can ask them. */
function office(call) {
  if (call.name === "share_file" && call.arguments.people > 10) {
    return { action: "allow", arguments: { ...call.arguments, people: 10 } };
  }
  return policies.denyDestructive(call);
}

server.use(codeMode({ policy: office }));
const [near, far] = InMemoryTransport.createLinkedPair();
const client = new Client({ name: "policy", version: "1.0.0" });
await Promise.all([server.connect(far), client.connect(near)]);
const execute = (code) => client.callTool({ name: "execute", arguments: { code } });

const refused = await execute(`
const [first] = await tools.list_files();
await tools.delete_file({ name: first });`);
console.log(refused.content[0].text);
assert.equal(refused.isError, true);
assert.equal(refused._meta["mcp-codemode/run"].kind, "approval");
assert.match(refused.content[0].text, /delete_file.*destructive tools are not allowed/);

// A script can catch the refusal and go on.
const caught = await execute('try { await tools.delete_file({ name: "a.txt" }) } catch (error) { return error.kind }');
assert.equal(caught.content[0].text, "approval");

// The policy changed an argument: the tool got 10.
const edited = await execute('await tools.share_file({ name: "a.txt", people: 500 })');
console.log(edited.content[0].text);
assert.deepEqual(JSON.parse(edited.content[0].text), { name: "a.txt", people: 10 });

// A client's own call of the hidden tool is decided by the same policy.
const direct = await client.callTool({ name: "delete_file", arguments: { name: "a.txt" } });
console.log(direct.content[0].text);
assert.equal(direct.isError, true);
assert.deepEqual(deleted, []);
await client.close();
