// Three MCP servers from npm behind one code-mode server: `npm run demo`.
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { clientSource, codeMode, withTransforms } from "mcp-codemode";
import { makeFolder, startServers } from "./servers.mjs";
import { recorded, table, textOf, tokens } from "./tokens.mjs";

const QUERY =
  "list allowed directories, list files in a directory, read a text file, create entities and relations, read the graph, sum two numbers";

const SCRIPT = `const { content: allowed } = await call_tool("list_allowed_directories");
const folder = allowed.split("\\n")[1];
const { content: listing } = await call_tool("list_directory", { path: folder });
const names = [...listing.matchAll(/\\[FILE\\] (.+\\.md)/g)].map((match) => match[1]);
const notes = await Promise.all(names.map((name) => call_tool("read_text_file", { path: folder + "/" + name })));

// Tasks are lines such as "- Ada: write the parser (5 h)".
const tasks = notes.flatMap(({ content }) =>
  [...content.matchAll(/- (\\w+): (.+) \\((\\d+) h\\)/g)].map(([, who, what, hours]) => ({ who, what, hours: +hours })));
const people = [...new Set(tasks.map(({ who }) => who))];

await tools.create_entities({ entities: [
  ...people.map((name) => ({ name, entityType: "person", observations: [] })),
  ...tasks.map(({ what, hours }) => ({ name: what, entityType: "task", observations: [hours + " hours"] })),
] });
await tools.create_relations({ relations: tasks.map(({ who, what }) => ({ from: who, relationType: "does", to: what })) });
const graph = await tools.read_graph();

let total = 0;
for (const { hours } of tasks) {
  const said = await call_tool("get-sum", { a: total, b: hours }); // "The sum of 5 and 3 is 8."
  total = Number(said.match(/is (\\d+)/)[1]);
}
return { notes: names.length, entities: graph.entities.length, relations: graph.relations.length, people, hours: total };
`;

const EXPECTED = { notes: 3, entities: 8, relations: 5, people: ["Ada", "Grace", "Linus"], hours: 20 };

const print = (heading, text) => console.log(`\n--- ${heading}\n${text}`);

/** One server with nothing of its own: the tools of all the others, behind search and execute. */
async function serveInFrontOf(clients, calls) {
  const sources = Object.entries(clients).map(([name, client]) => recorded(clientSource(client, { name }), calls));
  const server = withTransforms(new McpServer({ name: "desk", version: "1.0.0" }));
  server.use(codeMode({ sources }));
  const client = new Client({ name: "demo", version: "1.0.0" });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(far), client.connect(near)]);
  return client;
}

/** What a model does: looks at the tools, searches once, runs one script. */
async function talkTo(client) {
  const { tools } = await client.listTools();
  print("tools/list", tools.map(({ name, description }) => `${name}: ${description.split("\n")[0]}`).join("\n"));
  const search = { name: "search", arguments: { query: QUERY } };
  print("search", QUERY);
  const found = textOf(await client.callTool(search));
  print("search replies", found);
  const execute = { name: "execute", arguments: { code: SCRIPT } };
  print("execute", SCRIPT.trimEnd());
  const result = await client.callTool(execute);
  print("execute replies", textOf(result));
  return { tools, search, found, execute, result };
}

/** The same calls as a model without code mode would have made them, against what was written and read here. */
function compare(ownTools, calls, { tools, search, found, execute, result }, { notes }) {
  // The name of a temporary folder is another one each time, and so would be the figures.
  const named = (value) => JSON.parse(JSON.stringify(value).replaceAll(JSON.stringify(notes).slice(1, -1), "/notes"));
  const sum = (values) => values.reduce((total, value) => total + tokens(named(value)), 0);
  const before = {
    definitions: tokens(ownTools),
    written: sum(calls.map(({ request }) => request)),
    read: sum(calls.map(({ reply }) => reply)),
  };
  const after = {
    definitions: tokens(tools),
    written: sum([search, execute].map((call) => ({ name: call.name, arguments: call.arguments }))),
    read: sum([found, textOf(result)]),
  };
  const total = ({ definitions, written, read }) => definitions + written + read;
  const rows = [
    ["tokens (o200k_base)", "tool by tool", "code mode"],
    [`definitions of ${ownTools.length} tools / of ${tools.length}`, before.definitions, after.definitions],
    ["written by the model", before.written, after.written],
    ["read back by the model", before.read, after.read],
    ["together, each counted once", total(before), total(after)],
    ["calls by the model", calls.length, 2],
  ];
  return { before, after, text: table(rows) };
}

async function main(clients, folder) {
  const calls = [];
  const client = await serveInFrontOf(clients, calls);
  try {
    const lists = await Promise.all(Object.values(clients).map((each) => each.listTools()));
    const ownTools = lists.flatMap(({ tools }) => tools);
    const talk = await talkTo(client);
    const { before, after, text } = compare(ownTools, calls, talk, folder);
    print("tokens", text);

    assert.deepEqual(
      talk.tools.map(({ name }) => name),
      ["search", "execute"],
    );
    for (const { name } of calls) assert.match(talk.found, new RegExp(`\\b${name}\\b`), "found by the one search");
    assert.ok(!talk.result.isError, textOf(talk.result));
    assert.deepEqual(JSON.parse(textOf(talk.result)), EXPECTED);
    assert.ok(after.definitions < before.definitions / 5, "the two tools take less than a fifth of the others");
    const { entities } = (await clients.memory.callTool({ name: "read_graph", arguments: {} })).structuredContent;
    assert.equal(entities.length, EXPECTED.entities, "the memory server itself has the graph");
  } finally {
    await client.close();
  }
}

const folder = await makeFolder();
let clients = {};
try {
  clients = await startServers(folder);
  await main(clients, folder);
  console.log("\ndemo: ok");
} finally {
  await Promise.allSettled(Object.values(clients).map((client) => client.close()));
  await folder.remove();
}
