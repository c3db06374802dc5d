import { stringLiteral } from "../../catalog/identifiers.js";
import { keyword } from "../../catalog/json-schema.js";
import { learnedResult, observedMark } from "../../catalog/learned-types.js";
import type { Tool } from "../../catalog/tool.js";
import { blockText } from "../../catalog/untrusted-text.js";
import { descriptionOf, MAX_NAME_CHARACTERS, titleOf } from "./brief.js";
import { TypeNames } from "./compact/names.js";
import { memberLabel, ShapePrinter, wrapped } from "./compact/printer.js";
import { SchemaReader, type ReadingBudget } from "./compact/reader.js";
import { isAnnotated, Shapes, valueKey, type Member, type Value } from "./compact/shape.js";

/** Characters of the description of one tool. */
const MAX_DESCRIPTION_CHARACTERS = 20_000;
/** Schemas read for one page, so that a huge one costs bounded time. */
const MAX_NODES = 60_000;

/** A page in compact form. */
export interface CompactPage {
  text: string;
  /** False when a limit of ours left something out: too deep, too many, too long. */
  complete: boolean;
}

/** A tool, read. */
interface Facts {
  tool: Tool;
  args: Value;
  /** Its parameters, when its arguments are a plain object. */
  members: readonly Member[] | undefined;
  result: Value | undefined;
  /** Mark of a result type that was learned. */
  observed: string | undefined;
}

/**
 * Tools with everything their schemas say, in about half the tokens of JSON: parameters and types that several tools
 * share are printed once, types that lead back to themselves by name.
 *
 * ```
 * type Label = {name: string<len 1..50>, color?: string = "ededed"}
 *
 * Shared:
 * - owner: string - Account that owns the repository
 *
 * # create_issue
 * Create an issue.
 * - owner (shared)
 * - labels?: Label[]
 * - filter?: {}! - An object whose members follow, and that takes no others
 *  - state?: "open"|"closed" = "open" - What to look for
 * -> {number: int<1..>, url: string<uri>}
 * ```
 *
 * `?` optional, `= value` default, `- text` or a comment documentation, `<...>` constraints (`len` of strings, `items`
 * of lists, `keys` of objects, `x5` a multiple of 5), `!` no further keys, `[key]: T` all other keys,
 * `+{keyword: ...}` what there is no sign for.
 */
export function compactPage(tools: readonly Tool[], identifiers?: ReadonlyMap<string, string>): CompactPage {
  const shapes = new Shapes();
  const budget: ReadingBudget = { nodes: MAX_NODES, complete: true };
  const facts = tools.map((tool) => readTool(tool, shapes, budget));
  const shared = sharedMembers(facts);
  const names = new TypeNames(valuesOf(facts, shared));
  const printer = new ShapePrinter(names);
  const blocks = [
    names
      .declarations()
      .map(({ name, value }) => printer.lines(`type ${name} = `, value, "", true))
      .flat(),
    shared.length === 0
      ? []
      : ["Shared:", ...shared.flatMap(({ name, value }) => printer.lines(`- ${memberLabel(name, false)}`, value, ""))],
    ...facts.map((tool) => toolLines(tool, shared, printer, identifiers)),
  ];
  const text = blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n");
  return { text, complete: budget.complete && tools.every(isWholeDescription) };
}

const isWholeDescription = (tool: Tool): boolean => descriptionOf(tool).length <= MAX_DESCRIPTION_CHARACTERS;

function readTool(tool: Tool, shapes: Shapes, budget: ReadingBudget): Facts {
  const inputSchema = keyword(tool, "inputSchema");
  const args = new SchemaReader(inputSchema, shapes, budget).value(inputSchema ?? {}, tool.name);
  const isPlain = args.shape.kind === "object" && !isAnnotated(args) && /^!?$/.test(args.shape.marks);
  const learned = learnedResult(tool);
  const outputSchema = keyword(tool, "outputSchema") ?? learned?.schema;
  return {
    tool,
    args,
    members: isPlain && args.shape.kind === "object" ? args.shape.members : undefined,
    result:
      outputSchema === undefined || outputSchema === null
        ? undefined
        : new SchemaReader(outputSchema, shapes, budget).value(outputSchema, `${tool.name}_result`),
    observed: learned && observedMark(learned),
  };
}

