/** A kind of JSON value, as schemas name them; whole numbers are "number" here too. */
export type JsonType = "string" | "number" | "boolean" | "object" | "array" | "null";

const MAX_REFERENCES = 16;

/** The kind of a JSON value. */
export function jsonTypeOf(value: unknown): JsonType {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  const type = typeof value;
  return type === "string" || type === "number" || type === "boolean" ? type : "object";
}

/**
 * The kinds of values that a schema admits as far as its words tell, or undefined when it may admit any. Never narrower
 * than the schema: what is not understood (a foreign `$ref`, `if`, `not`) admits everything.
 *
 * @param root The schema that local `$ref`s point into.
 */
export function admittedTypes(schema: unknown, root: unknown, references = 0): ReadonlySet<JsonType> | undefined {
  if (!isRecord(schema)) return undefined;
  const sets = [
    typesOfTypeKeyword(schema["type"], schema["nullable"] === true),
    typesOfValues("const" in schema ? [schema["const"]] : schema["enum"]),
    union(schema["anyOf"], root, references),
    union(schema["oneOf"], root, references),
    ...asArray(schema["allOf"]).map((part) => admittedTypes(part, root, references)),
    typesOfReference(schema["$ref"], root, references),
  ].filter((set) => set !== undefined);
  const [first, ...others] = sets;
  return first && new Set([...first].filter((type) => others.every((set) => set.has(type))));
}

function typesOfTypeKeyword(type: unknown, nullable: boolean): ReadonlySet<JsonType> | undefined {
  if (type === undefined) return undefined;
  const names = (Array.isArray(type) ? type : [type]).map((name) => (name === "integer" ? "number" : name) as JsonType);
  return new Set(nullable ? [...names, "null"] : names);
}

function typesOfValues(values: unknown): ReadonlySet<JsonType> | undefined {
  return Array.isArray(values) ? new Set(values.map(jsonTypeOf)) : undefined;
}

function union(parts: unknown, root: unknown, references: number): ReadonlySet<JsonType> | undefined {
  if (!Array.isArray(parts) || parts.length === 0) return undefined;
  const types = new Set<JsonType>();
  for (const part of parts) {
    const admitted = admittedTypes(part, root, references);
    if (admitted === undefined) return undefined;
    for (const type of admitted) types.add(type);
  }
  return types;
}

function typesOfReference(reference: unknown, root: unknown, references: number): ReadonlySet<JsonType> | undefined {
  if (typeof reference !== "string" || references >= MAX_REFERENCES) return undefined;
  return admittedTypes(localTarget(reference, root), root, references + 1);
}

/** What a local reference ("#/$defs/x") points to; undefined for any other. */
function localTarget(reference: string, root: unknown): unknown {
  if (reference !== "#" && !reference.startsWith("#/")) return undefined;
  let target = root;
  for (const part of reference.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof target !== "object" || target === null || !Object.hasOwn(target, key)) return undefined;
    target = (target as Record<string, unknown>)[key];
  }
  return target;
}

const asArray = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** True for an object that is no array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
