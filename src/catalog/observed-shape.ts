/** Results from which on keys that were in all of them are taken for fields. */
const MIN_SAMPLES = 3;

/** Keys of fields: an address, a date or an id that is a key would be data of somebody. */
const FIELD_NAME = /^[A-Za-z_$][A-Za-z0-9_$]{0,39}$/;

/** Beyond these, observed types stay coarse: a result costs bounded time. */
const MAX_KEYS = 80;
const MAX_ELEMENTS = 40;
const MAX_DEPTH = 6;
/** Values of one result that are looked at. */
const MAX_VALUES = 4_000;

/** How many values of a result may still be looked at. */
interface Budget {
  left: number;
}

/** The part of JSON Schema in which learned types are given. */
export type LearnedSchema = { readonly [keyword: string]: unknown };

/**
 * The types that values at one place had. Of an object it keeps the keys that every sample of it had and that look like
 * names of fields; all others count only by the types of their values.
 */
export class ObservedShape {
  readonly #types = new Set<string>();
  #objects = 0;
  /** Keys that every object so far had; undefined before the first. */
  #fields: Map<string, ObservedShape> | undefined;
  #hasOthers = false;
  /** All values of objects, whatever their keys: what a map holds. */
  #values: ObservedShape | undefined;
  #elements: ObservedShape | undefined;
  readonly #depth: number;

  constructor(depth = 0) {
    this.#depth = depth;
  }

  observe(value: unknown, budget: Budget = { left: MAX_VALUES }): void {
    if (--budget.left < 0) return;
    if (Array.isArray(value)) this.#observeArray(value, budget);
    else if (typeof value === "object" && value !== null) this.#observeObject(value as Record<string, unknown>, budget);
    else if (value !== undefined) this.#types.add(typeOf(value));
  }

  /** @param results Real results so far: from {@link MIN_SAMPLES} on fields are told. */
  schema(results: number): LearnedSchema {
    const types = [...this.#types].sort().map((type) => this.#schemaOf(type, results));
    const [only = {}, ...others] = types;
    return others.length === 0 ? only : { anyOf: types };
  }

  #observeArray(elements: readonly unknown[], budget: Budget): void {
    this.#types.add("array");
    if (this.#depth >= MAX_DEPTH) return;
    this.#elements ??= new ObservedShape(this.#depth + 1);
    for (const element of elements.slice(0, MAX_ELEMENTS)) this.#elements.observe(element, budget);
  }

  #observeObject(object: Record<string, unknown>, budget: Budget): void {
    this.#types.add("object");
    this.#objects++;
    if (this.#depth >= MAX_DEPTH) return;
    const keys = Object.keys(object);
    this.#observeValues(object, keys, budget);
    const fields = keys.length > MAX_KEYS ? [] : keys.filter((key) => FIELD_NAME.test(key));
    if (fields.length < keys.length) this.#hasOthers = true;
    if (this.#fields === undefined)
      this.#fields = new Map(fields.map((key) => [key, new ObservedShape(this.#depth + 1)]));
    const present = new Set(fields);
    for (const [key, shape] of this.#fields) {
      if (present.delete(key)) shape.observe(object[key], budget);
      else {
        this.#fields.delete(key);
        this.#hasOthers = true;
      }
    }
    if (present.size > 0) this.#hasOthers = true;
  }

  #observeValues(object: Record<string, unknown>, keys: readonly string[], budget: Budget): void {
    this.#values ??= new ObservedShape(this.#depth + 1);
    for (const key of keys.slice(0, MAX_ELEMENTS)) this.#values.observe(object[key], budget);
  }

  #schemaOf(type: string, results: number): LearnedSchema {
    if (type === "array")
      return this.#elements === undefined ? { type } : { type, items: this.#elements.schema(results) };
    return type === "object" ? this.#objectSchema(results) : { type };
  }

  #objectSchema(results: number): LearnedSchema {
    const isKnown = results >= MIN_SAMPLES && this.#objects >= MIN_SAMPLES && this.#fields !== undefined;
    const fields = isKnown ? [...(this.#fields ?? [])] : [];
    if (fields.length === 0) {
      return { type: "object", additionalProperties: this.#values?.schema(results) ?? {} };
    }
    return {
      type: "object",
      // fromEntries defines keys, so that one named "__proto__" stays a key.
      properties: Object.fromEntries(fields.map(([key, shape]) => [key, shape.schema(results)])),
      required: fields.map(([key]) => key),
      ...(this.#hasOthers ? { additionalProperties: true } : {}),
    };
  }
}

function typeOf(value: unknown): string {
  const type = typeof value;
  if (value === null) return "null";
  if (type === "bigint") return "number";
  return type === "string" || type === "number" || type === "boolean" ? type : "null";
}
