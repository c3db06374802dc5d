/** A schema object as the parser makes it. */
export type Schema = { [keyword: string]: unknown };

const SCHEMA_KEYWORDS = new Set(
  "not if then else contains propertyNames unevaluatedProperties unevaluatedItems additionalItems contentSchema".split(
    " ",
  ),
);
const LIST_KEYWORDS = new Set(["prefixItems", "items"]);
const MAP_KEYWORDS = new Set(["patternProperties", "dependentSchemas"]);
const WORDS = new Map<string, Schema>([
  ["any", {}],
  ["never", { enum: [] }],
  ["object", { type: "object", required: [] }],
  ...["string", "number", "boolean", "null"].map((type): [string, Schema] => [type, { type }]),
  ["int", { type: "integer" }],
]);

/** Reads the types of the compact form. */
export class TypeScanner {
  at = 0;
  /** The `{}` whose members stand on the lines below. */
  hole: Schema | undefined;

  constructor(private readonly text: string) {}

  label(): { name: string; optional: boolean } {
    const name = this.text[this.at] === '"' ? (this.json() as string) : this.match(/[A-Za-z_$][\w$]*/y);
    return { name, optional: this.take("?") };
  }

  /** The rest of the line: type, default, documentation. */
  lineValue(): Schema {
    const schema = this.#union();
    const words = this.#default();
    if (this.take(" - ")) words["description"] = this.text.slice(this.at);
    else this.end();
    return annotated(schema, words);
  }

