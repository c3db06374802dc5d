import { identifiersFor, stringLiteral } from "./identifiers.js";
import { keyword, schemaObject, typesOf } from "./json-schema.js";
import { learnedResult, observedMark } from "./learned-types.js";
import type { Tool } from "./tool.js";
import { docComment, docLines, valueText } from "./type-docs.js";
import { typeModel } from "./type-model.js";
import { NamedTypes } from "./type-names.js";
import { MAX_TYPE_DEPTH, unknownType, type Definition, type TypeNode } from "./type-node.js";
import { printType, type PrintedType } from "./type-printer.js";
import { commentText } from "./untrusted-text.js";

/**
 * Characters of one signature, with the types it names: about. A tool that needs more is printed with fewer levels of
 * nested objects, and where that is not enough with its required parameters first; what is left out is marked.
 */
export const MAX_SIGNATURE_CHARACTERS = 4_000;

/** Characters of the declaration of one tool, its comments and named types included: about. */
export const MAX_DECLARATION_CHARACTERS = 200_000;

/** Levels of objects within objects that are tried, until a type fits. */
const DEPTHS = [MAX_TYPE_DEPTH, 6, 4, 3, 2, 1];

/** Of the characters of a tool, at least this part is left for its result. */
const RESULT_SHARE = 0.25;

const MAX_TITLE_CHARACTERS = 4_000;

/** How to print several tools. */
export interface PrintToolsOptions {
  /** Tool name -> how scripts reach it below `tools`. Default: {@link identifiersFor} of the printed tools. */
  identifiers?: ReadonlyMap<string, string> | undefined;
  /** Characters of one signature, about. Default: {@link MAX_SIGNATURE_CHARACTERS}. */
  maxCharacters?: number | undefined;
}

/** Signatures that share their named types. */
export interface Signatures {
  /** One line for each tool, in the order of the tools. */
  lines: string[];
  /** `type Name = ...`, one line each: what the lines refer to by name. */
  types: string[];
}

/**
 * A tool as one line of TypeScript: how a script calls it, what it takes and what it answers. Types that lead back to
 * themselves, or are used more than once and long, follow by name, one line each. Without an outputSchema the answer is
 * `unknown`; one that is only `{ result: T }` is `T`, as `tools.x()` gives it. A name that is no identifier is told in a
 * comment. Never throws for a schema, however broken.
 *
 * @param identifier how scripts reach the tool below `tools`; default: by {@link identifiersFor} this name alone
 *
 * @example
 * signature(tool);
 * // tools.create_issue(args: { owner: string; labels?: string[] }): Promise<{ number: number }>
 */
export function signature(tool: Tool, identifier?: string): string {
  const identifiers = identifier === undefined ? undefined : new Map([[tool.name, identifier]]);
  const { lines, types } = signatures([tool], { identifiers });
  return [...lines, ...types].join("\n");
}

/** The {@link signature} of each tool, with the named types of all of them once. */
export function signatures(tools: readonly Tool[], options: PrintToolsOptions = {}): Signatures {
  const identifierOf = identifierLookup(tools, options);
  const { maxCharacters = MAX_SIGNATURE_CHARACTERS } = options;
  const names = new NamedTypes();
  const lines = tools.map((tool) => {
    const identifier = identifierOf(tool);
    const { args, result } = printTool(tool, names, { docs: false, maxCharacters });
    const learned = learnedResult(tool);
    const notes = [
      ...(identifier === tool.name ? [] : [`call_tool(${stringLiteral(tool.name)}, args)`]),
      ...(learned === undefined ? [] : [`result type ${observedMark(learned)}`]),
    ];
    return `tools.${identifier}(${args}): Promise<${result}>${notes.length === 0 ? "" : ` // ${notes.join("; ")}`}`;
  });
  return { lines, types: names.declarations().map(({ name, text }) => `type ${name} = ${text}`) };
}

/**
 * All tools as the text of a `.d.ts` file: `declare namespace tools` with a function for each tool, documentation and
 * constraints in comments, and every named type once. It compiles under `tsc --strict` whatever the schemas are.
 *
 * @example
 * declarations(tools);
 * // declare namespace tools {
 * //   /** Create an issue. *\/
 * //   function create_issue(args: {
 * //     /** Account that owns the repository *\/
 * //     owner: string;
 * //   }): Promise<{ number: number }>;
 * // }
 */
