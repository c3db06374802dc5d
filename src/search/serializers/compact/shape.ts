/**
 * What schemas say, before it is text. Equal shapes are one object, so that what occurs more than once on a page can be
 * counted and printed once, and so that schemas which share their parts a thousandfold cost what their parts cost.
 */

/** A shape where it is used. */
export interface Value {
  shape: Shape;
  /** One line; "" when there is none. */
  doc: string;
  /** The default as JSON text. */
  fallback: string | undefined;
}

/** A property. */
export interface Member {
  name: string;
  optional: boolean;
  value: Value;
}

/** A keyword that the form has no sign for: as JSON text, or with what it holds as types. */
export type Extra = { keyword: string } & (
  | { json: string }
  | { value: Value }
  | { list: readonly Value[] }
  | { map: readonly (readonly [key: string, value: Value])[] }
);

/** A schema that leads back to itself: always printed by name. */
export interface Recursive {
  /** Set once it has been read. */
  value: Value | undefined;
}

/** The kinds of shapes. `marks` are constraints, and `!` for an object that takes no further keys. */
export type Form =
  | { kind: "text"; text: string }
  | { kind: "array"; item: Value; marks: string }
  | { kind: "object"; members: readonly Member[]; rest: Value | undefined; marks: string }
  | { kind: "any" | "one" | "all"; members: readonly Value[] }
  | { kind: "more"; base: Value; extras: readonly Extra[] }
  | { kind: "recursive"; target: Recursive };

/** A form that was met. */
export type Shape = Form & {
  readonly id: number;
  /** Wanted as its name, should it get one. */
  readonly hint: string;
};

/** All shapes of a page. */
export class Shapes {
  readonly #byKey = new Map<string, Shape>();
  readonly #recursive = new Map<string, Recursive>();

  /** The shape of this form: the same object for an equal form. */
  of(form: Form, hint: string): Shape {
    const key = form.kind === "recursive" ? `recursive:${this.#idOf(form.target)}` : keyOf(form);
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    const shape: Shape = { ...form, id: this.#byKey.size, hint };
    this.#byKey.set(key, shape);
    return shape;
  }

  /** What equal recursive schemas of several tools share. */
  recursive(closure: string): Recursive {
    let known = this.#recursive.get(closure);
    if (known === undefined) this.#recursive.set(closure, (known = { value: undefined }));
    return known;
  }

  readonly #ids = new Map<Recursive, number>();

  #idOf(target: Recursive): number {
    const id = this.#ids.get(target) ?? this.#ids.size;
    this.#ids.set(target, id);
    return id;
  }
}

/** A value that is nothing but its shape. */
export function plainValue(shape: Shape): Value {
  return { shape, doc: "", fallback: undefined };
}

/** True for a value with words of its own. */
export function isAnnotated({ doc, fallback }: Value): boolean {
  return doc !== "" || fallback !== undefined;
}

/** Equal for equal values. */
export function valueKey({ shape, doc, fallback }: Value): string {
  return isAnnotated({ shape, doc, fallback }) ? JSON.stringify([shape.id, doc, fallback]) : String(shape.id);
}

/** The values directly inside a shape; what a recursive one stands for is not inside. */
export function valuesIn(shape: Shape): readonly Value[] {
  switch (shape.kind) {
    case "text":
    case "recursive":
      return [];
    case "array":
      return [shape.item];
    case "object": {
      const values = shape.members.map(({ value }) => value);
      return shape.rest === undefined ? values : [...values, shape.rest];
    }
    case "any":
    case "one":
    case "all":
      return shape.members;
    case "more":
      return [shape.base, ...shape.extras.flatMap(valuesOfExtra)];
  }
}

function valuesOfExtra(extra: Extra): readonly Value[] {
  if ("value" in extra) return [extra.value];
  if ("list" in extra) return extra.list;
  return "map" in extra ? extra.map.map(([, value]) => value) : [];
}

function keyOf(form: Exclude<Form, { kind: "recursive" }>): string {
  switch (form.kind) {
    case "text":
      return `text:${form.text}`;
    case "array":
      return `array:${form.marks}:${valueKey(form.item)}`;
    case "object": {
      const members = form.members.map(({ name, optional, value }) => [name, optional, valueKey(value)]);
      return `object:${JSON.stringify([members, form.rest && valueKey(form.rest), form.marks])}`;
    }
    case "more":
      return `more:${JSON.stringify([valueKey(form.base), form.extras.map(extraKey)])}`;
    default:
      return `${form.kind}:${JSON.stringify(form.members.map(valueKey))}`;
  }
}

function extraKey(extra: Extra): unknown[] {
  if ("json" in extra) return [extra.keyword, "json", extra.json];
  if ("value" in extra) return [extra.keyword, "value", valueKey(extra.value)];
  if ("list" in extra) return [extra.keyword, "list", extra.list.map(valueKey)];
  return [extra.keyword, "map", extra.map.map(([key, value]) => [key, valueKey(value)])];
}
