import type { Tool } from "../../src/catalog/tool.js";

/** A repeatable source of numbers below 1 (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Texts that tools have sent, or might send to break a printer. */
export const HOSTILE_TEXTS = [
  "plain words",
  "ends */ the comment",
  "/* opens one",
  "@ts-expect-error",
  "@ts-ignore\n@ts-nocheck",
  "line\u2028separator\u2029here",
  "quotes \" ' ` and \\ backslash",
  "${process.env.HOME} `tick`",
  "# heading\n- item\n```ts\nfence",
  "\u202Ereversed\u202C \u200Bhidden\u200D \u{E0041}\u{E0042}",
  "\u0000nul\u0007bell\u009F",
  "\uD800 lone surrogate",
  "</script><!--",
  "x".repeat(5_000),
];

const KEYS =
  `id class default $ref $top type properties constructor toString _x größe 数 a-b 1st 0 it's */ /* \\ uids[] a.b
  🔥 ? readonly get`
    .split(/\s+/)
    .concat("", " ", 'say "hi"', "new\nline", "\u2028", "[key: string]", "\u200B", "\uD800", "e\u0301");

/** Put together, since linters take an object with that key for a promise. */
export const THEN = ["th", "en"].join("");

const TYPES = ["string", "number", "integer", "boolean", "null", "object", "array"];
const DEFINITIONS = ["Node", "node", "a.b.Node", "string", "Promise", "Record", "x/y", "~", "", "1", "数", "__proto__"];

/** Makes tools with schemas of every form, broken ones too. */
export class RandomTools {
  constructor(private readonly next: () => number) {}

  tool(index: number): Tool {
    const inputSchema = this.root();
    const tool: Tool = { name: this.name(index), inputSchema: inputSchema as Tool["inputSchema"] };
    if (this.chance(0.7)) tool.description = this.pick(HOSTILE_TEXTS);
    if (this.chance(0.4)) tool.outputSchema = this.root();
    return tool;
  }

  private name(index: number): string {
    return this.pick([
      `tool_${index}`,
      `tool-${index}`,
      `${index}`,
      `delete.${index}`,
      `数/${index}`,
      `x"${index}\n*/`,
    ]);
  }

  private root(): Record<string, unknown> {
    const definitions: [string, unknown][] = this.some(DEFINITIONS).map((name) => [name, this.schema(3)]);
    const body = this.chance(0.8) ? this.objectSchema(4) : this.record(this.schema(4));
    return { ...body, [this.pick(["$defs", "definitions"])]: Object.fromEntries(definitions) };
  }

  private record(value: unknown): Record<string, unknown> {
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  }

  private schema(depth: number): unknown {
    if (depth <= 0) return this.pick([true, false, {}, { type: this.pick(TYPES) }, { $ref: this.reference() }]);
    const made = this.pick([
      () => this.scalar(),
      () => this.objectSchema(depth),
      () => this.arraySchema(depth),
      () => ({ $ref: this.reference(), ...(this.chance(0.3) ? this.scalar() : {}) }),
      () => ({ [this.pick(["enum", "const"])]: this.chance(0.9) ? this.values() : "x" }),
      () => this.branches(depth),
      () => ({ ...this.objectSchema(depth), ...this.branches(depth) }),
      () => this.wrong(),
    ])();
    return this.annotated(made);
  }

  private annotated(schema: unknown): unknown {
    if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return schema;
    const extra: Record<string, unknown> = {};
    if (this.chance(0.3)) extra["description"] = this.pick(HOSTILE_TEXTS);
    if (this.chance(0.2)) extra["default"] = this.pick([0, null, "", "*/", "@ts-ignore", { a: "*/" }, [1], false]);
    if (this.chance(0.2)) extra["pattern"] = this.pick(["^a*/", "[", "\u2028", "(a+)+$"]);
    if (this.chance(0.2)) extra["nullable"] = true;
    if (this.chance(0.1)) extra["not"] = this.pick([{}, { type: "string" }, "x"]);
    if (this.chance(0.1)) extra["minimum"] = this.pick([1, -0, 1e300, "no"]);
    return { ...schema, ...extra };
  }

  private scalar(): Record<string, unknown> {
    return { type: this.pick([...TYPES, this.some(TYPES), "not-a-type", [], 7]) };
  }

  private objectSchema(depth: number): Record<string, unknown> {
    const properties: [string, unknown][] = this.some(KEYS).map((key) => [key, this.schema(depth - 1)]);
    const schema: Record<string, unknown> = { type: "object", properties: Object.fromEntries(properties) };
    if (this.chance(0.5)) schema["required"] = this.some(KEYS);
    if (this.chance(0.4)) schema["additionalProperties"] = this.schema(depth - 1);
    if (this.chance(0.1)) schema["patternProperties"] = { "^x": this.schema(depth - 1), "(": this.schema(0) };
    if (this.chance(0.1)) Object.assign(schema, { if: {}, [THEN]: this.objectSchema(depth - 2), else: this.schema(0) });
    if (this.chance(0.2)) delete schema["type"];
    if (this.chance(0.2)) delete schema["properties"];
    return schema;
  }

  private arraySchema(depth: number): Record<string, unknown> {
    const list = [this.schema(depth - 1), this.schema(depth - 1), this.schema(0)];
    return this.pick([
      { type: "array", items: this.schema(depth - 1) },
      { type: "array" },
      { type: "array", items: list, additionalItems: this.schema(0) },
      { type: "array", prefixItems: list, items: this.pick([false, true, { type: "string" }]) },
      { type: "array", prefixItems: list, minItems: 1, items: this.schema(depth - 1) },
      { items: this.schema(depth - 1) },
    ]);
  }

  private branches(depth: number): Record<string, unknown> {
    const members = Array.from({ length: Math.floor(this.next() * 4) }, () => this.schema(depth - 1));
    return { [this.pick(["anyOf", "oneOf", "allOf"])]: this.chance(0.05) ? "none" : members };
  }

  private wrong(): unknown {
    return this.pick([
      null,
      "string",
      42,
      [],
      { properties: [] },
      { type: "object", properties: "no" },
      { type: "object", properties: { a: 1 }, required: true },
      { $ref: 7 },
      { enum: "ab" },
      { anyOf: {} },
    ]);
  }

  private values(): unknown[] {
    return this.some([...HOSTILE_TEXTS.slice(0, 13), 1, -1, 1.5, 1e21, true, false, null, { a: ["*/"] }, [1, "x"], []]);
  }

  private reference(): string {
    const name = this.pick(DEFINITIONS);
    const pointer = encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"));
    return this.pick([
      `#/$defs/${pointer}`,
      `#/definitions/${pointer}`,
      "#",
      "#/properties/id",
      "#/nowhere",
      "https://example.test/x.json",
    ]);
  }

  private some<T>(list: readonly T[]): T[] {
    const start = Math.floor(this.next() * list.length);
    return list.slice(start, start + Math.floor(this.next() * 5));
  }

  private pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.next() * list.length)] as T;
  }

  private chance(probability: number): boolean {
    return this.next() < probability;
  }
}
