import { isRedundantTitle } from "../../../../src/search/serializers/compact/extras.js";

/** A schema in its document. `name`: what it is of, by which titles are told to be redundant. */
export interface Place {
  schema: unknown;
  root: unknown;
  name: string;
}

type Json = Record<string, unknown>;

/** What a schema says, apart from how it says so. */
interface Facts {
  doc: string;
  fallback: string | undefined;
  parts: Part[];
  extras: Map<string, unknown>;
}

type Part =
  | {
      kind: "typed";
      type: string;
      marks: string;
      members: Map<string, { required: boolean; place: Place }>;
      rest: Place | undefined;
      closed: boolean;
      item: Place | undefined;
    }
  | { kind: "literals"; values: string[] }
  | { kind: "any" | "one"; branches: Facts[] }
  | { kind: "inner"; facts: Facts };

/**
 * What two schemas say differently, as paths; [] for two that say the same. Not told apart: a reference and what it
 * refers to, `const` and an `enum` of one, a list of types and an `anyOf` of them, the order of properties and of
 * `required`, an `allOf` of one. Not compared: titles that repeat a name, `$schema`, white space in documentation.
 */
export function differences(left: Place, right: Place): string[] {
  return new Comparison().places(left, right, "");
}

class Comparison {
  /** Pairs that are being compared, or were found the same: one met again is taken as the same. */
  readonly #assumed = new Map<unknown, Set<unknown>>();

  places(left: Place, right: Place, path: string): string[] {
    const [a, b] = [target(left), target(right)];
    if (isObject(a.schema) && isObject(b.schema)) {
      const known = this.#assumed.get(a.schema) ?? new Set();
      if (known.has(b.schema)) return [];
      this.#assumed.set(a.schema, known.add(b.schema));
    }
    return this.#facts(factsOf(a), factsOf(b), path);
  }

  #facts(left: Facts, right: Facts, path: string): string[] {
    const told: [string, unknown, unknown][] = [
      ["doc", left.doc, right.doc],
      ["default", left.fallback, right.fallback],
      ["parts", left.parts.map(partName), right.parts.map(partName)],
      ["keywords", [...left.extras.keys()].sort(), [...right.extras.keys()].sort()],
    ];
    const found = told.flatMap(([what, a, b]) =>
      same(a, b) ? [] : [`${path} ${what}: ${text(a)} against ${text(b)}`],
    );
    if (found.length > 0) return found;
    return [
      ...left.parts.flatMap((part, index) => this.#parts(part, right.parts[index] as Part, path)),
      ...[...left.extras].flatMap(([key, value]) => this.#extra(value, right.extras.get(key), `${path} +${key}`)),
    ];
  }

  #parts(left: Part, right: Part, path: string): string[] {
    if (left.kind === "literals") return same(left, right) ? [] : [`${path}: ${text(left)} against ${text(right)}`];
    if (left.kind === "inner") return this.#facts(left.facts, (right as typeof left).facts, `${path}()`);
    if (left.kind === "typed") return this.#typed(left, right as typeof left, path);
    const other = right as typeof left;
    if (left.branches.length !== other.branches.length)
      return [`${path} branches: ${left.branches.length} against ${other.branches.length}`];
    return left.branches.flatMap((branch, index) =>
      this.#facts(branch, other.branches[index] as Facts, `${path}|${index}`),
    );
  }

  #typed(left: Part & { kind: "typed" }, right: Part & { kind: "typed" }, path: string): string[] {
    const keysOf = ({ members }: typeof left): unknown =>
      [...members].map(([key, { required }]) => `${key} ${required}`).sort();
    const told = [
      [left.marks, left.closed, keysOf(left)],
      [right.marks, right.closed, keysOf(right)],
    ];
    if (!same(told[0], told[1])) return [`${path} ${left.type}: ${text(told[0])} against ${text(told[1])}`];
    const members = [...left.members].flatMap(([key, { place }]) =>
      this.places(place, (right.members.get(key) as { place: Place }).place, `${path}.${key}`),
    );
    return [
      ...members,
      ...this.#optional(left.item, right.item, `${path}[]`),
      ...this.#optional(left.rest, right.rest, `${path}.*`),
    ];
  }

  #optional(left: Place | undefined, right: Place | undefined, path: string): string[] {
    const anything: Place = { schema: {}, root: {}, name: "" };
    return this.places(left ?? anything, right ?? { ...anything, schema: {} }, path);
  }

  #extra(left: unknown, right: unknown, path: string): string[] {
    if (isPlace(left) && isPlace(right)) return this.places(left, right, path);
    if (Array.isArray(left) && Array.isArray(right) && left.length === right.length && left.every(isPlace)) {
      return left.flatMap((place, index) => this.places(place as Place, right[index] as Place, `${path}/${index}`));
    }
    if (left instanceof Map && right instanceof Map && same([...left.keys()], [...right.keys()])) {
      return [...left].flatMap(([key, place]) =>
        this.places(place as Place, right.get(key) as Place, `${path}/${key}`),
      );
    }
    return same(left, right) ? [] : [`${path}: ${text(left)} against ${text(right)}`];
  }
}

