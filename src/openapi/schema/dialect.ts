import { isList, keyword, listOf, typesOf, type SchemaObject } from "../../catalog/json-schema.js";
import { TYPES } from "./keywords.js";
import type { JsonSchema } from "./schema-library.js";

/** Examples help where they are short. */
const MAX_EXAMPLE_CHARACTERS = 80;
const MAX_EXAMPLES = 3;

/** `type` of JSON Schema: unknown types are left out, and Swagger's `file` is a text of bytes. */
export function typeKeywords(source: SchemaObject): JsonSchema {
  const named = typesOf(source);
  if (named.includes("file")) return { type: "string", format: "binary" };
  const types = named.filter((type) => TYPES.has(type));
  if (types.length === 0) return {};
  return { type: types.length === 1 ? types[0] : types };
}

/** Exclusive bounds: true or false beside the bound in OpenAPI 3.0, the bound itself in 3.1. */
export function boundKeywords(source: SchemaObject): JsonSchema {
  const bounds: JsonSchema = {};
  for (const [exclusive, inclusive] of [
    ["exclusiveMinimum", "minimum"],
    ["exclusiveMaximum", "maximum"],
  ] as const) {
    const value = keyword(source, exclusive);
    const bound = keyword(source, inclusive);
    if (typeof value === "number") bounds[exclusive] = value;
    else if (value === true && typeof bound === "number") bounds[exclusive] = bound;
  }
  return bounds;
}

/** `examples`, from either spelling. */
export function exampleKeywords(source: SchemaObject): JsonSchema {
  const example = keyword(source, "example");
  const all = isList(keyword(source, "examples")) ? listOf(keyword(source, "examples")) : [example];
  const short = all.filter((one) => isScalar(one) && String(one).length <= MAX_EXAMPLE_CHARACTERS);
  return short.length === 0 ? {} : { examples: short.slice(0, MAX_EXAMPLES) };
}

const isScalar = (value: unknown): boolean => ["string", "number", "boolean"].includes(typeof value);

/** The schema with null allowed, where OpenAPI 3.0 says `nullable` (Swagger 2: `x-nullable`). */
export function withNull(schema: JsonSchema, source: SchemaObject): JsonSchema {
  if (keyword(source, "nullable") !== true && keyword(source, "x-nullable") !== true) return schema;
  const { type, enum: values } = schema;
  if (type === undefined) return restrictsKind(schema) ? orNull(schema) : schema;
  const types = isList(type) ? type : [type];
  // Whatever else such a schema says (allOf, $ref) would go on refusing null.
  if (["$ref", "allOf", "anyOf", "const"].some((name) => name in schema)) return orNull(schema);
  return {
    ...schema,
    type: types.includes("null") ? type : [...types, "null"],
    ...(isList(values) && !values.includes(null) ? { enum: [...values, null] } : {}),
  };
}

/** True when a schema without a type may still refuse null. */
const restrictsKind = (schema: JsonSchema): boolean =>
  ["$ref", "allOf", "anyOf", "const", "enum", "not"].some((name) => name in schema);

function orNull(schema: JsonSchema): JsonSchema {
  const { description, title, default: fallback, deprecated, ...rest } = schema;
  const notes = Object.entries({ title, description, default: fallback, deprecated });
  return {
    ...Object.fromEntries(notes.filter(([, value]) => value !== undefined)),
    anyOf: [rest, { type: "null" }],
  };
}
