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
} from "../../../catalog/json-schema.js";
import { escapeUnprintable, foldedText } from "../../../catalog/untrusted-text.js";
import { closureOf } from "./closure.js";
import { Constraints } from "./constraints.js";
import { isRedundantTitle, jsonText, readExtras } from "./extras.js";
import { isAnnotated, plainValue, type Member, type Recursive, type Shapes, type Value } from "./shape.js";

/** Characters of the documentation of one parameter. Longer ones are cut, and the page is not complete. */
const MAX_DOC_CHARACTERS = 8_000;
/** Schemas within schemas; what lies deeper is left out. */
const MAX_DEPTH = 48;

/** How many schemas of a page may still be read, and whether anything had to be left out. */
export interface ReadingBudget {
  nodes: number;
  complete: boolean;
}

/**
 * Reads the schemas of one document. Never throws for one, and reads each part once however often it is referred to.
 * Left out as saying nothing: `$schema`, `$id`, `$comment`, titles that repeat a name, `additionalProperties: true`.
 */
export class SchemaReader {
  readonly #root: unknown;
  readonly #shapes: Shapes;
  readonly #budget: ReadingBudget;
  readonly #known = new Map<SchemaObject, Value>();
  /** Schemas that are being read: one that is met again leads back to itself. */
  readonly #open = new Set<SchemaObject>();
  readonly #recursive = new Map<SchemaObject, Recursive>();
  /** One object, to be told from others. */
  readonly #any: Value;

  constructor(root: unknown, shapes: Shapes, budget: ReadingBudget) {
    this.#root = root;
    this.#shapes = shapes;
    this.#budget = budget;
    this.#any = this.#word("any");
  }

  /** @param hint What the schema is of: the name of a property or definition. */
  value(schema: unknown, hint: string): Value {
    if (schema === false) return this.#word("never");
    const object = schemaObject(schema);
    if (object === undefined) {
      if (schema !== true && schema !== undefined) this.#budget.complete = false;
      return this.#any;
    }
    const known = this.#known.get(object);
    if (known !== undefined) return known;
    if (this.#open.has(object)) return this.#backTo(object, hint);
    if (--this.#budget.nodes < 0 || this.#open.size > MAX_DEPTH) return this.#leftOut();
    this.#open.add(object);
    const read = this.#annotated(object, hint);
    this.#open.delete(object);
    const value = this.#recursive.has(object) ? this.#named(object, read, hint) : read;
    this.#known.set(object, value);
    return value;
  }

  #leftOut(): Value {
    this.#budget.complete = false;
    return this.#word("any /* left out */");
  }

  #backTo(object: SchemaObject, hint: string): Value {
    const target = this.#recursive.get(object) ?? this.#shapes.recursive(closureOf(object, this.#root));
    this.#recursive.set(object, target);
    return plainValue(this.#shapes.of({ kind: "recursive", target }, hint));
  }

  #named(object: SchemaObject, read: Value, hint: string): Value {
    const target = this.#recursive.get(object) as Recursive;
    target.value ??= read;
    return plainValue(this.#shapes.of({ kind: "recursive", target }, hint));
  }

  /** What a schema says with its documentation and default. */
  #annotated(schema: SchemaObject, hint: string): Value {
    const inner = this.#composed(schema, hint);
    const fallback = keyword(schema, "default");
    const own = { doc: this.#doc(schema, hint), fallback: fallback === undefined ? undefined : this.#json(fallback) };
    if (!isAnnotated({ ...inner, ...own })) return inner;
    // A shape around it, so that the same words at several places can be printed once.
    return this.#shape({ kind: "all", members: [{ ...own, shape: inner.shape }] }, hint);
  }

  /** The description; without one a title that says something. */
  #doc(schema: SchemaObject, hint: string): string {
    const description = keyword(schema, "description");
    const title = keyword(schema, "title");
    const text = typeof description === "string" ? description : title;
    if (typeof text !== "string" || (text === title && isRedundantTitle(title, hint))) return "";
    if (text.length > MAX_DOC_CHARACTERS) this.#budget.complete = false;
    return foldedText(text, MAX_DOC_CHARACTERS);
  }

  #composed(schema: SchemaObject, hint: string): Value {
    const constraints = new Constraints(schema);
    const { read } = constraints;
    for (const name of ["type", "properties", "required", "enum", "const", "anyOf", "oneOf", "allOf"]) read.add(name);
    for (const name of ["description", "default", "nullable", "$ref", "$dynamicRef", "$recursiveRef"]) read.add(name);
    const parts = [
      ...this.#typed(schema, constraints, hint),
      ...this.#referred(schema),
      ...this.#branches(schema, hint),
    ].filter((part) => part !== this.#any);
    const [only, ...others] = parts;
    let value = only ?? this.#anyWith(constraints.marks("any"));
    if (others.length > 0) value = this.#shape({ kind: "all", members: parts }, hint);
    if (keyword(schema, "nullable") === true) value = this.#orNull(value, hint);
    if (!this.#hasTitleOfItsOwn(schema, hint)) read.add("title");
    const extras = readExtras(schema, read, { value: (part, name) => this.value(part, name), json: this.#json });
    return extras.length === 0 ? value : this.#shape({ kind: "more", base: value, extras }, hint);
  }

  #hasTitleOfItsOwn(schema: SchemaObject, hint: string): boolean {
    const title = keyword(schema, "title");
    return typeof title === "string" && keyword(schema, "description") !== undefined && !isRedundantTitle(title, hint);
  }

  readonly #json = (value: unknown): string | undefined => {
    const text = jsonText(value);
    if (text === undefined) this.#budget.complete = false;
    return text;
  };

  /** What `type`, the keywords that go with types, `enum` and `const` say. */
  #typed(schema: SchemaObject, constraints: Constraints, hint: string): Value[] {
    const types = typesOf(schema).length > 0 ? typesOf(schema) : impliedTypes(schema);
    const values = valuesOf(schema);
    const literals = values === undefined ? [] : [this.#literals(values, hint)];
    // The values tell the type.
    if (values !== undefined && types.every(isScalar) && values.every((value) => types.some(isOf(value)))) {
      return literals;
    }
    if (types.length === 0) return literals;
    const members = types.map((type) => this.#type(type, schema, constraints, hint));
    const [only, ...others] = members;
    const typed = only !== undefined && others.length === 0 ? only : this.#shape({ kind: "any", members }, hint);
    return [typed, ...literals];
  }

  #type(type: string, schema: SchemaObject, constraints: Constraints, hint: string): Value {
    if (type === "object") return this.#object(schema, constraints, hint);
    if (type === "array") return this.#array(schema, constraints, hint);
    if (!isScalar(type)) return this.#leftOut();
    return this.#word(`${type === "integer" ? "int" : type}${constraints.marks(type)}`);
  }

  #array(schema: SchemaObject, constraints: Constraints, hint: string): Value {
    const items = keyword(schema, "items");
    const isTuple = Array.isArray(items);
    if (!isTuple) constraints.read.add("items");
    const item = this.value(isTuple ? undefined : items, singular(hint));
    return this.#shape({ kind: "array", item, marks: constraints.marks("array") }, hint);
  }

