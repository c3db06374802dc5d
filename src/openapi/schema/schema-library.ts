import {
  isList,
  keyword,
  listOf,
  membersOf,
  referenceOf,
  schemaObject,
  stringsOf,
  type SchemaObject,
} from "../../catalog/json-schema.js";
import { type ApiDocument, Unencodable } from "../document/api-document.js";
import { DefinitionNames } from "./definition-names.js";
import { boundKeywords, exampleKeywords, typeKeywords, withNull } from "./dialect.js";
import { discriminatorOf, taggedKind } from "./discriminator.js";
import { PLAIN_KEYWORDS, SCHEMA_LISTS, SCHEMA_MAPS, SCHEMAS } from "./keywords.js";

/** What a schema is for: requests leave out what is readOnly, responses what is writeOnly. */
export type Direction = "input" | "output";

/** A schema of JSON Schema 2020-12. */
export type JsonSchema = { [keyword: string]: unknown };

/** Schemas nested deeper than this are an attack or a mistake. */
const MAX_DEPTH = 200;

interface Converted {
  schema: JsonSchema;
  /** Names of the definitions it refers to itself. */
  refers: ReadonlySet<string>;
}

/** One conversion under way. */
interface Scope {
  direction: Direction;
  refers: Set<string>;
  depth: number;
}

/**
 * The schemas of a document as JSON Schema 2020-12. References stay references, to `#/$defs/NAME`; every object is
 * converted once per direction, so that all tools share the same definitions.
 */
export class SchemaLibrary {
  readonly #document: ApiDocument;
  readonly #names = new DefinitionNames();
  /** Definitions as the document has them. */
  readonly #sources = new Map<string, unknown>();
  readonly #converted = { input: new WeakMap<object, Converted>(), output: new WeakMap<object, Converted>() };
  /** Objects being converted: one that holds itself becomes a definition. */
  readonly #open = new Set<object>();
  readonly #circular = new WeakMap<object, string>();

  constructor(document: ApiDocument) {
    this.#document = document;
  }

  /** Schemas of one tool and one direction, which share one `$defs`. */
  use(direction: Direction): SchemaUse {
    const refers = new Set<string>();
    return {
      convert: (schema) => this.#convert(schema, { direction, refers, depth: 0 }),
      definitions: () => this.#closure(refers, direction),
    };
  }

