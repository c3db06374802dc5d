import { resolveReference } from "../../src/catalog/json-schema.js";
import type { Tool } from "../../src/catalog/tool.js";

type Schema = Record<string, unknown>;

/** Numbers from 0 to 1 that are the same on every run. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Arguments that fit a tool's schema: all required ones, and some of the others. */
export function sampleArguments(tool: Tool, next: () => number): Record<string, unknown> {
  return new Sampler(tool.inputSchema, next).value(tool.inputSchema, 0) as Record<string, unknown>;
}

const MAX_DEPTH = 6;
const TEXTS: Readonly<Record<string, string>> = {
  date: "2024-02-29",
  "date-time": "2024-02-29T12:00:00Z",
  uuid: "6fa459ea-ee8a-4ca4-894e-db77e160355e",
  uri: "https://example.com/a?b=c",
  email: "a@example.com",
};

class Sampler {
  constructor(
    private readonly root: Schema,
    private readonly next: () => number,
  ) {}

  value(given: unknown, depth: number): unknown {
    if (typeof given !== "object" || given === null) return "anything";
    const schema = this.merged(given as Schema);
    if ("const" in schema) return schema["const"];
    // OpenAPI 3.0 is not sure whether `nullable` adds null to an enum: the import says yes, judges may say no.
    if (Array.isArray(schema["enum"])) return this.pick(schema["enum"].filter((value) => value !== null));
    const type = Array.isArray(schema["type"]) ? (schema["type"][0] as unknown) : schema["type"];
    switch (type) {
      case "object":
        return this.object(schema, depth);
      case "array":
        return this.array(schema, depth);
      case "integer":
      case "number":
        return this.number(schema);
      case "boolean":
        return this.next() < 0.5;
      case "null":
        return null;
      case "string":
        return this.text(schema);
      default:
        return "properties" in schema ? this.object(schema, depth) : "anything";
    }
  }

  /** With what it refers to, all of `allOf` and the first of `anyOf`. */
  private merged(schema: Schema): Schema {
    const { $ref, allOf, anyOf, ...own } = schema;
    const parts = [
      own,
      ...((allOf as Schema[] | undefined) ?? []),
      ...((anyOf as Schema[] | undefined) ?? []).slice(0, 1),
    ];
    const target = typeof $ref === "string" ? resolveReference(this.root, $ref)?.schema : undefined;
    if (target !== undefined) parts.push(target as Schema);
    const [first = {}, ...others] = parts;
    return others.reduce<Schema>((left, right) => this.both(left, this.merged(right)), first);
  }

  private both(left: Schema, right: Schema): Schema {
    return {
      ...right,
      ...left,
      ...((left["properties"] ?? right["properties"]) === undefined
        ? {}
        : { properties: this.properties(left["properties"] as Schema, right["properties"] as Schema) }),
      required: [...((left["required"] as string[]) ?? []), ...((right["required"] as string[]) ?? [])],
    };
  }

  private properties(left: Schema = {}, right: Schema = {}): Schema {
    const shared = Object.keys(left).filter((name) => Object.hasOwn(right, name));
    return {
      ...left,
      ...right,
      ...Object.fromEntries(shared.map((name) => [name, { allOf: [left[name], right[name]] }])),
    };
  }

  private object(schema: Schema, depth: number): Schema {
    const properties = (schema["properties"] ?? {}) as Schema;
    const required = new Set(schema["required"] as string[] | undefined);
    const isTaken = (name: string): boolean => required.has(name) || (depth < MAX_DEPTH && this.next() < 0.5);
    const names = [...new Set([...Object.keys(properties), ...required])].filter(isTaken);
    return Object.fromEntries(names.map((name) => [name, this.value(properties[name] ?? {}, depth + 1)]));
  }

  private array(schema: Schema, depth: number): unknown[] {
    const fixed = (schema["prefixItems"] as unknown[] | undefined) ?? [];
    if (fixed.length > 0) return fixed.map((item) => this.value(item, depth + 1));
    const least = Number(schema["minItems"] ?? 0);
    const wanted = depth > MAX_DEPTH ? least : Math.max(least, 1 + Math.floor(this.next() * 2));
    const most = Number(schema["maxItems"] ?? wanted);
    const items = Array.from({ length: Math.min(wanted, most) }, () => this.value(schema["items"] ?? {}, depth + 1));
    return schema["uniqueItems"] === true ? items.filter((item, index) => items.indexOf(item) === index) : items;
  }

  private number(schema: Schema): number {
    const { minimum, maximum, exclusiveMinimum, multipleOf } = schema as Record<string, number | undefined>;
    const least = exclusiveMinimum === undefined ? (minimum ?? 1) : exclusiveMinimum + 1;
    const value = Math.min(least + Math.floor(this.next() * 3), maximum ?? Number.POSITIVE_INFINITY);
    return multipleOf === undefined ? value : Math.ceil(value / multipleOf) * multipleOf;
  }

  private text(schema: Schema): string {
    const known = TEXTS[String(schema["format"])];
    if (known !== undefined) return known;
    const examples = schema["examples"] as string[] | undefined;
    if (typeof schema["pattern"] === "string") return textLike(schema["pattern"], examples ?? []);
    const words = ["a", "x y", "1&2=3", "caf\u00e9", "a/b", "50%", "#+?"];
    const text = this.pick(words) as string;
    const padded = text.padEnd(Number(schema["minLength"] ?? 0), "z");
    return padded.slice(0, Number(schema["maxLength"] ?? padded.length));
  }

  private pick(values: readonly unknown[]): unknown {
    return values[Math.floor(this.next() * values.length)];
  }
}

/** Texts that the patterns of real documents admit. Examples of documents do not always fit their own patterns. */
function textLike(pattern: string, examples: readonly string[]): string {
  const hex = "0123456789abcdef".repeat(4);
  const tries = [
    ...examples,
    "T-12",
    "1",
    "a",
    "abc",
    hex.slice(0, 40),
    `sha256:${hex}`,
    "2024-02-29",
    "1.2.3",
    "ssh-rsa AAAA",
    "#aabbcc",
    hex.slice(0, 6),
  ];
  const found = tries.find((text) => new RegExp(pattern, "u").test(text));
  if (found === undefined) throw new Error(`no sample for the pattern ${pattern}`);
  return found;
}
