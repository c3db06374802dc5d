import { stringLiteral } from "../../catalog/identifiers.js";
import {
  keyword,
  listOf,
  referenceOf,
  resolveReference,
  schemaObject,
  typesOf,
  type SchemaObject,
} from "../../catalog/json-schema.js";
import { valueText } from "../../catalog/type-docs.js";

/** Schemas within schemas that are read; deeper ones print as `any`. */
const MAX_DEPTH = 12;
/** Characters of the values of one enum, and of one type. The rest is counted. */
const MAX_VALUES_CHARACTERS = 400;
const MAX_DEFAULT_CHARACTERS = 60;

/** What a type is printed within. */
interface Place {
  root: unknown;
  depth: number;
}

/**
 * What stands in the parentheses after a parameter, before `required`: its type, the values of an enum, the default.
 *
 * | schema | printed |
 * |---|---|
 * | `{ type: "string" }` | `string` |
 * | `{ type: "array", items: { type: "integer" } }` | `integer[]` |
 * | `{ anyOf: [{ type: "string" }, { type: "null" }] }` | `string?` |
 * | `{ type: "string", enum: ["a", "b"], default: "a" }` | `string: "a" \| "b", default "a"` |
 */
export function parameterType(schema: unknown, root: unknown): string {
  const place = { root, depth: 0 };
  const object = schemaObject(schema);
  const target = object === undefined ? undefined : resolved(object, place);
  const type = target === undefined ? markdownType(schema, place) : withValues(target, place);
  const value = object === undefined ? undefined : keyword(object, "default");
  const hasDefault = value !== undefined && value !== null;
  return hasDefault ? `${type}, default ${valueText(value, MAX_DEFAULT_CHARACTERS)}` : type;
}

/** The values of an enum follow its type: `string: "a" | "b"`, and `string?: "a" | "b"` where null is allowed too. */
function withValues(schema: SchemaObject, place: Place): string {
  const { target, orNull } = withoutNull(schema, place);
  const values = valuesOf(target);
  if (values === undefined) return markdownType(schema, place);
  const types = typesOf(target).length > 0 ? typesOf(target) : [...new Set(values.map(jsonType))];
  const [base, ...others] = types.filter((name) => name !== "null");
  const isNullable = orNull || types.includes("null") || keyword(target, "nullable") === true;
  if (base === undefined || others.length > 0) return markdownType(schema, place);
  return `${typeWord(base)}${isNullable ? "?" : ""}: ${valueList(values)}`;
}

/** `anyOf: [X, { type: "null" }]` is X, or null. */
function withoutNull(schema: SchemaObject, place: Place): { target: SchemaObject; orNull: boolean } {
  const branches = [...listOf(keyword(schema, "anyOf")), ...listOf(keyword(schema, "oneOf"))];
  const others = branches.filter((branch) => markdownType(branch, place) !== "null");
  const only = others.length === 1 && branches.length === 2 ? schemaObject(others[0]) : undefined;
  const target = only === undefined ? undefined : resolved(only, place);
  return target === undefined ? { target: schema, orNull: false } : { target, orNull: true };
}

/** The type alone. Nested members of unions in parentheses where `[]` follows. */
function markdownType(schema: unknown, place: Place): string {
  const object = schemaObject(schema);
  if (object === undefined || place.depth > MAX_DEPTH) return "any";
  const inner = { ...place, depth: place.depth + 1 };
  if (referenceOf(object) !== undefined) {
    const target = resolved(object, place);
    return target === undefined || target === object ? "object" : markdownType(target, inner);
  }
  const values = valuesOf(object);
  if (values !== undefined) return valueList(values);
  for (const name of ["anyOf", "oneOf"]) {
    const branches = keyword(object, name);
    if (Array.isArray(branches)) return joined(listOf(branches).map((branch) => markdownType(branch, inner)));
  }
  const all = listOf(keyword(object, "allOf"));
  if (all.length > 0) return all.length === 1 ? markdownType(all[0], inner) : "object";
  return namedType(object, inner);
}

function namedType(schema: SchemaObject, inner: Place): string {
  const types = typesOf(schema);
  if (types.length === 0) return schemaObject(keyword(schema, "properties")) === undefined ? "any" : "object";
  const type = joined(types.map((name) => (name === "array" ? arrayType(schema, inner) : typeWord(name))));
  return keyword(schema, "nullable") === true && !type.endsWith("?") ? `${type}?` : type;
}

function arrayType(schema: SchemaObject, inner: Place): string {
  const element = markdownType(keyword(schema, "items"), inner);
  return / [|] |^".*"$|\?$/.test(element) ? `(${element})[]` : `${element}[]`;
}

/** Members of a union, each once; null is one `?` at the end. */
function joined(members: readonly string[]): string {
  const distinct = [...new Set(members)];
  const others = distinct.filter((member) => member !== "null");
  if (others.length === 0) return distinct[0] ?? "any";
  return `${others.join(" | ")}${others.length < distinct.length ? "?" : ""}`;
}

/** Words of the standard as they are; another one is a tool's own text. */
const typeWord = (name: string): string => (/^[a-z]{1,20}$/.test(name) ? name : "any");

function valuesOf(schema: SchemaObject): unknown[] | undefined {
  const constant = keyword(schema, "const");
  if (constant !== undefined) return [constant];
  const values = listOf(keyword(schema, "enum"));
  return values.length > 0 ? values : undefined;
}

function valueList(values: readonly unknown[]): string {
  const texts = [
    ...new Set(values.map((value) => (typeof value === "string" ? stringLiteral(value) : valueText(value)))),
  ];
  let shown = 0;
  for (let length = 0; shown < texts.length && length <= MAX_VALUES_CHARACTERS; shown++) {
    length += texts[shown]?.length ?? 0;
  }
  const kept = texts.slice(0, Math.max(1, shown)).map((text) => text.slice(0, MAX_VALUES_CHARACTERS));
  return kept.length < texts.length ? `${kept.join(" | ")} | ... ${texts.length - kept.length} more` : kept.join(" | ");
}

function jsonType(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
}

/** What a chain of references leads to; undefined when nowhere. */
function resolved(schema: SchemaObject, { root }: Place): SchemaObject | undefined {
  let at: SchemaObject | undefined = schema;
  for (let step = 0; step < MAX_DEPTH && at !== undefined; step++) {
    const reference = referenceOf(at);
    if (reference === undefined) return at;
    at = schemaObject(resolveReference(root, reference)?.schema);
  }
  return undefined;
}
