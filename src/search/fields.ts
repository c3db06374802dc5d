import { serverOf, tagsOf, type Tool } from "../catalog/tool.js";

/** Texts of a tool that are searched, each cut to {@link FIELD_CHARACTERS}. */
export interface ToolFields {
  /** Without the prefix of its server. */
  name: string;
  server: string;
  title: string;
  description: string;
  parameterNames: string;
  parameterDocs: string;
  enumValues: string;
  tags: string;
  aliases: string;
}

/** The fields in a fixed order. */
export const FIELD_NAMES = [
  "name",
  "server",
  "title",
  "description",
  "parameterNames",
  "parameterDocs",
  "enumValues",
  "tags",
  "aliases",
] as const satisfies readonly (keyof ToolFields)[];

/** Characters of each field that are read. A description of a megabyte is an attack or a mistake, never a help. */
export const FIELD_CHARACTERS: Readonly<Record<keyof ToolFields, number>> = {
  name: 256,
  server: 128,
  title: 256,
  description: 4_000,
  parameterNames: 4_000,
  parameterDocs: 6_000,
  enumValues: 1_500,
  tags: 500,
  aliases: 1_000,
};

/** Schema nodes of a tool that are visited: shared, recursive and generated schemas would never end. */
export const MAX_SCHEMA_NODES = 1_000;

/** Nesting of schemas that is followed. Names below are rarely what a question says. */
export const MAX_SCHEMA_DEPTH = 6;

/** Values of one enum that are read. */
export const MAX_ENUM_VALUES = 50;

/** The texts by which a tool is found. Never throws, whatever its schema holds. */
export function fieldsOf(tool: Tool): ToolFields {
  const schema = schemaTextsOf(tool.inputSchema);
  const server = serverOf(tool) ?? "";
  return {
    name: cut(bareName(tool.name, server), FIELD_CHARACTERS.name),
    server: cut(server, FIELD_CHARACTERS.server),
    title: cut(textOf(tool.title) || textOf(tool.annotations?.["title"]), FIELD_CHARACTERS.title),
    description: cut(textOf(tool.description), FIELD_CHARACTERS.description),
    parameterNames: joined(schema.names, FIELD_CHARACTERS.parameterNames),
    parameterDocs: joined(schema.docs, FIELD_CHARACTERS.parameterDocs),
    enumValues: joined(schema.values, FIELD_CHARACTERS.enumValues),
    tags: joined(tagsOf(tool), FIELD_CHARACTERS.tags),
    aliases: joined(aliasesOf(tool), FIELD_CHARACTERS.aliases),
  };
}

/** The name of a tool without the name of its server in front: `github__create_issue` of `github` is `create_issue`. */
export function bareName(name: string, server: string | undefined): string {
  if (!server) return name;
  for (const separator of ["__", ".", "/"]) {
    const prefix = server + separator;
    if (name.length > prefix.length && name.startsWith(prefix)) return name.slice(prefix.length);
  }
  return name;
}

/** Extra search words of a tool: `_meta["mcp-codemode/aliases"]`. */
export function aliasesOf(tool: Tool): readonly string[] {
  const aliases = tool._meta?.["mcp-codemode/aliases"];
  return Array.isArray(aliases) ? aliases.filter((alias): alias is string => typeof alias === "string") : [];
}

interface SchemaTexts {
  names: string[];
  docs: string[];
  values: string[];
}

type Schema = Record<string, unknown>;

/** Walks a schema breadth first, each node once, so that what is near the surface is read before the caps are reached. */
function schemaTextsOf(root: unknown): SchemaTexts {
  const texts: SchemaTexts = { names: [], docs: [], values: [] };
  const seen = new Set<unknown>();
  let level: unknown[] = [root];
  for (let depth = 0; depth <= MAX_SCHEMA_DEPTH && level.length > 0; depth++) {
    const next: unknown[] = [];
    for (const node of level) {
      if (!isSchema(node) || seen.has(node)) continue;
      if (seen.size >= MAX_SCHEMA_NODES) return texts;
      seen.add(node);
      readSchema(node, root, texts, next, depth > 0);
    }
    level = next;
  }
  return texts;
}

function readSchema(node: Schema, root: unknown, texts: SchemaTexts, next: unknown[], isParameter: boolean): void {
  if (isParameter && typeof node["description"] === "string") texts.docs.push(node["description"]);
  for (const value of listOf(node["enum"]).slice(0, MAX_ENUM_VALUES)) {
    if (typeof value === "string") texts.values.push(value);
  }
  if (typeof node["const"] === "string") texts.values.push(node["const"]);
  if (isSchema(node["properties"])) {
    for (const [name, property] of Object.entries(node["properties"]).slice(0, MAX_SCHEMA_NODES)) {
      texts.names.push(name);
      next.push(property);
    }
  }
  next.push(node["items"], node["additionalProperties"]);
  for (const key of ["anyOf", "oneOf", "allOf", "prefixItems", "items"]) {
    next.push(...listOf(node[key]).slice(0, MAX_SCHEMA_NODES));
  }
  if (typeof node["$ref"] === "string") next.push(resolveLocal(root, node["$ref"]));
}

/** The node a local reference (`#/$defs/Label`) points to. */
function resolveLocal(root: unknown, reference: string): unknown {
  if (!reference.startsWith("#/") || reference.length > 512) return undefined;
  let node = root;
  for (const part of reference.slice(2).split("/")) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof node !== "object" || node === null || !Object.hasOwn(node, key)) return undefined;
    node = (node as Schema)[key];
  }
  return node;
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

const cut = (text: string, characters: number): string => (text.length > characters ? text.slice(0, characters) : text);

/** Texts one per line, so that no bigram spans two of them, up to a number of characters. */
function joined(texts: readonly string[], characters: number): string {
  let text = "";
  for (const part of texts) {
    if (text.length >= characters) break;
    text += (text && "\n") + cut(part, characters);
  }
  return cut(text, characters);
}
