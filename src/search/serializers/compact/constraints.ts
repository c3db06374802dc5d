import { keyword, type SchemaObject } from "../../../catalog/json-schema.js";
import { escapeUnprintable } from "../../../catalog/untrusted-text.js";

/** Bounds that generators write for "any safe integer": what `int` means anyway. */
const SAFE_INTEGER_BOUNDS: readonly unknown[] = [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER];

/** Formats that cannot be taken for another constraint. */
const FORMAT = /^[a-z][a-z0-9_.-]*$/;

/** Reads the constraints of one schema. What it has read is in `read`; the rest is for others to print. */
export class Constraints {
  readonly read = new Set<string>();

  constructor(private readonly schema: SchemaObject) {}

  /** What holds for values of a type, as text behind its name: `<1..100>`, `<len 1..>`, `<uri, /^https:/>`; "" for nothing. */
  marks(type: string, further: readonly string[] = []): string {
    const marks = [...this.#marks(type), ...further];
    return marks.length === 0 ? "" : `<${marks.join(", ")}>`;
  }

  #marks(type: string): string[] {
    const all = type === "any";
    return [
      ...(all || type === "string" ? this.#string() : []),
      ...(all || type === "number" || type === "integer" ? this.#number(type) : []),
      ...(all || type === "array" ? this.#array() : []),
      ...(all || type === "object" ? this.#range("keys ", "minProperties", "maxProperties") : []),
      ...(type === "null" ? [] : this.#format()),
    ];
  }

  #string(): string[] {
    return [...this.#range("len ", "minLength", "maxLength"), ...this.#pattern()];
  }

  #number(type: string): string[] {
    const marks = this.#range("", "minimum", "maximum", type === "integer");
    const above = this.#take("exclusiveMinimum", isNumber);
    const below = this.#take("exclusiveMaximum", isNumber);
    const step = this.#take("multipleOf", isNumber);
    if (above !== undefined) marks.push(`above ${above}`);
    if (below !== undefined) marks.push(`below ${below}`);
    if (step !== undefined) marks.push(`x${step}`);
    return marks;
  }

  #array(): string[] {
    const marks = this.#range("items ", "minItems", "maxItems");
    if (this.#take("uniqueItems", (value) => value === true) === true) marks.push("unique");
    return marks;
  }

  #range(label: string, least: string, most: string, isInteger = false): string[] {
    const bounds = [least, most].map((name) => {
      const value = this.#take(name, isNumber);
      return isInteger && SAFE_INTEGER_BOUNDS.includes(value) ? undefined : value;
    });
    const [low, high] = bounds;
    return low === undefined && high === undefined ? [] : [`${label}${low ?? ""}..${high ?? ""}`];
  }

  #pattern(): string[] {
    const pattern = this.#take("pattern", isPrintablePattern);
    return pattern === undefined ? [] : [`/${pattern.replace(/\\.|\//g, (part) => (part === "/" ? "\\/" : part))}/`];
  }

  /** Said once, at the first type that takes it. */
  #format(): string[] {
    if (this.read.has("format")) return [];
    const format = this.#take("format", isFormat);
    return format === undefined ? [] : [format];
  }

  #take<T>(name: string, fits: (value: unknown) => value is T): T | undefined;
  #take(name: string, fits: (value: unknown) => boolean): unknown;
  #take(name: string, fits: (value: unknown) => boolean): unknown {
    const value = keyword(this.schema, name);
    if (!fits(value)) return undefined;
    this.read.add(name);
    return value;
  }
}

const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);

const isFormat = (value: unknown): value is string =>
  typeof value === "string" && FORMAT.test(value) && value !== "unique" && !/^x[\d.-]/.test(value);

/** Between slashes on one line, and ending where it should. */
const isPrintablePattern = (value: unknown): value is string =>
  typeof value === "string" && escapeUnprintable(value) === value && !/(?<!\\)(?:\\\\)*\\$/.test(value);
