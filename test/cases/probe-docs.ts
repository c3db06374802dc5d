import { execFile } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { transform } from "esbuild";
import { Todo } from "./case.js";
import { ROOT } from "./host-facts.js";
import { World } from "./world.js";

const run = promisify(execFile);

/** A piece of code in a text, and where it is. */
interface Example {
  where: string;
  code: string;
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
    const fenced = fencedCode(where, tool.description);
    // A fence is an example. Without one, lines that are whole statements are.
    if (fenced.length > 0 || role === "search") return fenced;
    const lines = tool.description.split("\n").map((line) => line.trim());
    return lines.filter((line) => /^(return|const|await|let)\b.*;$/.test(line)).map((code) => ({ where, code }));
  } finally {
    await world.close();
  }
}

function fencedCode(where: string, text: string): Example[] {
  return [...text.matchAll(/^```(?:js|javascript|ts|typescript)\b[^\n]*\n([\s\S]*?)^```/gm)].map(
    ([, code = ""], index) => ({
      where: `${where}, example ${index + 1}`,
      code,
    }),
  );
}

async function faultOf({ where, code }: Example): Promise<string[]> {
  const isProgram = /^\s*import\b[^\n]*from\s*["'](mcp-codemode|@modelcontextprotocol|node:)/m.test(code);
  const fault = isProgram ? await programFault(code) : await scriptFault(code);
  return fault === undefined ? [] : [`${where}: ${fault}`];
}

/** A program of the host: a process of its own, which has to end well or to be still serving after a while. */
async function programFault(code: string): Promise<string | undefined> {
  const folder = join(ROOT, ".tmp");
  await mkdir(folder, { recursive: true });
  const file = join(folder, `example-${process.pid}.mjs`);
  try {
    const { code: javascript } = await transform(code, { loader: "ts", format: "esm" });
    await writeFile(file, javascript);
    const setUp = pathToFileURL(join(ROOT, "test", "cases", "doc-setup.mjs")).href;
    await run(process.execPath, ["--import", setUp, file], { cwd: ROOT, timeout: 5_000 });
    return undefined;
  } catch (error) {
    const { killed, stderr } = error as { killed?: boolean; stderr?: string };
    return killed === true ? undefined : (stderr || String(error)).slice(0, 300);
  } finally {
    await rm(file, { force: true });
  }
}

/** A script for execute: every tool that it names exists and gives back its arguments. */
async function scriptFault(code: string): Promise<string | undefined> {
  const named = [...code.matchAll(/call_tool\(\s*["'`]([^"'`]+)["'`]|\btools\.([A-Za-z_$][\w$]*)/g)];
  const names = [...new Set(named.map(([, called, bound]) => called ?? bound ?? ""))];
  const tools = names.map((name) => ({ name, inputSchema: { type: "object" }, on: { echo: true } }));
  const world = new World({ tools, config: {} });
  try {
    const reply = await world.execute(code);
    return reply.isError ? reply.summary : undefined;
  } finally {
    await world.close();
  }
}
