import {
  keyword,
  listOf,
  membersOf,
  schemaObject,
  stringsOf,
  typesOf,
  type SchemaObject,
} from "../../catalog/json-schema.js";
import type { ApiDocument } from "../document/api-document.js";
import type { SchemaLibrary } from "../schema/schema-library.js";

/** The properties of a body whose parts are arguments of their own. */
export interface ObjectFields {
  properties: Map<string, unknown>;
  required: Set<string>;
  /** `additionalProperties`; undefined where nothing is said. */
  additional: unknown;
  /** Names of which one set must be there: `anyOf` branches that say nothing but `required`. */
  alternatives: string[][][];
}

/** Keywords of an object that cannot be said of arguments one by one. */
const WHOLE_KEYWORDS = ["not", "if", "patternProperties", "discriminator", "propertyNames", "enum", "const"];

/**
 * Takes an object schema apart, references and `allOf` followed. Undefined when it is better left whole: no object, one
 * of several objects, or one without properties.
 */
export function objectFields(document: ApiDocument, library: SchemaLibrary, schema: unknown): ObjectFields | undefined {
  const fields: ObjectFields = { properties: new Map(), required: new Set(), additional: undefined, alternatives: [] };
  const isObject = collect(fields, { document, library, open: new Set() }, schema);
  if (!isObject || fields.properties.size === 0) return undefined;
  for (const name of fields.required) if (!fields.properties.has(name)) fields.required.delete(name);
  return fields;
}

interface Reading {
  document: ApiDocument;
  library: SchemaLibrary;
  open: Set<unknown>;
}

/** False when something was found that stands against taking it apart. */
function collect(fields: ObjectFields, reading: Reading, value: unknown): boolean {
  const schema = schemaObject(value);
  if (schema === undefined || reading.open.has(schema)) return false;
  const types = typesOf(schema);
  if (types.length > 0 && !types.includes("object")) return false;
  if (WHOLE_KEYWORDS.some((name) => keyword(schema, name) !== undefined)) return false;
  reading.open.add(schema);
  const reference = keyword(schema, "$ref");
  if (typeof reference === "string" && !collect(fields, reading, reading.document.target(reference))) return false;
  for (const part of listOf(keyword(schema, "allOf"))) if (!collect(fields, reading, part)) return false;
  for (const name of ["anyOf", "oneOf"]) if (!collectAlternatives(fields, listOf(keyword(schema, name)))) return false;
  collectOwn(fields, reading, schema);
  reading.open.delete(schema);
  return true;
}

function collectOwn(fields: ObjectFields, { library }: Reading, schema: SchemaObject): void {
  for (const [name, property] of membersOf(keyword(schema, "properties"))) {
    if (!library.isUsed(property, "input")) continue;
    const known = fields.properties.get(name);
    fields.properties.set(name, known === undefined ? property : { allOf: [known, property] });
  }
  for (const name of stringsOf(keyword(schema, "required"))) fields.required.add(name);
  const additional = keyword(schema, "additionalProperties");
  if (additional !== undefined && fields.additional !== false) fields.additional = additional;
}

function collectAlternatives(fields: ObjectFields, branches: readonly unknown[]): boolean {
  if (branches.length === 0) return true;
  const sets: string[][] = [];
  for (const branch of branches) {
    const object = schemaObject(branch);
    const keys = object === undefined ? [] : Object.keys(object);
    if (object === undefined || keys.length !== 1 || keys[0] !== "required") return false;
    sets.push(stringsOf(keyword(object, "required")));
  }
  fields.alternatives.push(sets);
  return true;
}
