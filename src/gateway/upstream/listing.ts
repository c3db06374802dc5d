import type { Tool } from "../../catalog/tool.js";
import { isRecord } from "../config.js";
import type { Connection } from "./connection.js";

/** A server that still gives cursors after this many pages does not stop by itself. */
const MAX_PAGES = 1_000;
const MAX_TOOLS = 20_000;
const MAX_NAME_CHARACTERS = 256;
// oxlint-disable-next-line no-control-regex -- names with such characters are what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/** What a server listed, and what was wrong with that: a sentence each. */
export interface Listing {
  tools: readonly Tool[];
  warnings: readonly string[];
}

/** All pages of a server's tools. Entries that are no tools are left out, broken parts of a tool replaced. */
export async function listTools(connection: Connection, timeoutMs: number): Promise<Listing> {
  const tools = new Map<string, Tool>();
  const warnings = new Set<string>();
  const seen = new Set<string>();
  let cursor: string | undefined;
  do {
    if (cursor !== undefined) seen.add(cursor);
    const page = await connection.listPage(cursor, timeoutMs);
    if (!Array.isArray(page["tools"])) throw new Error("it answered tools/list without a list of tools");
    for (const entry of page["tools"]) addTool(tools, warnings, entry);
    const next = page["nextCursor"];
    cursor = typeof next === "string" ? next : undefined;
    if (cursor !== undefined && seen.has(cursor)) warnings.add("its list gave one cursor twice, and was ended there");
  } while (cursor !== undefined && !seen.has(cursor) && seen.size < MAX_PAGES && tools.size < MAX_TOOLS);
  if (cursor !== undefined && !seen.has(cursor))
    warnings.add(`its list did not end, and was cut at ${tools.size} tools`);
  return { tools: [...tools.values()], warnings: [...warnings] };
}

function addTool(tools: Map<string, Tool>, warnings: Set<string>, entry: unknown): void {
  const name = isRecord(entry) ? entry["name"] : undefined;
  if (!isRecord(entry) || typeof name !== "string" || !isUsableName(name)) {
    warnings.add("it lists an entry without a usable name, which is left out");
    return;
  }
  if (tools.has(name)) return;
  if (schemaOf(entry["inputSchema"]) === undefined) {
    warnings.add(`the inputSchema of ${name} is no schema of an object, and is taken as any object`);
  }
  tools.set(name, readTool(name, entry));
}

const isUsableName = (name: string): boolean =>
  name !== "" && name.length <= MAX_NAME_CHARACTERS && !CONTROL.test(name);

/** Only what the protocol knows and the gateway can pass on: no task support, no icons. */
function readTool(name: string, entry: Record<string, unknown>): Tool {
  const { inputSchema, outputSchema, annotations, description, title, _meta } = entry;
  return {
    name,
    ...(typeof title === "string" ? { title } : {}),
    ...(typeof description === "string" ? { description } : {}),
    inputSchema: schemaOf(inputSchema) ?? { type: "object" },
    ...(isRecord(outputSchema) ? { outputSchema } : {}),
    ...(isRecord(annotations) ? { annotations } : {}),
    ...(isRecord(_meta) ? { _meta } : {}),
  };
}

/** Schemas of a union may leave out the type that the protocol demands. */
function schemaOf(schema: unknown): Tool["inputSchema"] | undefined {
  if (!isRecord(schema) || (schema["type"] !== undefined && schema["type"] !== "object")) return undefined;
  return { ...schema, type: "object" };
}