  /** False for a property that does not belong into this direction. */
  isUsed(property: unknown, direction: Direction): boolean {
    const mark = direction === "input" ? "readOnly" : "writeOnly";
    const schema = schemaObject(property);
    if (schema === undefined) return true;
    if (keyword(schema, mark) === true) return false;
    const reference = keyword(schema, "$ref");
    const target = typeof reference === "string" ? schemaObject(this.#document.target(reference)) : undefined;
    return target === undefined || keyword(target, mark) !== true;
  }

  #closure(names: Iterable<string>, direction: Direction): Record<string, JsonSchema> | undefined {
    const found = new Map<string, JsonSchema>();
    const waiting = [...names];
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      if (found.has(name)) continue;
      const { schema, refers } = this.#definition(name, direction);
      found.set(name, schema);
      waiting.push(...refers);
    }
    return found.size === 0 ? undefined : Object.fromEntries(found);
  }

  #definition(name: string, direction: Direction): Converted {
    const source = this.#sources.get(name);
    const object = schemaObject(source);
    if (object === undefined) return { schema: source === false ? { not: {} } : {}, refers: new Set() };
    const converted = this.#converted[direction];
    if (!converted.has(object)) this.#convert(object, { direction, refers: new Set(), depth: 0 });
    return converted.get(object) as Converted;
  }

  #convert(value: unknown, outer: Scope): JsonSchema | boolean {
    if (typeof value === "boolean") return value;
    const source = schemaObject(value);
    if (source === undefined) return true;
    if (outer.depth > MAX_DEPTH) throw new Unencodable(`a schema is nested deeper than ${MAX_DEPTH} levels`);
    const known = this.#converted[outer.direction].get(source);
    if (known !== undefined) return noted(outer, known);
    if (this.#open.has(source)) return this.#refer(this.#nameOfCircular(source), outer);
    const scope: Scope = { direction: outer.direction, refers: new Set(), depth: outer.depth + 1 };
    this.#open.add(source);
    try {
      const converted = { schema: this.#convertObject(source, scope), refers: scope.refers };
      this.#converted[outer.direction].set(source, converted);
      return noted(outer, converted);
    } finally {
      this.#open.delete(source);
    }
  }

  #convertObject(source: SchemaObject, scope: Scope): JsonSchema {
    const schema = typeKeywords(source);
    for (const name of PLAIN_KEYWORDS) {
      const own = keyword(source, name);
      if (own !== undefined) schema[name] = own;
    }
    Object.assign(schema, boundKeywords(source), exampleKeywords(source));
    this.#addSchemas(schema, source, scope);
    this.#addAlternatives(schema, source, scope);
    this.#addReference(schema, source, scope);
    this.#addRequired(schema, source, scope);
    return withNull(schema, source);
  }

  #addSchemas(schema: JsonSchema, source: SchemaObject, scope: Scope): void {
    for (const name of SCHEMA_MAPS) {
      const members = membersOf(keyword(source, name));
      if (members.length === 0) continue;
      const kept = name === "properties" ? members.filter(([, one]) => this.isUsed(one, scope.direction)) : members;
      schema[name] = Object.fromEntries(kept.map(([key, one]) => [key, this.#convert(one, scope)]));
    }
    for (const name of SCHEMA_LISTS) {
      const members = listOf(keyword(source, name));
      if (members.length > 0) schema[name] = members.map((one) => this.#listed(name, one, scope));
    }
    for (const name of SCHEMAS) {
      const own = keyword(source, name);
      if (own === undefined) continue;
      schema[name] = isList(own) ? own.map((one) => this.#convert(one, scope)) : this.#convert(own, scope);
    }
  }

  /** The parent in an `allOf` is the parent alone: only other references to it mean any of its kinds. */
  #listed(list: string, member: unknown, scope: Scope): JsonSchema | boolean {
    const reference = onlyReference(member);
    return list === "allOf" && reference !== undefined
      ? this.#refer(this.#nameOf(reference), scope)
      : this.#convert(member, scope);
  }

  /** Documents say "oneOf" of alternatives that overlap: a value that fits two of them is no mistake of a script. */
  #addAlternatives(schema: JsonSchema, source: SchemaObject, scope: Scope): void {
    const discriminator = discriminatorOf(source, this.#document.root);
    for (const name of ["oneOf", "anyOf"] as const) {
      const members = listOf(keyword(source, name));
      if (members.length === 0) continue;
      const alternatives = members.map((member) => {
        const converted = this.#convert(member, scope);
        const reference = onlyReference(member);
        if (discriminator === undefined || reference === undefined || typeof converted === "boolean") return converted;
        return taggedKind(converted, discriminator, reference, this.#document.root);
      });
      if (name === "anyOf" && schema["anyOf"] !== undefined) {
        schema["allOf"] = [...listOf(schema["allOf"]), { anyOf: alternatives }];
      } else schema["anyOf"] = alternatives;
    }
  }

  /** A reference to a parent that maps its kinds means any of these. */
  #addReference(schema: JsonSchema, source: SchemaObject, scope: Scope): void {
    const reference = referenceOf(source);
    if (reference === undefined) return;
    const target = schemaObject(this.#document.target(reference));
    const hasKinds = target !== undefined && !["oneOf", "anyOf"].some((name) => keyword(target, name) !== undefined);
    const discriminator = hasKinds ? discriminatorOf(target, this.#document.root) : undefined;
    if (discriminator === undefined) {
      Object.assign(schema, this.#refer(this.#nameOf(reference), scope));
      return;
    }
    schema["anyOf"] = Array.from(discriminator.values.keys(), (kind) =>
      taggedKind(this.#refer(this.#nameOf(kind), scope), discriminator, kind, this.#document.root),
    );
  }

  #addRequired(schema: JsonSchema, source: SchemaObject, { direction }: Scope): void {
    const properties = schemaObject(keyword(source, "properties")) ?? {};
    const isKept = (name: string): boolean => this.isUsed(keyword(properties, name), direction);
    // Some documents say `required: true` of a property itself, which is no list.
    const required = stringsOf(keyword(source, "required")).filter(isKept);
    if (isList(keyword(source, "required")) && required.length > 0) schema["required"] = required;
  }

  #refer(name: string, scope: Scope): JsonSchema {
    scope.refers.add(name);
    return { $ref: `#/$defs/${name}` };
  }

  #nameOf(reference: string): string {
    const target = this.#document.target(reference);
    const name = this.#names.nameOf(reference);
    this.#sources.set(name, target);
    return name;
  }

  #nameOfCircular(object: SchemaObject): string {
    const known = this.#circular.get(object);
    if (known !== undefined) return known;
    const title = keyword(object, "title");
    const name = this.#names.nameOf(`#${this.#sources.size}/${typeof title === "string" ? title : "Schema"}`);
    this.#circular.set(object, name);
    this.#sources.set(name, object);
    return name;
  }
}

/** The schemas of one side of a tool. */
export interface SchemaUse {
  /**
   * The schema, referring to {@link definitions}.
   *
   * @throws {Unencodable} when it refers to something outside of the document, or to nothing.
   */
  convert(schema: unknown): JsonSchema | boolean;
  /** Everything that the converted schemas refer to, directly or not, by name; undefined for nothing. Throws as `convert`. */
  definitions(): Record<string, JsonSchema> | undefined;
}

function noted(scope: Scope, { schema, refers }: Converted): JsonSchema {
  for (const name of refers) scope.refers.add(name);
  return schema;
}

/** The reference of a schema that says nothing else. */
function onlyReference(schema: unknown): string | undefined {
  const object = schemaObject(schema);
  const reference = object === undefined ? undefined : keyword(object, "$ref");
  return typeof reference === "string" && Object.keys(object ?? {}).length === 1 ? reference : undefined;
}
