/** How the keywords of a schema are carried over. What is in none of these lists is left out. */

/** Maps of schemas. */
export const SCHEMA_MAPS = ["properties", "patternProperties", "dependentSchemas"] as const;

/** Lists of schemas. Alternatives are carried over by themselves. */
export const SCHEMA_LISTS = ["allOf", "prefixItems"] as const;

/** Single schemas. */
export const SCHEMAS = [
  "items",
  "additionalItems",
  "additionalProperties",
  "unevaluatedItems",
  "unevaluatedProperties",
  "contains",
  "propertyNames",
  "not",
  "if",
  "then",
  "else",
] as const;

/** Values that are the same in every dialect. */
export const PLAIN_KEYWORDS = [
  "title",
  "description",
  "enum",
  "const",
  "format",
  "pattern",
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "multipleOf",
  "minItems",
  "maxItems",
  "minContains",
  "maxContains",
  "uniqueItems",
  "minProperties",
  "maxProperties",
  "dependentRequired",
  "contentEncoding",
  "contentMediaType",
  "default",
  "deprecated",
] as const;

/** The types of JSON Schema. Documents name others, which say nothing to a validator. */
export const TYPES: ReadonlySet<string> = new Set([
  "string",
  "number",
  "integer",
  "boolean",
  "object",
  "array",
  "null",
]);
