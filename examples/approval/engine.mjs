// What the processes have in common: the filesystem server behind code mode, and a policy that asks before writes.
import { createRequire } from "node:module";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { clientSource, createCodeMode, fileStore } from "mcp-codemode";

const { APPROVAL_FILES: files, APPROVAL_STORE: directory, APPROVAL_SECRET: secret } = process.env;

/** The engine, the folder of its files, and a function that closes it. */
export async function openEngine() {
  const client = new Client({ name: "approval", version: "1.0.0" });
  const server = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-filesystem/dist/index.js");
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [server, files], stderr: "ignore" }),
  );
  const engine = createCodeMode(clientSource(client, { name: "files" }), {
    store: fileStore({ directory, secret }),
    secret,
    policy: ({ annotations }) =>
      annotations?.readOnlyHint === true ? { action: "allow" } : { action: "ask", reason: "it changes files" },
  });
  const close = async () => {
    await engine.close();
    await client.close();
  };
  return { engine, files, close };
}

/** Calls a meta-tool, as an MCP server does for its client, and gives the text of its reply. */
export async function callMeta(engine, name, args) {
  const { call } = engine.metaTools.find(({ tool }) => tool.name === name);
  const { content } = await call(args, { signal: new AbortController().signal });
  return content.map(({ text }) => text).join("\n");
}