export function declarations(tools: readonly Tool[], options: PrintToolsOptions = {}): string {
  const identifierOf = identifierLookup(tools, options);
  const names = new NamedTypes();
  const scopes = new Map<string, string[]>();
  for (const tool of tools) {
    const steps = `tools.${identifierOf(tool)}`.split(".");
    const identifier = steps.pop() ?? "";
    const { args, result } = printTool(tool, names, { docs: true, maxCharacters: MAX_DECLARATION_CHARACTERS });
    const text = `${toolComment(tool, identifier)}function ${identifier}(${args}): Promise<${result}>;`;
    const scope = steps.join(".");
    scopes.set(scope, [...(scopes.get(scope) ?? []), text]);
  }
  const types = names.declarations().map(({ name, text, definition }) => {
    const origin = definition.body.origin;
    return `${origin === undefined ? "" : docComment(docLines(origin), "  ")}type ${name} = ${text};`;
  });
  if (types.length > 0) scopes.set("tools", [...(scopes.get("tools") ?? []), ...types]);
  return [...scopes].map(([scope, members]) => namespace(scope, members)).join("\n");
}

function namespace(scope: string, members: readonly string[]): string {
  return `declare namespace ${scope} {\n${members.map((member) => `  ${member}\n`).join("\n")}}\n`;
}

function identifierLookup(tools: readonly Tool[], { identifiers }: PrintToolsOptions): (tool: Tool) => string {
  const own = identifiersFor(tools.map(({ name }) => name));
  return ({ name }) => identifiers?.get(name) ?? own.get(name) ?? name;
}

function toolComment(tool: Tool, identifier: string): string {
  const lines = [tool.description ?? tool.title ?? ""].map((text) => commentText(String(text), MAX_TITLE_CHARACTERS));
  if (tool.name !== identifier) lines.push(`@name ${commentText(stringLiteral(tool.name), MAX_TITLE_CHARACTERS)}`);
  const learned = learnedResult(tool);
  if (learned !== undefined) lines.push(`@returns a type that was ${observedMark(learned)}, not declared`);
  if (tool.annotations !== undefined) lines.push(`@annotations ${valueText(tool.annotations)}`);
  return docComment(
    lines.filter((line) => line !== ""),
    "  ",
  );
}

/** What printing a tool depends on besides the tool. */
interface ToolStyle {
  docs: boolean;
  maxCharacters: number;
}

function printTool(tool: Tool, names: NamedTypes, style: ToolStyle): { args: string; result: string } {
  const inputs = typeModel(argumentsSchema(keyword(tool, "inputSchema")), `${tool.name}_args`);
  const maxArguments = style.maxCharacters * (1 - RESULT_SHARE);
  const args = takesNothing(inputs.body)
    ? ""
    : `args${allowsEmpty(inputs.body) ? "?" : ""}: ${printWithin(inputs, names, { ...style, maxCharacters: maxArguments })}`;
  const results = resultModel(tool);
  const maxResult = Math.max(style.maxCharacters - args.length, style.maxCharacters * RESULT_SHARE);
  return { args, result: printWithin(results, names, { ...style, maxCharacters: maxResult }) };
}

/** Prints with as many levels of nested objects as fit. */
function printWithin(root: Definition, names: NamedTypes, { docs, maxCharacters }: ToolStyle): string {
  return names.print((nameOf): PrintedType => {
    let printed: PrintedType | undefined;
    for (const maxDepth of DEPTHS) {
      printed = printType(root, { docs, maxDepth, maxCharacters, nameOf }, docs ? "  " : "");
      if (!printed.full) break;
    }
    return printed as PrintedType;
  }).text;
}

/** Arguments are always an object: a schema of anything else is one of a tool without parameters. */
function argumentsSchema(schema: unknown): unknown {
  const object = schemaObject(schema);
  if (object === undefined) return undefined;
  const types = typesOf(object);
  return types.length > 0 && !types.includes("object") ? undefined : object;
}

/** The type of what `tools.x()` gives: a result that is only `{ result: T }` is unwrapped there. */
function resultModel(tool: Tool): Definition {
  const schema = keyword(tool, "outputSchema") ?? learnedResult(tool)?.schema;
  const model = typeModel(schema, `${tool.name}_result`);
  if (schemaObject(schema) === undefined) return { ...model, body: unknownType() };
  if (model.body.kind !== "object" || model.uses > 1) return model;
  const [only, ...others] = model.body.properties;
  const isWrapper = only?.key === "result" && !only.optional && others.length === 0 && model.body.index === undefined;
  return isWrapper ? { ...model, body: only.type } : model;
}

function takesNothing(node: TypeNode): boolean {
  if (node.kind === "text") return node.text === "unknown";
  if (node.kind !== "object" || node.properties.length > 0 || node.index !== undefined) return false;
  return node.origin === undefined || keyword(node.origin, "additionalProperties") !== true;
}

/** True when `{}` is of the type, so that a script may leave the arguments out. */
function allowsEmpty(node: TypeNode): boolean {
  switch (node.kind) {
    case "object":
      return node.properties.every(({ optional }) => optional);
    case "union":
      return node.members.some(allowsEmpty);
    case "intersection":
      return node.members.every(allowsEmpty);
    case "reference":
      return node.target.body.kind === "object" && allowsEmpty(node.target.body);
    case "text":
      return node.text === "unknown";
    case "array":
    case "tuple":
      return false;
  }
}