  #object(schema: SchemaObject, constraints: Constraints, hint: string): Value {
    const additional = keyword(schema, "additionalProperties");
    constraints.read.add("additionalProperties");
    const required = new Set(stringsOf(keyword(schema, "required")));
    const properties = membersOf(keyword(schema, "properties"));
    const members: Member[] = properties.map(([name, property]) => ({
      name,
      optional: !required.delete(name),
      value: this.value(property, name),
    }));
    const rest = additional === undefined || additional === false ? this.#any : this.value(additional, singular(hint));
    const isOpen = additional !== false && rest === this.#any;
    if (isOpen) members.push(...[...required].map((name) => ({ name, optional: false, value: this.#any })));
    // Among the members they would be names that `additionalProperties` does not speak of.
    const unnamed = isOpen || required.size === 0 ? [] : [`also ${this.#json([...required])}`];
    const marks = `${constraints.marks("object", unnamed)}${additional === false ? "!" : ""}`;
    return this.#shape({ kind: "object", members, rest: rest === this.#any ? undefined : rest, marks }, hint);
  }

  #literals(values: readonly unknown[], hint: string): Value {
    const read = [...new Set(values.map(this.#json))].filter((text) => text !== undefined);
    // An object that is a value must not read like the type of one.
    const texts = read.map((text) => (text.startsWith("{") ? `json ${text}` : text));
    return this.#shape({ kind: "text", text: texts.length === 0 ? "never" : texts.join("|") }, hint);
  }

  #referred(schema: SchemaObject): Value[] {
    const reference = referenceOf(schema);
    if (reference === undefined) return [];
    const found = resolveReference(this.#root, reference);
    if (found === undefined) return [this.#word(`ref ${escapeUnprintable(JSON.stringify(reference))}`)];
    return [this.value(found.schema, nameOfReference(reference))];
  }

  #branches(schema: SchemaObject, hint: string): Value[] {
    const read = (name: string): Value[] => listOf(keyword(schema, name)).map((branch) => this.value(branch, hint));
    const union = (kind: "any" | "one", members: Value[]): Value[] =>
      members.length < 2 ? members : [this.#shape({ kind, members }, hint)];
    return [...union("any", read("anyOf")), ...union("one", read("oneOf")), ...read("allOf")];
  }

  #anyWith(marks: string): Value {
    return marks === "" ? this.#any : this.#word(`any${marks}`);
  }

  #orNull(value: Value, hint: string): Value {
    return this.#shape({ kind: "any", members: [value, this.#word("null")] }, hint);
  }

  #word(text: string): Value {
    return this.#shape({ kind: "text", text }, "");
  }

  #shape(form: Parameters<Shapes["of"]>[0], hint: string): Value {
    return plainValue(this.#shapes.of(form, hint));
  }
}

const isScalar = (type: string): boolean => ["string", "number", "integer", "boolean", "null"].includes(type);

const isOf =
  (value: unknown) =>
  (type: string): boolean => {
    if (value === null) return type === "null";
    return typeof value === type || (type === "integer" && Number.isInteger(value));
  };

function valuesOf(schema: SchemaObject): readonly unknown[] | undefined {
  const constant = keyword(schema, "const");
  if (constant !== undefined) return [constant];
  const values = keyword(schema, "enum");
  return Array.isArray(values) ? listOf(values) : undefined;
}

/** Types that a schema without `type` means, by the keywords it has. */
function impliedTypes(schema: SchemaObject): string[] {
  const has = (name: string): boolean => keyword(schema, name) !== undefined;
  if (["properties", "required", "additionalProperties"].some(has)) return ["object"];
  return has("items") && !Array.isArray(keyword(schema, "items")) ? ["array"] : [];
}

const singular = (name: string): string => (/[^s]s$/.test(name) ? name.slice(0, -1) : name);

/** `#/$defs/microsoft.graph.event` -> `event`; `#/properties/filters/items` -> `filters`. */
function nameOfReference(reference: string): string {
  const steps = reference.slice(reference.indexOf("#") + 1).split("/");
  const telling = steps.filter((step) => step !== "" && !/^(?:items|properties|\d+|anyOf|oneOf|allOf)$/.test(step));
  return telling.at(-1)?.split(".").at(-1) ?? "";
}
