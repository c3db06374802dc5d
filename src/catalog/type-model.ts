import { stringLiteral } from "./identifiers.js";
import {
  keyword,
  listOf,
  membersOf,
  referenceOf,
  resolveReference,
  schemaObject,
  stringsOf,
  typesOf,
  type SchemaObject,
} from "./json-schema.js";
import {
  cutType,
  MAX_TYPE_DEPTH,
  unknownType,
  type Definition,
  type PropertyNode,
  type TypeNode,
} from "./type-node.js";
import { settleTypes } from "./type-soundness.js";

/** A longer property name is left out, a longer literal is printed as its type, each with a marker. */
const MAX_NAME_CHARACTERS = 1_000;
/** Schemas read for one type, so that a huge or self-sharing one costs bounded time. */
export const MAX_TYPE_NODES = 20_000;

/**
 * The type of a JSON Schema. Never throws for a schema, however broken: what cannot be read becomes `unknown` with a
 * note. The result is sound TypeScript: no type alias refers to itself without a structure in between.
 *
 * @param name wanted for the root, should the schema refer to itself
 */
export function typeModel(schema: unknown, name: string): Definition {
  try {
    return new TypeModelBuilder(schema, name).build();
  } catch {
    // Only a stack overflow or a hostile proxy comes here: the tool stays usable, its type unsaid.
    return { name, body: unknownType("unreadable schema"), uses: 1 };
  }
}

const text = (word: string): TypeNode => ({ kind: "text", text: word });

const SCALARS: ReadonlyMap<string, string> = new Map([
  ["string", "string"],
  ["number", "number"],
  ["integer", "number"],
  ["boolean", "boolean"],
  ["null", "null"],
]);

/** What a schema is built within. `inherited`: types an outer schema gives to branches that name none. */
interface Place {
  depth: number;
  inherited: readonly string[];
  /** Names that outer schemas of the same value declare. */
  declared: ReadonlySet<string>;
}

const TOP: Place = { depth: 0, inherited: [], declared: new Set() };

class TypeModelBuilder {
  readonly #root: unknown;
  readonly #rootName: string;
  readonly #definitions = new Map<unknown, Definition>();
  /** Definitions to build: a queue instead of recursion, so that a long chain of them needs no stack. */
  readonly #queue: { definition: Definition; schema: unknown }[] = [];
  /** Schemas being built now: one met again is the same object inside itself. */
  readonly #open = new Set<SchemaObject>();
  #nodes = 0;

  constructor(root: unknown, rootName: string) {
    this.#root = root;
    this.#rootName = rootName;
  }

  build(): Definition {
    const root = this.#define(this.#root, this.#rootName);
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      next.definition.body = this.#type(next.schema, TOP);
    }
    settleTypes(root, [...this.#definitions.values()]);
    return root;
  }

  #define(schema: unknown, name: string): Definition {
    const known = this.#definitions.get(schema);
    if (known !== undefined) return known;
    const definition: Definition = { name: typeName(name), body: unknownType(), uses: 0 };
    this.#definitions.set(schema, definition);
    this.#queue.push({ definition, schema });
    return definition;
  }