const sharedKey = ({ name, value }: Member): string => JSON.stringify([name, valueKey(value)]);

/** Parameters that two tools or more have alike; of each name the one most of them have. */
function sharedMembers(facts: readonly Facts[]): Member[] {
  const counted = new Map<string, { member: Member; count: number }>();
  for (const member of facts.flatMap(({ members }) => members ?? [])) {
    const known = counted.get(sharedKey(member));
    if (known === undefined) counted.set(sharedKey(member), { member, count: 1 });
    else known.count++;
  }
  const best = new Map<string, { member: Member; count: number }>();
  for (const one of counted.values()) {
    const { name } = one.member;
    if (isWorthSharing(one) && one.count > (best.get(name)?.count ?? 0)) best.set(name, one);
  }
  return [...best.values()].map(({ member }) => member);
}

/** A short line costs less where it is than a second mention of its name would. */
function isWorthSharing({ member, count }: { member: Member; count: number }): boolean {
  const { name } = member;
  const value = wrapped(member.value) ?? member.value;
  const length = name.length + (value.shape.kind === "text" ? value.shape.text.length : 16) + value.doc.length + 4;
  return count > 1 && (count - 1) * length > count * (name.length + 4) + 10;
}

/** Everything that is printed once. */
function valuesOf(facts: readonly Facts[], shared: readonly Member[]): Value[] {
  const keys = new Set(shared.map(sharedKey));
  return [
    ...shared.map(({ value }) => value),
    ...facts.flatMap(({ args, members, result }) => {
      const own = members?.filter((member) => !keys.has(sharedKey(member))).map(({ value }) => value) ?? [args];
      const rest = members !== undefined && args.shape.kind === "object" ? args.shape.rest : undefined;
      return [...own, ...(rest === undefined ? [] : [rest]), ...(result === undefined ? [] : [result])];
    }),
  ];
}

function toolLines(
  facts: Facts,
  shared: readonly Member[],
  printer: ShapePrinter,
  identifiers: ReadonlyMap<string, string> | undefined,
): string[] {
  const { tool, result, observed } = facts;
  const label = `->${observed === undefined ? "" : ` (${observed})`} `;
  return [
    heading(facts, identifiers),
    ...descriptionLines(tool),
    ...parameterLines(facts, shared, printer),
    ...(result === undefined ? [] : printer.lines(label, result, "")),
  ];
}

/** Other names are quoted, so that they are exact whatever they hold. */
const PLAIN_NAME = /^[\p{L}\p{N}_./:-]{1,200}$/u;

function heading({ tool, args, members }: Facts, identifiers: ReadonlyMap<string, string> | undefined): string {
  const name = PLAIN_NAME.test(tool.name) ? tool.name : stringLiteral(tool.name.slice(0, MAX_NAME_CHARACTERS));
  const closed = members !== undefined && args.shape.kind === "object" && args.shape.marks === "!" ? " !" : "";
  const identifier = identifiers?.get(tool.name) ?? tool.name;
  const call = identifier === tool.name ? "" : ` = tools.${identifier}`;
  // A title is a name for people: it says something only where nothing else does.
  const title = descriptionOf(tool).trim() === "" ? titleOf(tool) : "";
  return `# ${name}${closed}${call}${title === "" ? "" : ` - ${title}`}`;
}

/** Lines that could be read as ones of ours get a backslash. */
function descriptionLines(tool: Tool): string[] {
  const text = blockText(descriptionOf(tool), MAX_DESCRIPTION_CHARACTERS);
  if (text === "") return [];
  return text.split("\n").map((line) => (/^(?:->|args:|Shared:|type \w+ =)/.test(line) ? `\\${line}` : line));
}

function parameterLines({ args, members }: Facts, shared: readonly Member[], printer: ShapePrinter): string[] {
  if (members === undefined || args.shape.kind !== "object") return printer.lines("args: ", args, "");
  const keys = new Set(shared.map(sharedKey));
  const named = members.filter((member) => keys.has(sharedKey(member)));
  const mentions = named.map(({ name, optional }) => memberLabel(name, optional).slice(0, -2));
  const own = { ...args.shape, members: members.filter((member) => !keys.has(sharedKey(member))) };
  return [...(mentions.length === 0 ? [] : [`- ${mentions.join(", ")} (shared)`]), ...printer.members(own, "")];
}
