import { execFile } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { transform } from "esbuild";
import { createCodeMode } from "mcp-codemode";
import { fakeSource, type FakeTool } from "mcp-codemode/testing";
import { SHOP, shopTools } from "../package/shop.js";
import { Todo } from "./case.js";
import { ROOT } from "./host-facts.js";
import type { World } from "./world.js";

const run = promisify(execFile);

/** A piece of code in a text, and where it is. */
interface Example {
  where: string;
  code: string;
  /** A program of the host; else a script for execute. */
  isProgram: boolean;
}

/** Examples of documents and meta-tool descriptions that do not run as written, each with its place and error. */
export async function docFaults(subjects: readonly string[], world: () => World): Promise<string[]> {
  const faults: string[] = [];
  for (const subject of subjects) {
    const examples = await examplesOf(subject, world);
    if (typeof examples === "string") faults.push(examples);
    else for (const example of examples) faults.push(...(await faultOf(example)));
  }
  return faults;
}

async function examplesOf(subject: string, world: () => World): Promise<Example[] | string> {
  const role = /^description of (search|execute)$/.exec(subject)?.[1];
  if (role !== undefined) return descriptionExamples(role as "search" | "execute", world());
  const path = join(ROOT, subject);
  if (!existsSync(path)) return `${subject} does not exist`;
  const files = statSync(path).isDirectory()
    ? (await readdir(path)).filter((name) => name.endsWith(".md")).map((name) => join(subject, name))
    : [subject];
  const texts = await Promise.all(
    files.map(async (file) => ({ file, text: await readFile(join(ROOT, file), "utf8") })),
  );
  return texts.flatMap(({ file, text }) => fencedCode(file, text));
}

async function descriptionExamples(role: "search" | "execute", world: World): Promise<Example[]> {
  try {
    const tool = (await world.listTools()).find(({ name }) => name === world.names[role]);
    if (tool?.description === undefined) throw new Todo(`${role} has no description`);
    const where = `description of ${role}`;
    const fenced = fencedCode(where, tool.description).map((example) => ({ ...example, isProgram: false }));
    // A fence is an example. Without one, lines that are whole statements are.
    if (fenced.length > 0 || role === "search") return fenced;
    const lines = tool.description.split("\n").map((line) => line.trim());
    return lines
      .filter((line) => /^(return|const|await|let)\b.*;$/.test(line))
      .map((code) => ({ where, code, isProgram: false }));
  } finally {
    await world.close();
  }
}

function fencedCode(where: string, text: string): Example[] {
  return [...text.matchAll(/^```(js|javascript|ts|typescript)\b[^\n]*\n([\s\S]*?)^```/gm)].map(
    ([, language = "", code = ""], index) => ({
      where: `${where}, example ${index + 1}`,
      code,
      // Documents show programs in TypeScript and scripts in JavaScript, but for programs that import.
      isProgram:
        language.startsWith("t") || /^\s*import\b[^\n]*["'](mcp-codemode|@modelcontextprotocol|node:)/m.test(code),
    }),
  );
}

async function faultOf({ where, code, isProgram }: Example): Promise<string[]> {
  const fault = isProgram ? await programFault(code) : await scriptFault(code);
  return fault === undefined ? [] : [`${where}: ${fault}`];
}

/** A program of the host: a process of its own, which has to end well or to be still serving after a while. */
async function programFault(code: string): Promise<string | undefined> {
  await mkdir(join(ROOT, ".tmp"), { recursive: true });
  const folder = await mkdtemp(join(ROOT, ".tmp", "docs-"));
  const file = join(folder, "example.mjs");
  try {
    const { code: javascript } = await transform(code, { loader: "ts", format: "esm" });
    await writeFile(file, javascript);
    await writeNamedFiles(folder);
    const setUp = pathToFileURL(join(ROOT, "test", "cases", "doc-setup.mjs")).href;
    const env = { ...process.env, ...VARIABLES };
    await run(process.execPath, ["--import", setUp, file], { cwd: folder, env, timeout: 10_000 });
    return undefined;
  } catch (error) {
    const { killed, stderr } = error as { killed?: boolean; stderr?: string };
    return killed === true ? undefined : (stderr || String(error)).slice(0, 300);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Environment variables that the examples read. */
const VARIABLES = Object.fromEntries(
  ["RUN_SECRET", "STORE_SECRET", "NEW_SECRET", "OLD_SECRET", "GITHUB_TOKEN", "SHOP_KEY", "SHOP_PASSWORD"].map(
    (name) => [name, name.padEnd(32, ".")],
  ),
);

/** The files that the examples read, in their working folder. */
async function writeNamedFiles(folder: string): Promise<void> {
  const memory = {
    command: process.execPath,
    args: [join(ROOT, "node_modules/@modelcontextprotocol/server-memory/dist/index.js")],
    env: { MEMORY_FILE_PATH: join(folder, "memory.json") },
  };
  const paths = {
    "/orders": { get: { operationId: "list_orders", responses: { 200: { description: "All orders." } } } },
  };
  const api = {
    openapi: "3.1.0",
    info: { title: "shop", version: "1.0.0" },
    servers: [{ url: "https://shop.example.com" }],
    paths,
  };
  const files = { "mcp.json": { mcpServers: { memory } }, "openapi.json": api, "api.github.com.json": api };
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), JSON.stringify(content));
}

/** A script for execute: the tools of the shop where it names those; every other tool exists too, and gives back its arguments. */
async function scriptFault(code: string): Promise<string | undefined> {
  const named = [...code.matchAll(/call_tool\(\s*["'`]([^"'`]+)["'`]|\btools\.([A-Za-z_$][\w$]*)/g)];
  const names = named.map(([, called, bound]) => called ?? bound ?? "").filter((name) => name !== SHOP);
  const echoes = Object.fromEntries(names.map((name): [string, FakeTool] => [name, (args) => args]));
  const engine = createCodeMode(fakeSource({ ...echoes, ...shopTools }, { name: SHOP }));
  try {
    const outcome = await engine.execute({ code });
    if (outcome.status === "completed") return undefined;
    return outcome.status === "failed" ? `${outcome.error.name}: ${outcome.error.message}` : "it was paused";
  } finally {
    await engine.close();
  }
}