  #type(schema: unknown, place: Place): TypeNode {
    if (schema === true || schema === undefined) return unknownType();
    if (schema === false) return text("never");
    const object = schemaObject(schema);
    if (object === undefined) return unknownType("not a schema");
    if (++this.#nodes > MAX_TYPE_NODES || place.depth > MAX_TYPE_DEPTH) return cutType();
    if (this.#open.has(object)) return { kind: "reference", target: this.#define(object, "Nested") };
    this.#open.add(object);
    const node = this.#compose(object, place);
    this.#open.delete(object);
    return node.origin === undefined ? { ...node, origin: object } : wrap(node, object);
  }

  /** Everything a schema says at once: `$ref`, values, types, branches and their siblings. */
  #compose(schema: SchemaObject, place: Place): TypeNode {
    const types = typesOf(schema);
    const implied = types.length > 0 ? types : impliedTypes(schema);
    const inherited = implied.length > 0 ? implied : place.inherited;
    const parts = [this.#reference(schema), this.#values(schema, place), ...this.#branches(schema, place, inherited)];
    const said = parts.filter((part) => part !== undefined);
    const base = this.#base(schema, said.length > 0 ? implied : inherited, place);
    if (base !== undefined && (says(schema, implied) || !said.some(isInformative))) said.unshift(base);
    const [first = unknownType(), ...others] = said;
    const node = others.length === 0 ? first : intersection(said);
    return keyword(schema, "nullable") === true && !hasNull(node) ? union([node, text("null")]) : node;
  }

  #reference(schema: SchemaObject): TypeNode | undefined {
    const reference = referenceOf(schema);
    if (reference === undefined) return undefined;
    const found = resolveReference(this.#root, reference);
    if (found === undefined) return unknownType(`unresolved $ref ${stringLiteral(reference.slice(0, 120))}`);
    if (schemaObject(found.schema) === undefined) return this.#type(found.schema, TOP);
    return { kind: "reference", target: this.#define(found.schema, nameOfReference(reference, this.#rootName)) };
  }

  #values(schema: SchemaObject, place: Place): TypeNode | undefined {
    const constant = keyword(schema, "const");
    if (constant !== undefined) return this.#literal(constant, place.depth);
    const values = keyword(schema, "enum");
    return Array.isArray(values) ? union(listOf(values).map((value) => this.#literal(value, place.depth))) : undefined;
  }

  #literal(value: unknown, depth: number): TypeNode {
    if (++this.#nodes > MAX_TYPE_NODES || depth > MAX_TYPE_DEPTH) return cutType();
    if (typeof value === "string") {
      return value.length > MAX_NAME_CHARACTERS ? cutType("string") : text(stringLiteral(value));
    }
    if (typeof value === "number") return text(Number.isFinite(value) ? String(value) : "number");
    if (typeof value === "boolean" || value === null) return text(String(value));
    if (Array.isArray(value)) {
      const elements = listOf(value).map((element) => this.#literal(element, depth + 1));
      return { kind: "tuple", elements, required: elements.length, rest: undefined };
    }
    if (schemaObject(value) === undefined) return unknownType("not a JSON value");
    const properties = membersOf(value).map(([key, member]) => ({
      key,
      optional: false,
      type: this.#literal(member, depth + 1),
    }));
    return { kind: "object", properties, index: undefined, closed: true };
  }

  #branches(schema: SchemaObject, place: Place, inherited: readonly string[]): TypeNode[] {
    const [anyOf, oneOf, allOf] = ["anyOf", "oneOf", "allOf"].map((name) => listOf(keyword(schema, name)));
    const parts: TypeNode[] = [];
    if (anyOf?.length || oneOf?.length || allOf?.length) {
      const declared = membersOf(keyword(schema, "properties")).map(([key]) => key);
      const inner = { depth: place.depth + 1, inherited, declared: new Set([...place.declared, ...declared]) };
      const typeOf = (branch: unknown): TypeNode => this.#type(branch, inner);
      if (anyOf?.length) parts.push(union(anyOf.map(typeOf)));
      if (oneOf?.length) parts.push(union(oneOf.map(typeOf)));
      parts.push(...(allOf ?? []).map(typeOf));
    }
    const not = keyword(schema, "not");
    if (not === true || (schemaObject(not) !== undefined && membersOf(not).length === 0)) parts.push(text("never"));
    return parts;
  }

  #base(schema: SchemaObject, types: readonly string[], place: Place): TypeNode | undefined {
    if (types.length === 0) return undefined;
    const members = types.map((type) => {
      if (type === "object") return this.#object(schema, place);
      if (type === "array") return this.#array(schema, place);
      const scalar = SCALARS.get(type);
      return scalar === undefined ? unknownType(`unknown type ${stringLiteral(type.slice(0, 60))}`) : text(scalar);
    });
    return members.length === 1 ? members[0] : union(members);
  }

  #array(schema: SchemaObject, place: Place): TypeNode {
    const inner: Place = { ...TOP, depth: place.depth + 1 };
    const items = keyword(schema, "items");
    const prefix = Array.isArray(items) ? items : keyword(schema, "prefixItems");
    const further = keyword(schema, Array.isArray(items) ? "additionalItems" : "items");
    if (!Array.isArray(prefix) || prefix.length === 0) return { kind: "array", element: this.#type(further, inner) };
    const elements = listOf(prefix).map((element) => this.#type(element, inner));
    const minimum = keyword(schema, "minItems");
    // Authors who give no minItems mean all of them, though the standard would let every one be absent.
    const required = typeof minimum === "number" ? Math.min(elements.length, Math.max(0, minimum)) : elements.length;
    const rest = further === undefined || further === false ? undefined : this.#type(further, inner);
    return { kind: "tuple", elements, required, rest };
  }

  #object(schema: SchemaObject, place: Place): TypeNode {
    const inner: Place = { ...TOP, depth: place.depth + 1 };
    const required = new Set(stringsOf(keyword(schema, "required")));
    const members = membersOf(keyword(schema, "properties"));
    const printable = members.filter(([key]) => key.length <= MAX_NAME_CHARACTERS);
    const properties: PropertyNode[] = printable.map(([key, property]) => ({
      key,
      optional: !required.has(key),
      type: this.#type(property, inner),
    }));
    const named = new Set(properties.map(({ key }) => key));
    const index = this.#index(schema, inner) ?? (printable.length < members.length ? cutType() : undefined);
    for (const key of [...required].filter((name) => name.length <= MAX_NAME_CHARACTERS)) {
      if (!named.has(key)) properties.push({ key, optional: false, type: index ?? unknownType() });
      named.add(key);
    }
    properties.push(...this.#conditional(schema, new Set([...place.declared, ...named]), inner));
    return { kind: "object", properties, index, closed: keyword(schema, "additionalProperties") === false };
  }

  #index(schema: SchemaObject, inner: Place): TypeNode | undefined {
    const types = membersOf(keyword(schema, "patternProperties")).map(([, property]) => this.#type(property, inner));
    const additional = keyword(schema, "additionalProperties");
    if (additional === true || schemaObject(additional) !== undefined) types.push(this.#type(additional, inner));
    return types.length > 1 ? union(types) : types[0];
  }

  /** Properties that only `then`, `else` or `dependentSchemas` declare: optional, with every type they may have. */
  #conditional(schema: SchemaObject, declared: ReadonlySet<string>, inner: Place): PropertyNode[] {
    const found = new Map<string, TypeNode[]>();
    const dependent = membersOf(keyword(schema, "dependentSchemas")).map(([, value]) => value);
    for (const part of [keyword(schema, "then"), keyword(schema, "else"), ...dependent]) {
      const object = schemaObject(part);
      for (const [key, property] of object === undefined ? [] : membersOf(keyword(object, "properties"))) {
        const type = declared.has(key) ? unknownType() : this.#type(property, inner);
        if (isInformative(type)) found.set(key, [...(found.get(key) ?? []), type]);
      }
    }
    return [...found].map(([key, types]) => ({ key, optional: true, type: union(types) }));
  }
}

const union = (members: TypeNode[]): TypeNode => ({ kind: "union", members });
const intersection = (members: TypeNode[]): TypeNode => ({ kind: "intersection", members });
/** A node that has documentation of its own, with more around it. */
const wrap = (node: TypeNode, origin: SchemaObject): TypeNode => ({ kind: "intersection", members: [node], origin });

/** Types that a schema without `type` means, by the keywords it has. */
function impliedTypes(schema: SchemaObject): string[] {
  const has = (name: string): boolean => keyword(schema, name) !== undefined;
  if (["properties", "required", "additionalProperties", "patternProperties", "then", "else"].some(has)) {
    return ["object"];
  }
  return ["items", "prefixItems"].some(has) ? ["array"] : [];
}

/** True when the type given by `type` says more than its name: it then stands beside branches and references. */
function says(schema: SchemaObject, types: readonly string[]): boolean {
  const keywords: string[] = [];
  if (types.includes("object")) {
    keywords.push("properties", "required", "patternProperties", "then", "else", "dependentSchemas");
    if (keyword(schema, "additionalProperties") !== false) keywords.push("additionalProperties");
  }
  if (types.includes("array")) keywords.push("items", "prefixItems");
  return keywords.some((name) => {
    const value = keyword(schema, name);
    return Array.isArray(value) ? value.length > 0 : value === true || membersOf(value).length > 0;
  });
}

/** False for a type that adds nothing to an intersection. */
function isInformative(node: TypeNode): boolean {
  if (node.kind === "text") return node.text !== "unknown";
  if (node.kind === "object") return node.properties.length > 0 || node.index !== undefined;
  if (node.kind === "union") return node.members.every(isInformative);
  return node.kind !== "intersection" || node.members.some(isInformative);
}

function hasNull(node: TypeNode): boolean {
  if (node.kind === "union") return node.members.some(hasNull);
  return node.kind === "text" && node.text === "null";
}

/** `#/$defs/microsoft.graph.event` -> `event`; `#/properties/filters/items` -> `filters`; `#` -> the root's name. */
function nameOfReference(reference: string, rootName: string): string {
  const steps = reference.slice(reference.indexOf("#") + 1).split("/");
  const telling = steps.filter((step) => step !== "" && !/^(?:items|properties|\d+|anyOf|oneOf|allOf)$/.test(step));
  return telling.at(-1)?.split(".").at(-1) ?? rootName;
}

/** A legal name of a type that reads like `name`. */
function typeName(name: string): string {
  const words = name.slice(0, 80).split(/[^A-Za-z0-9_$]+/);
  const joined = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
  return /^[A-Za-z]/.test(joined) ? joined : `Type${joined}`;
}
