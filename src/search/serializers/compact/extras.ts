import { listOf, membersOf, schemaObject, type SchemaObject } from "../../../catalog/json-schema.js";
import { escapeUnprintable } from "../../../catalog/untrusted-text.js";
import type { Extra, Value } from "./shape.js";

/** Say nothing about values: what they name is printed where it is used. */
const SILENT = new Set(["$schema", "$id", "$comment", "$anchor", "$dynamicAnchor", "$defs", "definitions"]);

const HOLDS_SCHEMA = new Set(
  "not if then else contains propertyNames unevaluatedProperties unevaluatedItems additionalItems items contentSchema".split(
    " ",
  ),
);
const HOLDS_LIST = new Set(["prefixItems", "items"]);
const HOLDS_MAP = new Set(["patternProperties", "dependentSchemas"]);

/** How the parts of extras are read. */
export interface ExtraReading {
  value(schema: unknown, hint: string): Value;
  /** Undefined for what is no JSON. */
  json(value: unknown): string | undefined;
}

/** The keywords of a schema that nothing else has read. */
export function readExtras(schema: SchemaObject, read: ReadonlySet<string>, reading: ExtraReading): Extra[] {
  return membersOf(schema).flatMap(([name, value]): Extra[] => {
    const isSaid = read.has(name) || SILENT.has(name) || value === undefined || saysNothing(name, value);
    const extra = isSaid ? undefined : readExtra(name, value, reading);
    return extra === undefined ? [] : [extra];
  });
}

function readExtra(name: string, value: unknown, reading: ExtraReading): Extra | undefined {
  if (HOLDS_LIST.has(name) && Array.isArray(value)) {
    return { keyword: name, list: listOf(value).map((part) => reading.value(part, name)) };
  }
  if (HOLDS_SCHEMA.has(name)) return { keyword: name, value: reading.value(value, name) };
  if (HOLDS_MAP.has(name)) {
    return { keyword: name, map: membersOf(value).map(([key, part]) => [key, reading.value(part, name)] as const) };
  }
  const json = reading.json(value);
  return json === undefined ? undefined : { keyword: name, json };
}

/** Keys are always strings; `false` of these marks is what their absence means. */
function saysNothing(name: string, value: unknown): boolean {
  const names = name === "propertyNames" ? schemaObject(value) : undefined;
  if (names !== undefined) return membersOf(names).every(([key, said]) => key === "type" && said === "string");
  return value === false && ["uniqueItems", "deprecated", "readOnly", "writeOnly", "nullable"].includes(name);
}

/** JSON text on one line, with what does not show escaped; undefined for what is no JSON. */
export function jsonText(value: unknown): string | undefined {
  try {
    const text = JSON.stringify(value) as string | undefined;
    return text === undefined ? undefined : escapeUnprintable(text);
  } catch {
    return undefined;
  }
}

const fold = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");

/** What generators put behind the name of a tool: `create_issueArguments`. */
const GENERIC_END = /(?:arguments|args|input|output|result|response|request|params|parameters|schema)+$/;

/** True for a title that only repeats the name of what it stands at: "Page Size" of `page_size`. */
export function isRedundantTitle(title: string, name: string): boolean {
  if (title.length > 200) return false;
  const said = fold(title);
  return said === fold(name) || said.replace(GENERIC_END, "") === fold(name) || said.replace(GENERIC_END, "") === "";
}
