import { TypeScanner, type Schema } from "./parse-type.js";

/** A tool as it was read back from a page. */
export interface ReadTool {
  name: string;
  title: string;
  call: string | undefined;
  description: string;
  inputSchema: Schema;
  outputSchema: Schema | undefined;
}

/** A page read back. References of its schemas are to `#/$defs/` of the page. */
export interface ReadPage {
  $defs: Record<string, Schema>;
  tools: ReadTool[];
}

/** Reads a page in compact form. @throws for anything that the form does not have. */
export function parsePage(text: string): ReadPage {
  return new PageReader(text).page();
}

class PageReader {
  readonly #lines: string[];
  #at = 0;
  readonly #shared = new Map<string, Schema>();

  constructor(text: string) {
    this.#lines = text.split("\n");
  }

  page(): ReadPage {
    const $defs: Record<string, Schema> = {};
    for (let head = /^type (\w+) = /.exec(this.#line); head !== null; head = /^type (\w+) = /.exec(this.#line)) {
      $defs[head[1] as string] = this.#entry("", head[0].length);
    }
    this.#skipBlank();
    if (this.#line === "Shared:") {
      this.#at++;
      while (this.#line.startsWith("- ")) {
        const { name, schema } = this.#member("");
        this.#shared.set(name, schema);
      }
      this.#skipBlank();
    }
    const tools: ReadTool[] = [];
    while (this.#at < this.#lines.length) tools.push(this.#tool());
    return { $defs, tools };
  }

  get #line(): string {
    return this.#lines[this.#at] ?? "";
  }

  #skipBlank(): void {
    while (this.#at < this.#lines.length && this.#line === "") this.#at++;
  }

  #tool(): ReadTool {
    const head = /^# ("(?:[^"\\]|\\.)*"|\S+)( !)?(?: = tools\.(\S+))?(?: - (.*))?$/.exec(this.#line);
    if (head === null) throw new Error(`no heading: ${this.#line}`);
    this.#at++;
    const [, shown = "", closed, call, title = ""] = head;
    const name = shown.startsWith('"') ? (JSON.parse(shown) as string) : shown;
    const description: string[] = [];
    while (this.#at < this.#lines.length && !/^(?:- |->|args: |# )/.test(this.#line))
      description.push(this.#lines[this.#at++] as string);
    const inputSchema = this.#arguments(closed !== undefined);
    const result = /^->(?: \(observed \d+ times?\))? /.exec(this.#line);
    const outputSchema = result === null ? undefined : this.#entry("", result[0].length);
    this.#skipBlank();
    return { name, title, call, description: description.join("\n"), inputSchema, outputSchema };
  }

  #arguments(closed: boolean): Schema {
    if (this.#line.startsWith("args: ")) return this.#entry("", "args: ".length);
    const schema: Schema = { type: "object", properties: Object.create(null), required: [] };
    const mentions = /^- (.*) \(shared\)$/.exec(this.#line);
    if (mentions !== null && !/^- (?:[\w$]+|"(?:[^"\\]|\\.)*")\??: /.test(this.#line)) {
      this.#at++;
      this.#mentions(schema, mentions[1] as string);
    }
    this.#members(schema, "");
    if (closed) schema["additionalProperties"] = false;
    return schema;
  }

  #mentions(schema: Schema, text: string): void {
    const scanner = new TypeScanner(text);
    do {
      const { name, optional } = scanner.label();
      const shared = this.#shared.get(name);
      if (shared === undefined) throw new Error(`${name} is not shared`);
      addMember(schema, name, optional, shared);
    } while (scanner.take(", "));
    scanner.end();
  }

  /** Lines that begin with this indentation and a dash. */
  #members(schema: Schema, indent: string): void {
    while (this.#line.startsWith(`${indent}- `)) {
      const { name, optional, schema: member, isRest } = this.#member(indent);
      if (isRest) schema["additionalProperties"] = member;
      else addMember(schema, name, optional, member);
    }
  }

  #member(indent: string): { name: string; optional: boolean; schema: Schema; isRest: boolean } {
    const rest = `${indent}- [key]: `;
    if (this.#line.startsWith(rest))
      return { name: "", optional: false, schema: this.#entry(indent, rest.length), isRest: true };
    const scanner = new TypeScanner(this.#line.slice(indent.length + 2));
    const { name, optional } = scanner.label();
    scanner.expect(": ");
    return { name, optional, schema: this.#entry(indent, indent.length + 2 + scanner.at), isRest: false };
  }

  /** A value from a column of the line to its end, with the lines below that belong to it. */
  #entry(indent: string, column: number): Schema {
    const scanner = new TypeScanner(this.#line.slice(column));
    const schema = scanner.lineValue();
    this.#at++;
    if (scanner.hole !== undefined) this.#members(scanner.hole, `${indent} `);
    return schema;
  }
}

function addMember(schema: Schema, name: string, optional: boolean, member: Schema): void {
  Object.defineProperty(schema["properties"], name, { value: member, enumerable: true, configurable: true });
  if (!optional) (schema["required"] as string[]).push(name);
}
