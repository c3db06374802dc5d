import { keyword, membersOf, resolveReference, schemaObject, type SchemaObject } from "../../catalog/json-schema.js";
import type { JsonSchema } from "./schema-library.js";

/** Which value of which property stands for which schema. */
export interface Discriminator {
  property: string;
  /** Reference of a kind -> the values that stand for it. */
  values: ReadonlyMap<string, readonly string[]>;
}

/** What a schema's `discriminator` spells out; undefined without a mapping. Kinds that are not there are left out. */
export function discriminatorOf(source: SchemaObject, root: unknown): Discriminator | undefined {
  const discriminator = schemaObject(keyword(source, "discriminator"));
  const property = discriminator === undefined ? undefined : keyword(discriminator, "propertyName");
  if (discriminator === undefined || typeof property !== "string") return undefined;
  const values = new Map<string, string[]>();
  for (const [value, kind] of membersOf(keyword(discriminator, "mapping"))) {
    if (typeof kind !== "string") continue;
    const reference = /^[\w.-]+$/.test(kind) ? `#/components/schemas/${kind}` : kind;
    if (schemaObject(resolveReference(root, reference)?.schema) === undefined) continue;
    values.set(reference, [...(values.get(reference) ?? []), value]);
  }
  return values.size === 0 ? undefined : { property, values };
}

/** One kind with its values said, as JSON Schema knows no discriminator. A kind that says them itself stays as it is. */
export function taggedKind(
  kind: JsonSchema,
  { property, values }: Discriminator,
  reference: string,
  root: unknown,
): JsonSchema {
  const own = values.get(reference);
  if (own === undefined || saysItself(resolveReference(root, reference)?.schema, property)) return kind;
  const tag = own.length === 1 ? { const: own[0] } : { enum: own };
  return { allOf: [kind, { type: "object", properties: { [property]: tag }, required: [property] }] };
}

function saysItself(kind: unknown, property: string): boolean {
  const properties = schemaObject(keyword(schemaObject(kind) ?? {}, "properties"));
  const own = properties === undefined ? undefined : schemaObject(keyword(properties, property));
  return own !== undefined && (keyword(own, "const") !== undefined || keyword(own, "enum") !== undefined);
}