const partName = (part: Part): string => (part.kind === "typed" ? part.type : part.kind);
const text = (value: unknown): string => JSON.stringify(value)?.slice(0, 300) ?? "undefined";
const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isPlace = (value: unknown): value is Place => isObject(value) && "root" in value && "schema" in value;
const own = (schema: Json, key: string): unknown => (Object.hasOwn(schema, key) ? schema[key] : undefined);

/** What a place that is nothing but a reference leads to. */
function target(place: Place): Place {
  let at = place;
  for (let step = 0; step < 100 && isObject(at.schema) && same(Object.keys(at.schema), ["$ref"]); step++) {
    const found = referred(at, at.schema["$ref"]);
    if (found === undefined) return at;
    at = found;
  }
  return at;
}

function referred({ root }: Place, reference: unknown): Place | undefined {
  if (typeof reference !== "string" || !/^#(?:\/|$)/.test(reference)) return undefined;
  let schema = root;
  for (const step of decodeURIComponent(reference).split("/").slice(1)) {
    if (typeof schema !== "object" || schema === null) return undefined;
    schema = own(schema as Json, step.replaceAll("~1", "/").replaceAll("~0", "~"));
  }
  if (schema === undefined) return undefined;
  const telling = reference
    .split("/")
    .slice(1)
    .filter((step) => !/^(?:items|properties|\d+|anyOf|oneOf|allOf|)$/.test(step));
  return { schema, root, name: telling.at(-1)?.split(".").at(-1) ?? "" };
}

const MARKS: Record<string, readonly string[]> = {
  string: ["minLength", "maxLength", "pattern"],
  number: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  array: ["minItems", "maxItems", "uniqueItems"],
  object: ["minProperties", "maxProperties"],
};
const SCALARS = new Set(["string", "number", "integer", "boolean", "null"]);
const SILENT = new Set(["$schema", "$id", "$comment", "$anchor", "$dynamicAnchor", "$defs", "definitions", "title"]);
const READ = new Set(
  "type properties required enum const anyOf oneOf allOf description default nullable $ref additionalProperties".split(
    " ",
  ),
);

function factsOf(place: Place): Facts {
  const { schema } = place;
  if (schema === false) return { ...NOTHING(), parts: [{ kind: "literals", values: [] }] };
  if (!isObject(schema)) return NOTHING();
  const read = new Set<string>();
  const body = joined([
    typedFacts(place, schema, read),
    ...referredFacts(place, schema),
    ...unionFacts(place, schema),
    ...allFacts(place, schema),
  ]);
  const marked = body.parts.length === 0 ? withExtras(body, untypedMarks(schema, read)) : body;
  const whole = schema["nullable"] === true ? union("any", [marked, literal("null")]) : marked;
  const facts = withExtras(whole, extrasOf(place, schema, read));
  const title = own(schema, "title");
  const description = own(schema, "description");
  const telling = typeof title === "string" && !isRedundantTitle(title, place.name) ? title : "";
  const doc = fold(typeof description === "string" ? description : telling);
  const fallback = own(schema, "default");
  const words = { doc, fallback: fallback === undefined ? undefined : JSON.stringify(fallback) };
  if (doc === "" && words.fallback === undefined) return facts;
  const hasWords = facts.doc !== "" || facts.fallback !== undefined;
  return hasWords ? { ...NOTHING(), ...words, parts: [{ kind: "inner", facts }] } : { ...facts, ...words };
}

const NOTHING = (): Facts => ({ doc: "", fallback: undefined, parts: [], extras: new Map() });
const literal = (value: string): Facts => ({ ...NOTHING(), parts: [{ kind: "literals", values: [value] }] });

/** Everything that holds at once. One alone stays as it is, with its words. */
function joined(all: readonly Facts[]): Facts {
  const said = all.filter(
    ({ parts, extras, doc, fallback }) => parts.length + extras.size > 0 || doc !== "" || fallback !== undefined,
  );
  const [only, ...others] = said;
  if (only === undefined) return NOTHING();
  if (others.length === 0) return only;
  const parts = said.flatMap((facts): Part[] => {
    const isBare = facts.doc === "" && facts.fallback === undefined && facts.extras.size === 0;
    return isBare ? facts.parts : [{ kind: "inner", facts }];
  });
  return { ...NOTHING(), parts };
}

function withExtras(facts: Facts, extras: Facts["extras"]): Facts {
  if (extras.size === 0) return facts;
  const collides = [...extras.keys()].some((key) => facts.extras.has(key));
  const isFree = facts.doc === "" && facts.fallback === undefined && !collides;
  return isFree
    ? { ...facts, extras: new Map([...facts.extras, ...extras]) }
    : { ...NOTHING(), parts: [{ kind: "inner", facts }], extras };
}

function union(kind: "any" | "one", branches: readonly Facts[]): Facts {
  const [only, ...others] = branches;
  if (only !== undefined && others.length === 0) return only;
  if (kind === "one") return { ...NOTHING(), parts: [{ kind, branches: [...branches] }] };
  const flat = branches.flatMap((branch) => {
    const [part, ...further] = branch.parts;
    return isBare(branch) && part?.kind === "any" && further.length === 0 ? part.branches : [branch];
  });
  const literals: string[] = [];
  const rest: Facts[] = [];
  for (const branch of flat) {
    const [part, ...further] = branch.parts;
    if (isBare(branch) && part?.kind === "literals" && further.length === 0) literals.push(...part.values);
    else rest.push(branch);
  }
  const values: Part = { kind: "literals", values: [...new Set(literals)].sort() };
  if (rest.length === 0) return { ...NOTHING(), parts: [values] };
  const all = literals.length === 0 ? rest : [...rest, { ...NOTHING(), parts: [values] }];
  return all.length === 1 ? (all[0] as Facts) : { ...NOTHING(), parts: [{ kind: "any", branches: all }] };
}

const isBare = ({ doc, fallback, extras }: Facts): boolean => doc === "" && fallback === undefined && extras.size === 0;

function typedFacts(place: Place, schema: Json, read: Set<string>): Facts {
  const given =
    typeof schema["type"] === "string"
      ? [schema["type"]]
      : Array.isArray(schema["type"])
        ? (schema["type"] as string[])
        : [];
  const types = given.length > 0 ? [...new Set(given)] : impliedTypes(schema);
  const values = Object.hasOwn(schema, "const")
    ? [schema["const"]]
    : Array.isArray(schema["enum"])
      ? (schema["enum"] as unknown[])
      : undefined;
  const literals: Part[] =
    values === undefined
      ? []
      : [{ kind: "literals", values: [...new Set(values.map((value) => JSON.stringify(value)))].sort() }];
  const isTold =
    values !== undefined &&
    types.every((type) => SCALARS.has(type)) &&
    values.every((value) => types.some((type) => isOf(value, type)));
  if (isTold || types.length === 0) return { ...NOTHING(), parts: literals };
  const typed = union(
    "any",
    types.map((type) => typedPart(place, schema, type, read)),
  );
  return { ...typed, parts: [...typed.parts, ...literals] };
}

const isOf = (value: unknown, type: string): boolean =>
  value === null ? type === "null" : typeof value === type || (type === "integer" && Number.isInteger(value));

function impliedTypes(schema: Json): string[] {
  if (["properties", "required", "additionalProperties"].some((key) => Object.hasOwn(schema, key))) return ["object"];
  return Object.hasOwn(schema, "items") && !Array.isArray(schema["items"]) ? ["array"] : [];
}

function typedPart(place: Place, schema: Json, type: string, read: Set<string>): Facts {
  if (type === "null") return literal("null");
  const marks = marksOf(schema, type, read);
  const part: Part = {
    kind: "typed",
    type,
    marks,
    members: new Map(),
    rest: undefined,
    closed: false,
    item: undefined,
  };
  if (type === "array" && !Array.isArray(schema["items"])) {
    read.add("items");
    part.item = { ...place, schema: schema["items"] ?? {}, name: singular(place.name) };
  } else if (type === "array") part.item = { ...place, schema: {} };
  if (type === "object") objectPart(place, schema, part);
  return { ...NOTHING(), parts: [part] };
}

function objectPart(place: Place, schema: Json, part: Part & { kind: "typed" }): void {
  const required = new Set(
    (Array.isArray(schema["required"]) ? schema["required"] : []).filter(
      (name) => typeof name === "string",
    ) as string[],
  );
  for (const [key, property] of Object.entries(isObject(schema["properties"]) ? schema["properties"] : {})) {
    part.members.set(key, { required: required.delete(key), place: { ...place, schema: property, name: key } });
  }
  const additional = own(schema, "additionalProperties");
  part.closed = additional === false;
  if (isObject(additional) && !saysNothing({ ...place, schema: additional }))
    part.rest = { ...place, schema: additional, name: singular(place.name) };
  if (part.closed || part.rest !== undefined) {
    if (required.size > 0) part.marks += JSON.stringify([...required].sort());
  } else for (const key of required) part.members.set(key, { required: true, place: { ...place, schema: {} } });
}

function saysNothing(place: Place): boolean {
  const { schema } = target(place);
  return (
    isObject(schema) &&
    Object.keys(schema).every((key) => key.endsWith("Of") || SILENT.has(key)) &&
    joined([factsOf(place)]).parts.length === 0
  );
}

function marksOf(schema: Json, type: string, read: Set<string>): string {
  const names = [...(MARKS[type === "integer" ? "number" : type] ?? [])];
  if (!read.has("format")) names.push("format");
  const told = names.flatMap((name) => {
    const value = own(schema, name);
    const fits =
      name === "pattern" || name === "format"
        ? isPrintable(name, value)
        : name === "uniqueItems"
          ? value === true
          : typeof value === "number";
    if (!fits) return [];
    read.add(name);
    if (type === "integer" && Math.abs(value as number) === Number.MAX_SAFE_INTEGER && /^m..imum$/.test(name))
      return [];
    return [
      [
        name,
        name === "pattern" ? (value as string).replace(/\\.|\//g, (part) => (part === "/" ? "\\/" : part)) : value,
      ],
    ];
  });
  return JSON.stringify(told);
}

function isPrintable(name: string, value: unknown): boolean {
  if (typeof value !== "string" || value === "") return false;
  if (name === "format") return /^[a-z][a-z0-9_.-]*$/.test(value) && value !== "unique" && !/^x[\d.-]/.test(value);
  return !HIDDEN.test(value) && !/(?<!\\)(?:\\\\)*\\$/.test(value);
}

const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

function referredFacts(place: Place, schema: Json): Facts[] {
  if (typeof schema["$ref"] !== "string") return [];
  const found = referred(place, schema["$ref"]);
  if (found === undefined) return [literal(`ref ${schema["$ref"]}`)];
  return [deferred(found)];
}

/** A target may lead back to this very schema: its facts are read when they are looked at. */
const deferredFacts = new WeakMap<object, Facts>();

function deferred(place: Place): Facts {
  if (!isObject(place.schema)) return factsOf(place);
  const known = deferredFacts.get(place.schema);
  if (known !== undefined) return known;
  deferredFacts.set(place.schema, NOTHING());
  const facts = factsOf(place);
  deferredFacts.set(place.schema, facts);
  return facts;
}

function unionFacts(place: Place, schema: Json): Facts[] {
  return (["anyOf", "oneOf"] as const).flatMap((name) => {
    const branches = Array.isArray(schema[name]) ? schema[name] : [];
    if (branches.length === 0) return [];
    return [
      union(
        name === "anyOf" ? "any" : "one",
        branches.map((branch) => factsOf({ ...place, schema: branch })),
      ),
    ];
  });
}

function allFacts(place: Place, schema: Json): Facts[] {
  return (Array.isArray(schema["allOf"]) ? schema["allOf"] : []).map((part) => factsOf({ ...place, schema: part }));
}

function untypedMarks(schema: Json, read: Set<string>): Map<string, unknown> {
  const all = ["string", "number", "array", "object"].map((type) => marksOf(schema, type, read));
  return new Map(all.some((marks) => marks !== "[]") ? [["any", all.join()]] : []);
}

function extrasOf(place: Place, schema: Json, read: Set<string>): Map<string, unknown> {
  const extras = new Map<string, unknown>();
  for (const [key, value] of Object.entries(schema)) {
    if (
      key === "title" &&
      typeof value === "string" &&
      typeof schema["description"] === "string" &&
      !isRedundantTitle(value, place.name)
    ) {
      extras.set(key, value);
    }
    if (SILENT.has(key) || read.has(key) || READ.has(key)) continue;
    if (value === false && ["uniqueItems", "deprecated", "readOnly", "writeOnly"].includes(key)) continue;
    if (
      key === "propertyNames" &&
      isObject(value) &&
      Object.entries(value).every(([name, said]) => name === "type" && said === "string")
    )
      continue;
    extras.set(key, extraOf(key, value, { ...place, name: key }));
  }
  return extras;
}

function extraOf(key: string, value: unknown, place: Place): unknown {
  if (["prefixItems", "items"].includes(key) && Array.isArray(value))
    return value.map((schema) => ({ ...place, schema }));
  if (["patternProperties", "dependentSchemas"].includes(key)) {
    return new Map(Object.entries(isObject(value) ? value : {}).map(([name, schema]) => [name, { ...place, schema }]));
  }
  const holdsSchema =
    "not if then else contains propertyNames unevaluatedProperties unevaluatedItems additionalItems items contentSchema";
  return holdsSchema.split(" ").includes(key) ? { ...place, schema: value } : value;
}

const singular = (name: string): string => (/[^s]s$/.test(name) ? name.slice(0, -1) : name);

/** Documentation as it may be printed: on one line, without what does not show. */
export function fold(doc: string): string {
  return doc
    .replace(/[\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]|(?![\s\u0085])\p{Cc}/gu, "")
    .replace(/[\s\u0085]+/gu, " ")
    .trim()
    .replaceAll("*\\/", "*/");
}