  #value(): Schema {
    const schema = this.#union();
    const words = this.#default();
    const comment = this.#comment();
    if (comment !== undefined) words["description"] = comment;
    return annotated(schema, words);
  }

  #default(): Schema {
    return this.take(" = ") ? { default: this.json() } : {};
  }

  #union(): Schema {
    const branches: Schema[] = [];
    do {
      const branch = this.#all();
      const comment = this.#comment();
      branches.push(comment === undefined ? branch : annotated(branch, { description: comment }));
    } while (this.take("|"));
    return branches.length === 1 ? (branches[0] as Schema) : { anyOf: branches };
  }

  #all(): Schema {
    const operands = [this.#operand()];
    while (this.take(" & ")) operands.push(this.#operand());
    return operands.length === 1 ? (operands[0] as Schema) : { allOf: operands };
  }

  #operand(): Schema {
    let schema = this.#primary();
    for (;;) {
      if (this.take("[]")) schema = { type: "array", items: schema };
      else if (this.text[this.at] === "<") this.#marks(schema);
      else if (this.take("!")) schema["additionalProperties"] = false;
      else if (this.take(" +{")) schema = this.#extras(schema);
      else return schema;
    }
  }

  #primary(): Schema {
    if (this.take("oneOf(")) return { oneOf: this.#until(")", ", ", () => this.#value()) };
    if (this.take("(")) {
      const value = this.#value();
      this.expect(")");
      return value;
    }
    if (this.take("{}")) return (this.hole = { type: "object", properties: Object.create(null), required: [] });
    if (this.take("{")) return this.#object();
    if (this.take("ref ")) return { $ref: this.json() };
    if (this.take("json ") || /["[\d-]/.test(this.text[this.at] ?? "")) return { enum: [this.json()] };
    const word = this.match(/\w+/y);
    if (word === "true" || word === "false") return { enum: [word === "true"] };
    const known = WORDS.get(word);
    return known === undefined ? { $ref: `#/$defs/${word}` } : structuredClone(known);
  }

  #object(): Schema {
    const schema: Schema = { type: "object", properties: Object.create(null), required: [] };
    this.#until("}", ", ", () => {
      if (this.take("[key]: ")) {
        schema["additionalProperties"] = this.#value();
        return;
      }
      const { name, optional } = this.label();
      this.expect(": ");
      Object.defineProperty(schema["properties"], name, { value: this.#value(), enumerable: true, configurable: true });
      if (!optional) (schema["required"] as string[]).push(name);
    });
    return schema;
  }

  #extras(schema: Schema): Schema {
    const extras: Schema = {};
    this.#until("}", ", ", () => {
      const { name } = this.label();
      this.expect(": ");
      extras[name] = this.#extra(name);
    });
    const isSecond = Object.keys(extras).some((name) => name in schema);
    return hasWords(schema) || isSecond ? { allOf: [schema], ...extras } : { ...schema, ...extras };
  }

  #extra(name: string): unknown {
    if (LIST_KEYWORDS.has(name) && this.take("[")) return this.#until("]", ", ", () => this.#value());
    if (SCHEMA_KEYWORDS.has(name)) return this.#value();
    if (!MAP_KEYWORDS.has(name)) return this.json();
    this.expect("{");
    const entries = this.#until("}", ", ", () => {
      const { name: key } = this.label();
      this.expect(": ");
      return [key, this.#value()] as const;
    });
    return Object.fromEntries(entries);
  }

  #marks(schema: Schema): void {
    this.expect("<");
    const isArray = schema["type"] === "array";
    const type = isArray ? "array" : schema["type"];
    this.#until(">", ", ", () => {
      if (this.take("len ")) Object.assign(schema, this.#range("minLength", "maxLength"));
      else if (this.take("items ")) Object.assign(schema, this.#range("minItems", "maxItems"));
      else if (this.take("keys ")) Object.assign(schema, this.#range("minProperties", "maxProperties"));
      else if (this.take("also ")) (schema["required"] as string[]).push(...(this.json() as string[]));
      else if (this.take("unique")) schema["uniqueItems"] = true;
      else if (this.take("above ")) schema["exclusiveMinimum"] = this.#number();
      else if (this.take("below ")) schema["exclusiveMaximum"] = this.#number();
      else if (/x[\d-]/y.test(this.text.slice(this.at, this.at + 2)) && this.take("x"))
        schema["multipleOf"] = this.#number();
      else if (this.take("/")) schema["pattern"] = this.match(/(?:\\.|[^/\\])+/y, "/");
      else if (/[\d.-]/.test(this.text[this.at] ?? "")) Object.assign(schema, this.#range("minimum", "maximum"));
      else schema["format"] = this.match(/[a-z][a-z0-9_.-]*/y);
    });
    if (type === undefined) delete schema["type"];
  }

  #range(least: string, most: string): Schema {
    const low = this.text.startsWith("..", this.at) ? undefined : this.#number();
    this.expect("..");
    const high = /[\d-]/.test(this.text[this.at] ?? "") ? this.#number() : undefined;
    return { ...(low === undefined ? {} : { [least]: low }), ...(high === undefined ? {} : { [most]: high }) };
  }

  #number(): number {
    return Number(this.match(/-?\d+(?:\.(?!\.)\d+)?(?:e[+-]?\d+)?/y));
  }

  #comment(): string | undefined {
    if (!this.take(" /* ")) return undefined;
    const end = this.text.indexOf(" */", this.at);
    const comment = this.text.slice(this.at, end);
    this.at = end + 3;
    return comment;
  }

  #until<T>(close: string, separator: string, read: () => T): T[] {
    const read_: T[] = [];
    if (this.take(close)) return read_;
    do read_.push(read());
    while (this.take(separator));
    this.expect(close);
    return read_;
  }

  json(): unknown {
    const end = jsonEnd(this.text, this.at);
    const value: unknown = JSON.parse(this.text.slice(this.at, end));
    this.at = end;
    return value;
  }

  match(pattern: RegExp, after = ""): string {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    if (found === undefined) throw this.#error(String(pattern));
    this.at += found.length;
    this.expect(after);
    return found;
  }

  take(text: string): boolean {
    if (!this.text.startsWith(text, this.at)) return false;
    this.at += text.length;
    return true;
  }

  expect(text: string): void {
    if (!this.take(text)) throw this.#error(text);
  }

  end(): void {
    if (this.at < this.text.length) throw this.#error("the end");
  }

  #error(wanted: string): Error {
    return new Error(
      `expected ${wanted} at "${this.text.slice(this.at, this.at + 60)}" of "${this.text.slice(0, 400)}"`,
    );
  }
}

const hasWords = (schema: Schema): boolean => "description" in schema || "default" in schema;

/** Words on top of others are about the whole: what had words is inside. */
function annotated(schema: Schema, words: Schema): Schema {
  // In place, since a `{}` gets its members later.
  if (Object.keys(words).length === 0 || !hasWords(schema)) return Object.assign(schema, words);
  return { allOf: [schema], ...words };
}

/** Where a JSON value that begins at `start` ends. */
function jsonEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (character === '"') {
      at++;
      while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
    } else if (character === "[" || character === "{") depth++;
    else if (character === "]" || character === "}") depth--;
    if (depth === 0 && !/[\w.+-]/.test(text[at + 1] ?? "")) return at + 1;
    if (depth === 0 && character === '"') return at + 1;
    if (depth < 0) return at;
  }
  return text.length;
}
