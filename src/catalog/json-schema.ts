/**
 * Reading JSON Schemas that anybody may have written: wrong types, circular objects, getters that throw, keys such as
 * `__proto__`. Nothing here throws, runs a pattern, or follows a reference out of the document.
 */

/** A schema that is an object, read with {@link keyword}. */
export type SchemaObject = { readonly [keyword: string]: unknown };

/** Where schemas keep what they refer to. */
const DEFINITION_CONTAINERS = ["$defs", "definitions"] as const;

/** Members read of one map or list, so that a huge one costs bounded time. */
const MAX_MEMBERS = 20_000;
/** Steps of one JSON pointer. */
const MAX_POINTER_STEPS = 64;
/** Schemas looked at for one question about the properties of an object. */
const MAX_LAYERS = 2_000;

/** The value as a schema object; undefined for booleans, lists, null and everything else. */
export function schemaObject(value: unknown): SchemaObject | undefined {
  return typeof value === "object" && value !== null && !isList(value) ? (value as SchemaObject) : undefined;
}

/** The own value of a keyword; undefined when it is absent or cannot be read. */
export function keyword(schema: SchemaObject, name: string): unknown {
  try {
    return Object.hasOwn(schema, name) ? schema[name] : undefined;
  } catch {
    return undefined;
  }
}

/** Own members of a map of schemas (`properties`, `$defs`), in order; [] for anything else. */
export function membersOf(value: unknown): [key: string, value: unknown][] {
  const map = schemaObject(value);
  if (map === undefined) return [];
  try {
    const keys = Object.keys(map).slice(0, MAX_MEMBERS);
    return keys.map((key) => [key, keyword(map, key)]);
  } catch {
    return [];
  }
}

/** Elements of a list (`anyOf`, `enum`, `required`); [] for anything else. */
export function listOf(value: unknown): unknown[] {
  try {
    return isList(value) ? value.slice(0, MAX_MEMBERS) : [];
  } catch {
    return [];
  }
}

/** True for a list, also where asking throws (a revoked proxy counts as none). */
export function isList(value: unknown): value is unknown[] {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}

/** The strings among the elements of a list, each once. */
export function stringsOf(value: unknown): string[] {
  return [...new Set(listOf(value).filter((element): element is string => typeof element === "string"))];
}

/** The types a schema names by `type`, a word or a list; [] when it names none. */
export function typesOf(schema: SchemaObject): string[] {
  const type = keyword(schema, "type");
  return typeof type === "string" ? [type] : stringsOf(type);
}

/** The reference a schema makes by `$ref` (or `$dynamicRef`, `$recursiveRef`, read as if static). */
export function referenceOf(schema: SchemaObject): string | undefined {
  for (const name of ["$ref", "$dynamicRef", "$recursiveRef"]) {
    const reference = keyword(schema, name);
    if (typeof reference === "string") return reference;
  }
  return undefined;
}

/**
 * What a local reference points to: `#`, a JSON pointer (`#/$defs/a~1b`), or an `$anchor` of a definition. Undefined
 * when nothing is there, or when the reference leaves the document: nothing is ever fetched.
 */
export function resolveReference(root: unknown, reference: string): { schema: unknown } | undefined {
  const fragment = fragmentOf(root, reference);
  if (fragment === undefined) return undefined;
  if (fragment === "") return { schema: root };
  return fragment.startsWith("/") ? atPointer(root, fragment) : atAnchor(root, fragment);
}

function fragmentOf(root: unknown, reference: string): string | undefined {
  const base = schemaObject(root);
  const id = base === undefined ? undefined : keyword(base, "$id");
  const hash = reference.indexOf("#");
  const document = hash < 0 ? reference : reference.slice(0, hash);
  if (document !== "" && document !== id) return undefined;
  return hash < 0 ? "" : decodeFragment(reference.slice(hash + 1));
}

function atPointer(root: unknown, pointer: string): { schema: unknown } | undefined {
  const steps = pointerSteps(pointer);
  if (steps.length > MAX_POINTER_STEPS) return undefined;
  let at: unknown = root;
  for (const step of steps) {
    if (typeof at !== "object" || at === null) return undefined;
    at = keyword(at as SchemaObject, step);
    if (at === undefined) return undefined;
  }
  return { schema: at };
}

