import { keyword, listOf, membersOf, schemaObject, typesOf, type SchemaObject } from "../../catalog/json-schema.js";
import { type ApiDocument, Unencodable } from "../document/api-document.js";
import type { JsonSchema, SchemaLibrary } from "../schema/schema-library.js";
import { isAnyType, isJsonType } from "./media-types.js";

/** What an operation answers when it succeeds. */
export interface ApiOutput {
  /** Undefined where the document does not say, or not in JSON. */
  schema: JsonSchema | undefined;
  /** The schema is `{ result: ... }` around what the server answers. */
  wrapped: boolean;
  /** For the header Accept. */
  accept: string;
}

/** References followed to learn whether a schema is one of an object. */
const MAX_REFERENCES = 32;

/** The output of the first 2xx response in JSON. A schema that cannot be read is none: the call works all the same. */
export function readOutput(
  document: ApiDocument,
  library: SchemaLibrary,
  responses: SchemaObject | undefined,
): ApiOutput {
  const contents = successContents(document, responses);
  const json = contents.find(([type]) => isJsonType(type)) ?? contents.find(([type]) => isAnyType(type));
  const accept = acceptOf(contents.map(([type]) => type));
  const source = json === undefined ? undefined : keyword(schemaObject(json[1]) ?? {}, "schema");
  if (schemaObject(source) === undefined || Object.keys(source as object).length === 0) {
    return { schema: undefined, wrapped: false, accept };
  }
  try {
    const use = library.use("output");
    const converted = use.convert(source);
    const wrapped = !isObjectSchema(document, source, MAX_REFERENCES);
    const $defs = use.definitions();
    const root = wrapped
      ? { type: "object", properties: { result: converted }, required: ["result"] }
      : asObject(converted);
    return { schema: { ...root, ...($defs === undefined ? {} : { $defs }) }, wrapped, accept };
  } catch (error) {
    if (error instanceof Unencodable) return { schema: undefined, wrapped: false, accept };
    throw error;
  }
}

/** A nullable object stays one: null is then an empty result. */
function asObject(converted: JsonSchema | boolean): JsonSchema {
  return { ...(typeof converted === "boolean" ? {} : converted), type: "object" };
}

/** Media types of the successful responses, in the order of their status. */
function successContents(document: ApiDocument, responses: SchemaObject | undefined): [string, unknown][] {
  const successes = membersOf(responses)
    .filter(([status]) => /^2(\d\d|XX)$/i.test(status))
    .toSorted(([left], [right]) => (left < right ? -1 : 1));
  return successes.flatMap(([, value]) => {
    try {
      return membersOf(keyword(document.resolved(value) ?? {}, "content"));
    } catch (error) {
      if (error instanceof Unencodable) return [];
      throw error;
    }
  });
}

/** JSON first, then what the document names, then anything: an answer in another form is better than none. */
function acceptOf(types: readonly string[]): string {
  const plain = types.filter((type) => /^[\w.+-]+\/[\w.+*-]+$/.test(type) && !isAnyType(type));
  const json = plain.filter(isJsonType);
  const first = json.length > 0 ? json : plain.length > 0 ? plain : ["application/json"];
  return `${[...new Set(first)].slice(0, 4).join(", ")}, */*;q=0.5`;
}

/** True when every value of the schema is an object. */
function isObjectSchema(document: ApiDocument, value: unknown, left: number): boolean {
  const schema = schemaObject(value);
  if (schema === undefined || left === 0) return false;
  const types = typesOf(schema).filter((type) => type !== "null");
  if (types.length > 0) return types.every((type) => type === "object");
  const isObject = (one: unknown): boolean => isObjectSchema(document, one, left - 1);
  const reference = keyword(schema, "$ref");
  if (typeof reference === "string") return isObject(document.target(reference));
  const [all, any, one] = ["allOf", "anyOf", "oneOf"].map((name) => listOf(keyword(schema, name)));
  if (all?.some(isObject)) return true;
  const alternatives = [any ?? [], one ?? []].find((list) => list.length > 0);
  if (alternatives !== undefined) return alternatives.every(isObject);
  return (
    keyword(schema, "properties") !== undefined || schemaObject(keyword(schema, "additionalProperties")) !== undefined
  );
}
