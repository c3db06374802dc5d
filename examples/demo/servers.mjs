// The three servers of the demo, as they are on npm, and the folder they work on.
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const NOTES = {
  "monday.md": "# Monday\n\n- Ada: write the parser (5 h)\n- Grace: review the compiler (3 h)\n\nLunch was late.\n",
  "tuesday.md": "# Tuesday\n\n- Ada: measure the parser (2 h)\n- Linus: merge the patches (4 h)\n",
  "wednesday.md":
    "# Wednesday\n\nNobody took notes, but one task came in by mail:\n\n- Grace: teach the course (6 h)\n",
};

/** A new temporary folder with a few notes in it. `remove()` deletes it. */
export async function makeFolder() {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "codemode-demo-")));
  const notes = join(folder, "notes");
  await mkdir(notes);
  await Promise.all(Object.entries(NOTES).map(([name, text]) => writeFile(join(notes, name), text)));
  return { folder, notes, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** Starts the three servers over stdio. Resolves to their connected clients, by the name scripts know them by. */
export async function startServers({ folder, notes }) {
  const [everything, files, memory] = await Promise.all([
    connect("server-everything", ["stdio"]),
    connect("server-filesystem", [notes]),
    connect("server-memory", [], { MEMORY_FILE_PATH: join(folder, "memory.jsonl") }),
  ]);
  return { everything, files, memory };
}

async function connect(packageName, args, env = {}) {
  const client = new Client({ name: "demo", version: "1.0.0" });
  const options = { command: process.execPath, args: [entryOf(packageName), ...args], env };
  await client.connect(new StdioClientTransport({ ...options, stderr: "ignore" }));
  return client;
}

/** The file that the package's command runs: no shell and no .cmd file in between. */
function entryOf(packageName) {
  const manifest = createRequire(import.meta.url).resolve(`@modelcontextprotocol/${packageName}/package.json`);
  return join(dirname(manifest), "dist", "index.js");
}