/** The keys a JSON pointer goes through: `/a~1b/0` -> `a/b`, `0`. */
function pointerSteps(pointer: string): string[] {
  const steps = pointer.slice(1).split("/", MAX_POINTER_STEPS + 1);
  return steps.map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function atAnchor(root: unknown, anchor: string): { schema: unknown } | undefined {
  const base = schemaObject(root);
  if (base === undefined) return undefined;
  for (const container of DEFINITION_CONTAINERS) {
    for (const [, definition] of membersOf(keyword(base, container))) {
      const schema = schemaObject(definition);
      if (schema && [keyword(schema, "$anchor"), keyword(schema, "$dynamicAnchor")].includes(anchor)) return { schema };
    }
  }
  return undefined;
}

/**
 * True when a schema says that null is allowed: `type` or a type list, OpenAPI's `nullable`, `const`, `enum`, a branch of
 * `anyOf` or `oneOf`, every `allOf`, or what it refers to. A schema that says nothing about types does not count.
 */
export function isNullable(schema: unknown, root: unknown = schema): boolean {
  return admitsNull(schema, { root, open: new Set(), left: MAX_LAYERS }) === true;
}

/** Undefined: not said. `open` are the schemas above this one; `left` how many more may be looked at. */
function admitsNull(value: unknown, search: { root: unknown; open: Set<unknown>; left: number }): boolean | undefined {
  const { root, open } = search;
  const schema = schemaObject(value);
  if (schema === undefined || open.has(schema) || open.size > MAX_POINTER_STEPS || --search.left < 0) return undefined;
  if (keyword(schema, "nullable") === true) return true;
  open.add(schema);
  const said: (boolean | undefined)[] = [];
  const inner = (member: unknown): boolean | undefined => admitsNull(member, search);
  if (typesOf(schema).length > 0) said.push(typesOf(schema).includes("null"));
  if (keyword(schema, "const") !== undefined) said.push(keyword(schema, "const") === null);
  if (isList(keyword(schema, "enum"))) said.push(listOf(keyword(schema, "enum")).includes(null));
  const reference = referenceOf(schema);
  if (reference !== undefined) said.push(inner(resolveReference(root, reference)?.schema));
  said.push(...listOf(keyword(schema, "allOf")).map(inner));
  for (const name of ["anyOf", "oneOf"]) {
    const branches = listOf(keyword(schema, name)).map(inner);
    if (branches.length > 0) said.push(branches.includes(true) || (branches.includes(undefined) ? undefined : false));
  }
  open.delete(schema);
  if (said.includes(false)) return false;
  return said.includes(true) ? true : undefined;
}

/** One parameter of an object schema. */
export interface Parameter {
  name: string;
  /** As written: not resolved. */
  schema: unknown;
  /** Required whichever branch of an `anyOf` is taken. */
  required: boolean;
}

/**
 * The parameters of an object schema, in order: its own, then those of what it refers to, of every `allOf`, and of the
 * branches of `anyOf`, `oneOf`, `then` and `else`.
 *
 * @example
 * parametersOf({ properties: { id: { type: "string" } }, required: ["id"] });
 * // [{ name: "id", schema: { type: "string" }, required: true }]
 */
export function parametersOf(root: unknown): Parameter[] {
  const schemas = new Map<string, unknown>();
  const required = new Set<string>();
  for (const { schema, certain } of layersOf(root)) {
    for (const [name, property] of membersOf(keyword(schema, "properties"))) {
      if (!schemas.has(name)) schemas.set(name, property);
    }
    const names = certain ? stringsOf(keyword(schema, "required")) : [];
    for (const name of names) required.add(name);
    for (const name of commonRequired(schema)) required.add(name);
  }
  for (const name of required) if (!schemas.has(name)) schemas.set(name, true);
  return [...schemas].map(([name, schema]) => ({ name, schema, required: required.has(name) }));
}

/**
 * True when an object schema says that it takes this property: among its {@link parametersOf} (and not as `false`), or
 * by an `additionalProperties` that is not false. A schema that is merely silent about further properties does not count;
 * neither does `patternProperties`, since patterns are not run.
 */
export function acceptsProperty(root: unknown, name: string): boolean {
  for (const { schema } of layersOf(root)) {
    const properties = schemaObject(keyword(schema, "properties"));
    const own = properties === undefined ? undefined : keyword(properties, name);
    if (own !== undefined && own !== false) return true;
    const additional = keyword(schema, "additionalProperties");
    if (own === undefined && (additional === true || schemaObject(additional) !== undefined)) return true;
  }
  return false;
}

/** One schema that describes the same value as the root. `certain`: whichever branch is taken. */
interface Layer {
  schema: SchemaObject;
  certain: boolean;
}

/** The root and every schema that is about the same value, by `$ref`, `allOf`, `anyOf`, `oneOf`, `then` and `else`; each once. */
function layersOf(root: unknown): Layer[] {
  const layers: Layer[] = [];
  const seen = new Set<unknown>();
  const queue: { schema: unknown; certain: boolean }[] = [{ schema: root, certain: true }];
  for (let next = 0; next < queue.length && layers.length < MAX_LAYERS; next++) {
    const { schema: value, certain } = queue[next] as { schema: unknown; certain: boolean };
    const schema = schemaObject(value);
    if (schema === undefined || seen.has(schema)) continue;
    seen.add(schema);
    layers.push({ schema, certain });
    const reference = referenceOf(schema);
    if (reference !== undefined) queue.push({ schema: resolveReference(root, reference)?.schema, certain });
    for (const member of listOf(keyword(schema, "allOf"))) queue.push({ schema: member, certain });
    for (const member of branchesOf(schema)) queue.push({ schema: member, certain: false });
  }
  return layers;
}

function branchesOf(schema: SchemaObject): unknown[] {
  return [
    ...listOf(keyword(schema, "anyOf")),
    ...listOf(keyword(schema, "oneOf")),
    keyword(schema, "then"),
    keyword(schema, "else"),
  ];
}

/** Names that every branch of an `anyOf` or `oneOf` requires itself. */
function commonRequired(schema: SchemaObject): string[] {
  return ["anyOf", "oneOf"].flatMap((name) => {
    const [first, ...others] = listOf(keyword(schema, name)).map((branch) => {
      const object = schemaObject(branch);
      return new Set(object === undefined ? [] : stringsOf(keyword(object, "required")));
    });
    return first === undefined ? [] : [...first].filter((required) => others.every((other) => other.has(required)));
  });
}

/**
 * The schema without definitions that nothing reaches. The same object when there are none, or when a reference is not
 * a plain pointer (then any of them might be meant).
 */
export function pruneDefinitions(schema: SchemaObject): SchemaObject {
  const containers = DEFINITION_CONTAINERS.filter((name) => schemaObject(keyword(schema, name)) !== undefined);
  if (containers.length === 0) return schema;
  const reached = reachedDefinitions(schema, new Set<string>(containers));
  if (reached === undefined) return schema;
  const pruned = new Map<string, unknown>();
  for (const name of containers) {
    const all = membersOf(keyword(schema, name));
    const kept = all.filter(([key]) => reached.has(definitionKey(name, key)));
    if (kept.length < all.length) pruned.set(name, kept.length > 0 ? Object.fromEntries(kept) : undefined);
  }
  if (pruned.size === 0) return schema;
  const members = membersOf(schema).map(([key, value]) => [key, pruned.has(key) ? pruned.get(key) : value] as const);
  return Object.fromEntries(members.filter(([key, value]) => value !== undefined || !pruned.has(key)));
}

const definitionKey = (container: string, name: string): string => `${container}/${name}`;

/** Keys of the definitions that the rest of the schema leads to; undefined when that cannot be told. */
function reachedDefinitions(root: SchemaObject, containers: ReadonlySet<string>): Set<string> | undefined {
  const reached = new Set<string>();
  const seen = new Set<unknown>();
  const open: unknown[] = [root];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value !== "object" || value === null || seen.has(value)) continue;
    seen.add(value);
    if (isList(value)) {
      open.push(...listOf(value));
      continue;
    }
    const schema = value as SchemaObject;
    const members = membersOf(schema).filter(([key]) => schema !== root || !containers.has(key));
    open.push(...members.map(([, member]) => member));
    // References in a part with an identity of its own are relative to that part.
    if (schema !== root && typeof keyword(schema, "$id") === "string") return undefined;
    const target = referenceOf(schema);
    if (target === undefined || target === "#") continue;
    if (!target.startsWith("#/")) return undefined;
    const [container = "", name = ""] = pointerSteps(decodeFragment(target.slice(1)));
    if (!containers.has(container)) continue;
    reached.add(definitionKey(container, name));
    open.push(keyword(keyword(root, container) as SchemaObject, name));
  }
  return reached;
}

function decodeFragment(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // Not percent-encoded after all: read as it is.
    return text;
  }
}
