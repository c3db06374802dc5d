import { propertyKey } from "./identifiers.js";
import { keyword } from "./json-schema.js";
import { docComment, docLines, inlineDocComment, valueText } from "./type-docs.js";
import { MAX_TYPE_DEPTH, type Definition, type PropertyNode, type TypeNode } from "./type-node.js";
import { commentText } from "./untrusted-text.js";

/** Stands where something was left out. */
export const CUT_MARK = "/* cut */";

/** How a member for all other properties begins. A property of that name would be quoted. */
const INDEX_SIGNATURE = "[key: string]: ";

/** A definition used more than once is printed in place up to this length, and by name above it. */
const INLINE_CHARACTERS = 40;
/** A default is shown beside its parameter up to this length. */
const DEFAULT_CHARACTERS = 40;
/** Characters of a note, or of the type of further properties in a comment. */
const NOTE_CHARACTERS = 300;

/** How to print. */
export interface PrintStyle {
  /** Doc comments, and one property per line. Else everything on one line, with defaults only. */
  docs: boolean;
  /**
   * Objects within objects; deeper ones are cut. Below {@link MAX_TYPE_DEPTH} the way through named types counts too, so
   * that a smaller depth always means less text.
   */
  maxDepth: number;
  /** Characters of the type and of the types it names; what is beyond is cut. */
  maxCharacters: number;
  /** The name of a definition: the same for each question. */
  nameOf: (definition: Definition) => string;
}

/** A printed type. */
export interface PrintedType {
  text: string;
  /** What it names, in the order of first use, each as the text after `type Name = `. */
  named: Map<Definition, string>;
  /** `maxCharacters` was reached. */
  full: boolean;
}

/** Prints a type and what it names. The text is one TypeScript type, and never much longer than `maxCharacters`. */
export function printType(root: Definition, style: PrintStyle, indent = ""): PrintedType {
  const printer = new TypePrinter(style);
  const text = printer.root(root, indent);
  const named = new Map<Definition, string>();
  for (const [definition, firstUse] of printer.named) {
    // The map grows while its members are printed; iteration goes on to the new ones.
    const depth = style.maxDepth < MAX_TYPE_DEPTH ? firstUse : 0;
    named.set(definition, printer.type(definition.body, { depth, indent: style.docs ? "  " : "", bare: true }));
  }
  return { text, named, full: printer.full };
}

/** Where a type stands. `bare`: its documentation is printed elsewhere. */
interface Position {
  depth: number;
  indent: string;
  bare?: boolean;
}

class TypePrinter {
  /** What is referred to by name, in the order of first use, with the depth of that. */
  readonly named = new Map<Definition, number>();
  full = false;
  readonly #style: PrintStyle;
  #docs: boolean;
  #spent = 0;
  /** Names printed so far. */
  #references = 0;

  constructor(style: PrintStyle) {
    this.#style = style;
    this.#docs = style.docs;
  }

  root(root: Definition, indent: string): string {
    if (!isInline(root)) return this.#reference(root, { depth: 0, indent });
    return this.type(root.body, { depth: 0, indent, bare: true });
  }

  type(node: TypeNode, at: Position): string {
    if (this.#isFull()) return `unknown ${CUT_MARK}`;
    const docs = at.bare === true || !this.#docs || node.origin === undefined ? [] : docLines(node.origin);
    return `${this.#spend(inlineDocComment(docs))}${this.#undocumented(node, { depth: at.depth, indent: at.indent })}`;
  }

  #undocumented(node: TypeNode, at: Position): string {
    switch (node.kind) {
      case "text":
        return this.#spend(node.cut === true ? `${node.text} ${CUT_MARK}` : withNote(node.text, node.note));
      case "union":
        return this.#union(node.members, at);
      case "intersection":
        return this.#intersection(node.members, at);
      case "array":
        return `${this.#operand(node.element, at)}[]`;
      case "tuple":
        return this.#tuple(node, at);
      case "object":
        return this.#object(node, at);
      case "reference":
        return this.#reference(node.target, at);
    }
  }

  #reference(target: Definition, at: Position): string {
    if (isInline(target)) return this.type(target.body, at);
    if (at.depth >= this.#style.maxDepth) return this.#spend(`unknown ${CUT_MARK}`);
    this.#references++;
    if (!this.named.has(target)) this.named.set(target, at.depth);
    return this.#spend(this.#style.nameOf(target));
  }

