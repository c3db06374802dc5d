import { listOf, membersOf, referenceOf, resolveReference, schemaObject } from "../../../catalog/json-schema.js";

/** Schemas looked at for one closure, so that a huge one costs bounded time. */
const MAX_NODES = 20_000;

let unequal = 0;

/**
 * Everything a schema leads to, as text: equal for schemas that mean the same, in whatever documents they are. For one
 * that is no JSON, or is too large to compare, a text that equals no other.
 */
export function closureOf(schema: object, root: unknown): string {
  const targets = new Map<string, unknown>();
  const seen = new Set<unknown>();
  const open: unknown[] = [schema];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value !== "object" || value === null || seen.has(value)) continue;
    seen.add(value);
    if (seen.size > MAX_NODES) return `#${unequal++}`;
    open.push(...listOf(value), ...membersOf(value).map(([, member]) => member));
    const object = schemaObject(value);
    const reference = object === undefined ? undefined : referenceOf(object);
    if (reference === undefined || targets.has(reference)) continue;
    const target = resolveReference(root, reference)?.schema;
    targets.set(reference, target);
    open.push(target);
  }
  try {
    return JSON.stringify([schema, [...targets].sort(([left], [right]) => (left < right ? -1 : 1))]);
  } catch {
    return `#${unequal++}`;
  }
}
