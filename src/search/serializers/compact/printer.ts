import { propertyKey } from "../../../catalog/identifiers.js";
import type { TypeNames } from "./names.js";
import { isAnnotated, valuesIn, type Extra, type Shape, type Value } from "./shape.js";

/** Where a value stands: what binds more closely than `|` needs parentheses. */
type Place = "member" | "branch" | "operand";

/** Prints values as types, and those with documentation inside over several lines. */
export class ShapePrinter {
  readonly #names: TypeNames;
  readonly #documented = new Map<Shape, boolean>();

  constructor(names: TypeNames) {
    this.#names = names;
  }

  /**
   * `label` and the value, as lines: an object with documentation inside prints as `{}`, its members below it, indented.
   *
   * @param label With what separates it from the type, such as `- name?: `.
   */
  lines(label: string, outer: Value, indent: string, isDeclaration = false): string[] {
    const value = isDeclaration ? this.#bare(wrapped(outer) ?? outer) : this.#bare(outer);
    const block = this.#blockIn(value.shape, isDeclaration);
    const type = this.#shape(value.shape, "member", { hole: block, isDeclaration });
    const fallback = value.fallback === undefined ? "" : ` = ${value.fallback}`;
    const doc = value.doc === "" ? "" : ` - ${value.doc}`;
    const head = `${indent}${label}${type}${fallback}${doc}`;
    return block === undefined ? [head] : [head, ...this.members(block, `${indent} `)];
  }

  /** The value that a shape of its own was made for, unless it is printed by name. */
  #bare(value: Value): Value {
    const inner = wrapped(value);
    return inner === undefined || this.#names.of(value.shape) !== undefined ? value : inner;
  }

  /** One line or more for each member of an object. */
  members(shape: Shape & { kind: "object" }, indent: string): string[] {
    const members = shape.members.flatMap(({ name, optional, value }) =>
      this.lines(`- ${memberLabel(name, optional)}`, value, indent),
    );
    return shape.rest === undefined ? members : [...members, ...this.lines("- [key]: ", shape.rest, indent)];
  }

  /** The object that a line shows by its members below: the value itself, or the element of a list. */
  #blockIn(shape: Shape, isDeclaration: boolean): (Shape & { kind: "object" }) | undefined {
    if (!isDeclaration && this.#names.of(shape) !== undefined) return undefined;
    if (shape.kind === "array") return this.#blockIn(this.#bare(shape.item).shape, false);
    return shape.kind === "object" && this.#isDocumented(shape) ? shape : undefined;
  }

  #isDocumented(shape: Shape): boolean {
    const known = this.#documented.get(shape);
    if (known !== undefined) return known;
    const found = valuesIn(shape).some(
      (value) => value.doc !== "" || (this.#names.of(value.shape) === undefined && this.#isDocumented(value.shape)),
    );
    this.#documented.set(shape, found);
    return found;
  }

  #value(outer: Value, place: Place): string {
    const value = this.#bare(outer);
    const { shape, doc, fallback } = value;
    if (place !== "member" && (fallback !== undefined || (doc !== "" && place === "operand"))) {
      return `(${this.#value(value, "member")})`;
    }
    // A comment behind `A|B` would be one about B.
    const type = this.#shape(shape, doc !== "" && fallback === undefined ? "operand" : place, {});
    const standard = fallback === undefined ? "" : ` = ${fallback}`;
    return `${type}${standard}${doc === "" ? "" : ` /* ${doc.replaceAll("*/", "*\\/")} */`}`;
  }

  #shape(
    shape: Shape,
    place: Place,
    { hole, isDeclaration = false }: { hole?: Shape | undefined; isDeclaration?: boolean },
  ): string {
    const name = isDeclaration ? undefined : this.#names.of(shape);
    if (name !== undefined) return name;
    if (shape === hole && shape.kind === "object") return `{}${shape.marks}`;
    switch (shape.kind) {
      case "text":
        return place === "operand" && shape.text.includes("|") ? `(${shape.text})` : shape.text;
      case "array":
        return `${this.#item(this.#bare(shape.item), hole)}[]${shape.marks}`;
      case "object":
        return this.#object(shape);
      case "any":
        return this.#union(shape.members, place);
      case "one":
        return `oneOf(${shape.members.map((member) => this.#value(member, "member")).join(", ")})`;
      case "all":
        return this.#all(shape.members, place);
      case "more":
        return `${this.#value(shape.base, "operand")} +{${shape.extras.map((extra) => this.#extra(extra)).join(", ")}}`;
      case "recursive":
        return "any";
    }
  }

  /** The element of a list, in parentheses where it has words of its own. */
  #item(item: Value, hole: Shape | undefined): string {
    if (hole === undefined) return this.#value(item, "operand");
    if (!isAnnotated(item)) return this.#shape(item.shape, "operand", { hole });
    const fallback = item.fallback === undefined ? "" : ` = ${item.fallback}`;
    const doc = item.doc === "" ? "" : ` /* ${item.doc.replaceAll("*/", "*\\/")} */`;
    return `(${this.#shape(item.shape, "member", { hole })}${fallback}${doc})`;
  }

  #object(shape: Shape & { kind: "object" }): string {
    const members = shape.members.map(
      ({ name, optional, value }) => `${memberLabel(name, optional)}${this.#value(value, "member")}`,
    );
    if (shape.rest !== undefined) members.push(`[key]: ${this.#value(shape.rest, "member")}`);
    return members.length === 0 ? `object${shape.marks}` : `{${members.join(", ")}}${shape.marks}`;
  }

  #union(members: readonly Value[], place: Place): string {
    const text = members.map((member) => this.#value(member, "branch")).join("|");
    const isOperand = place === "operand" && (members.length !== 1 || text.includes("|"));
    return isOperand ? `(${text})` : text;
  }

  #all(members: readonly Value[], place: Place): string {
    const text = members.map((member) => this.#value(member, "operand")).join(" & ");
    return place !== "member" && members.length > 1 ? `(${text})` : text;
  }

  #extra(extra: Extra): string {
    const key = `${propertyKey(extra.keyword)}: `;
    if ("json" in extra) return `${key}${extra.json}`;
    if ("value" in extra) return `${key}${this.#value(extra.value, "member")}`;
    if ("list" in extra) return `${key}[${extra.list.map((part) => this.#value(part, "member")).join(", ")}]`;
    const parts = extra.map.map(([name, value]) => `${propertyKey(name)}: ${this.#value(value, "member")}`);
    return `${key}{${parts.join(", ")}}`;
  }
}

/** The value that a shape was made around to be counted. */
export function wrapped(value: Value): Value | undefined {
  const { shape } = value;
  return !isAnnotated(value) && shape.kind === "all" && shape.members.length === 1 ? shape.members[0] : undefined;
}

/** `name: ` or `name?: `. A name that could be read as something else is quoted. */
export function memberLabel(name: string, optional: boolean): string {
  return `${propertyKey(name)}${optional ? "?" : ""}: `;
}