  #union(members: readonly TypeNode[], at: Position): string {
    const texts = this.#distinct(members, (member) => this.type(member, at));
    if (texts.size > 1) texts.delete("never");
    if (texts.delete("null")) texts.add("null");
    return texts.size === 0 ? "never" : [...texts].join(" | ");
  }

  #intersection(members: readonly TypeNode[], at: Position): string {
    const [only, ...others] = members;
    if (only !== undefined && others.length === 0) return this.type(only, at);
    const texts = this.#distinct(members, (member) => this.#operand(member, at));
    const telling = [...texts].filter((text) => text !== "unknown" && text !== "Record<string, unknown>");
    return telling.length === 0 ? ([...texts].at(-1) ?? "unknown") : telling.join(" & ");
  }

  #distinct(members: readonly TypeNode[], print: (member: TypeNode) => string): Set<string> {
    const texts = new Set<string>();
    for (const [index, member] of members.entries()) {
      if (this.#isFull()) {
        texts.add(`unknown /* cut: ${members.length - index} more */`);
        break;
      }
      texts.add(print(member));
    }
    return texts;
  }

  /** A type in a place where `|`, `&` and comments need parentheses. */
  #operand(node: TypeNode, at: Position): string {
    const text = this.type(node, at);
    return isOperand(node, text) ? text : `(${text})`;
  }

  #tuple(node: Extract<TypeNode, { kind: "tuple" }>, at: Position): string {
    const texts = node.elements.map((element, index) =>
      index < node.required ? this.type(element, at) : `${this.#operand(element, at)}?`,
    );
    if (node.rest !== undefined) texts.push(`...${this.#operand(node.rest, at)}[]`);
    return `[${texts.join(", ")}]`;
  }

  #object(node: Extract<TypeNode, { kind: "object" }>, at: Position): string {
    if (node.properties.length === 0 && node.index === undefined) {
      return this.#spend(node.closed ? "Record<string, never>" : "Record<string, unknown>");
    }
    if (at.depth >= this.#style.maxDepth) return this.#spend(`Record<string, unknown> ${CUT_MARK}`);
    const inner: Position = { depth: at.depth + 1, indent: this.#docs ? `${at.indent}  ` : "" };
    if (node.properties.length === 0 && node.index !== undefined) return this.#map(node.index, inner);
    const members = this.#members(node.properties, inner);
    const isCut = members.at(-1)?.startsWith(INDEX_SIGNATURE) === true;
    if (node.index !== undefined && !isCut && (this.#docs || !saysNothing(node.index))) {
      members.push(this.#furtherProperties(node.index, inner));
    }
    if (!this.#docs) return `{ ${members.join("; ")} }`;
    return `{\n${members.map((member) => `${inner.indent}${member};\n`).join("")}${at.indent}}`;
  }

  #members(properties: readonly PropertyNode[], inner: Position): string[] {
    const members: string[] = [];
    for (const property of this.#mostNeededFirst(properties)) {
      if (this.#isFull()) {
        members.push(`${INDEX_SIGNATURE}unknown /* cut: ${properties.length - members.length} more properties */`);
        break;
      }
      members.push(this.#member(property, inner));
    }
    return members;
  }

  /** In the order of the schema while there is room for all; else required ones first, since some will be cut. */
  #mostNeededFirst(properties: readonly PropertyNode[]): readonly PropertyNode[] {
    const roomy = properties.length * 16 < this.#style.maxCharacters - this.#spent && this.#style.maxDepth > 1;
    if (roomy) return properties;
    return [...properties.filter(({ optional }) => !optional), ...properties.filter(({ optional }) => optional)];
  }

  #member({ key, optional, type }: PropertyNode, inner: Position): string {
    const docs = this.#docs && type.origin !== undefined ? docComment(docLines(type.origin), inner.indent) : "";
    const name = this.#spend(`${docs}${propertyKey(key)}${optional ? "?" : ""}: `);
    return `${name}${this.type(type, { ...inner, bare: true })}${this.#docs ? "" : this.#spend(defaultNote(type))}`;
  }

  /** A compiler resolves the argument of `Record` at once, which a type that leads back to itself must not be. */
  #map(value: TypeNode, inner: Position): string {
    const before = this.#references;
    const text = this.type(value, inner);
    return this.#references === before ? `Record<string, ${text}>` : `{ [key: string]: ${text} }`;
  }

  /** Named properties need not fit the type of further ones in JSON Schema, but must in TypeScript: so it is a comment. */
  #furtherProperties(index: TypeNode, inner: Position): string {
    this.#docs = false;
    const text = this.type(index, inner);
    this.#docs = this.#style.docs;
    return `${INDEX_SIGNATURE}${saysNothing(index) ? text : withNote("unknown", text)}`;
  }

  #spend(text: string): string {
    this.#spent += text.length;
    return text;
  }

  #isFull(): boolean {
    if (this.#spent > this.#style.maxCharacters) this.full = true;
    return this.full;
  }
}

/** Objects are open in JSON Schema anyway: on one line, further properties of any type are not worth their tokens. */
function saysNothing(node: TypeNode): boolean {
  return node.kind === "text" && node.text === "unknown" && node.cut !== true;
}

function withNote(text: string, note: string | undefined): string {
  return note === undefined ? text : `${text} /* ${commentText(note, NOTE_CHARACTERS)} */`;
}

/** The default of a parameter that may be left out, as a comment: what to know to leave it out. */
function defaultNote(type: TypeNode): string {
  const value = type.origin === undefined ? undefined : keyword(type.origin, "default");
  if (value === undefined || value === null) return "";
  const text = valueText(value, DEFAULT_CHARACTERS + 1);
  return text.length > DEFAULT_CHARACTERS ? "" : ` /* = ${text} */`;
}

/** Printed in place: used once, or not worth a name. A type that leads back to itself is used twice at least. */
function isInline(definition: Definition): boolean {
  return definition.uses <= 1 || leafLength(definition.body) <= INLINE_CHARACTERS;
}

/** Characters of a type without structure, about; infinite for others. */
function leafLength(node: TypeNode): number {
  if (node.kind === "text") return node.text.length;
  if (node.kind === "array") return leafLength(node.element) + 2;
  if (node.kind !== "union" && (node.kind !== "intersection" || node.members.length > 1))
    return Number.POSITIVE_INFINITY;
  return node.members.reduce((total, member) => total + leafLength(member) + 3, 0);
}

/** True when `[]`, `&` or `?` may follow the text directly. */
function isOperand(node: TypeNode, text: string): boolean {
  if (/^(?:[\w$.-]+|Record<string, unknown>|"(?:[^"\\]|\\.)*")(?:\[\])*$/.test(text)) return true;
  if (text.startsWith("/*") || text.endsWith("*/")) return false;
  if (node.kind === "reference") return isOperand(node.target.body, text);
  if (node.kind === "intersection" && node.members.length === 1) return isOperand(node.members[0] as TypeNode, text);
  return node.kind === "object" || node.kind === "array" || node.kind === "tuple";
}
