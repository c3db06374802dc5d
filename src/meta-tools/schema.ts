import { isSequential, type CallContext, type CallToolResult, type Tool } from "../catalog/tool.js";
import { foldedText } from "../catalog/untrusted-text.js";
import { ValidationError } from "../errors.js";
import { nearestNames } from "../nearest.js";
import { pickNames } from "../search/names.js";
import { NOTHING_FOUND } from "../search/serializers/brief.js";
import { definitionOf } from "../search/serializers/definitions.js";
import type { Detail, SerializeContext } from "../search/serializers/serializer.js";
import { MetaArguments } from "./arguments.js";
import { DISCOVERY_ARGUMENTS, SCHEMA_DESCRIPTION } from "./descriptions.js";
import type { CodeMode, MetaTool, MetaToolFactory } from "./meta-tool.js";
import { observed } from "./observed.js";
import { refusal } from "./run-mark.js";
import { DETAILS } from "./search-arguments.js";
import { printThatFits, textReply } from "./search-page.js";
import { identifiersOf, listed } from "./search.js";

/** Options of {@link schemaTool}. */
export interface SchemaToolOptions {
  /** @default "get_schema" */
  name?: string;
  description?: string;
  /** How much of each tool when the call does not say. @default the serializer's own for tools asked for by name */
  detail?: Detail;
  /**
   * Every name must be that of one tool, each given once; else the call fails and says which is not. The reply is then
   * JSON for programs too: for each tool its definition, `callable` (how scripts reach it below `tools`) and
   * `sequential`. @default false: what is found is shown, the rest named
   */
  strict?: boolean;
}

/** Names of one call. */
const MAX_NAMES = 200;
const MAX_SAID_CHARACTERS = 200;

/**
 * The meta-tool that shows what tools take and give, by exact names.
 *
 * @example
 * codeMode({ metaTools: [searchTool({ detail: "brief" }), schemaTool(), executeTool()] });
 */
export function schemaTool(options: SchemaToolOptions = {}): MetaToolFactory {
  return function createSchemaTool(engine): MetaTool {
    const tool = toolDefinition(options);
    return {
      tool,
      role: "schema",
      async call(args, context) {
        try {
          const reader = new MetaArguments(tool, args);
          const names = namesOf(reader.strings("tools") ?? []);
          const detail = options.strict === true ? undefined : (reader.oneOf("detail", DETAILS) ?? options.detail);
          return await observed(engine, "schema", context, { names: names.length }, () =>
            options.strict === true ? strictSchemas(engine, names, context) : schemas(engine, names, detail, context),
          );
        } catch (error) {
          return refusal(error);
        }
      },
    };
  };
}

function toolDefinition({ name = "get_schema", description = SCHEMA_DESCRIPTION, strict }: SchemaToolOptions): Tool {
  const detail = { type: "string", enum: [...DETAILS], description: DISCOVERY_ARGUMENTS.detail };
  return {
    name,
    title: "Get tool schemas",
    description,
    inputSchema: {
      type: "object",
      properties: {
        tools: { type: "array", items: { type: "string" }, description: DISCOVERY_ARGUMENTS.tools },
        ...(strict === true ? {} : { detail }),
      },
      required: ["tools"],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  };
}

/** One name, or several in one text, count as a list. */
function namesOf(given: readonly string[]): string[] {
  const [only, ...others] = given;
  const names = only !== undefined && others.length === 0 ? only.split(",").map((name) => name.trim()) : [...given];
  const asked = names.filter((name) => name !== "");
  if (asked.length <= MAX_NAMES) return asked;
  throw new ValidationError(`At most ${MAX_NAMES} names at a time, got ${asked.length}.`);
}

/** Shows what there is, and names what there is not. */
async function schemas(
  engine: CodeMode,
  names: readonly string[],
  detail: Detail | undefined,
  context: CallContext,
): Promise<CallToolResult> {
  const tools = await listed(engine, context);
  const { settings } = engine;
  const { found, missing } = lookUp(names, tools);
  const decorated = found.map((tool) => settings.learnedTypes?.decorate(tool, context) ?? tool);
  const serializing: SerializeContext = {
    total: tools.length,
    identifiers: identifiersOf(tools),
    purpose: "schema",
    ...(detail === undefined ? {} : { detail }),
  };
  const { maxResultBytes } = settings.limits;
  const printed = await printThatFits(decorated, settings.searchResultSerializer, serializing, maxResultBytes);
  const shown = found.slice(0, printed.shown).map(({ name }) => name);
  if (shown.length > 0) await settings.hydrate?.(shown, context);
  const left = found.slice(printed.shown).map(({ name }) => said(name));
  const note =
    left.length === 0 ? [] : [`Left out, as a reply has at most ${maxResultBytes} bytes: ${left.join(", ")}.`];
  const list = jsonList(printed.text);
  if (list !== undefined) {
    const rest = missing.length === 0 ? [] : [{ not_found: missing }];
    return textReply([JSON.stringify([...list, ...rest]), ...note]);
  }
  const lines = missing.length === 0 ? [] : [notFound(missing, tools)];
  if (found.length === 0) return textReply([lines[0] ?? NOTHING_FOUND]);
  return textReply([[printed.text, ...lines, ...note].join("\n\n")]);
}

/** Tools by their names, in the order asked for, each once; a name in another case style is understood. */
function lookUp(names: readonly string[], tools: readonly Tool[]): { found: Tool[]; missing: string[] } {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const found = new Set<Tool>();
  const missing: string[] = [];
  for (const name of names) {
    const exact = byName.get(name);
    const [meant, ...others] = exact === undefined ? (pickNames(name, tools)?.found ?? []) : [exact];
    if (meant !== undefined && others.length === 0) found.add(meant);
    else missing.push(name);
  }
  return { found: [...found], missing: [...new Set(missing)] };
}

function notFound(missing: readonly string[], tools: readonly Tool[]): string {
  const names = tools.map(({ name }) => name);
  const lines = missing.map((name) => {
    const nearest = nearestNames(name, names).map(said);
    return `${said(name)}${nearest.length === 0 ? "" : ` (nearest: ${nearest.join(", ")})`}`;
  });
  return `Tools not found: ${lines.join(", ")}`;
}

const said = (name: string): string => foldedText(name, MAX_SAID_CHARACTERS);

function jsonList(text: string): unknown[] | undefined {
  if (!text.startsWith("[")) return undefined;
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list : undefined;
  } catch {
    return undefined;
  }
}

/** All or nothing. @throws {ValidationError} for names that are unknown or given twice. */
async function strictSchemas(
  engine: CodeMode,
  names: readonly string[],
  context: CallContext,
): Promise<CallToolResult> {
  const tools = await listed(engine, context);
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  if (twice.length > 0) throw new ValidationError(`Given twice: ${[...new Set(twice)].map(said).join(", ")}.`);
  const missing = names.filter((name) => !byName.has(name));
  if (missing.length > 0) throw new ValidationError(`${notFound(missing, tools)}. Nothing was read.`);
  if (names.length === 0) throw new ValidationError("Give the exact names of tools.");
  const identifiers = identifiersOf(tools);
  const facts = names.map((name) => {
    const tool = byName.get(name) as Tool;
    const shown = engine.settings.learnedTypes?.decorate(tool, context) ?? tool;
    return { ...definitionOf(shown), callable: identifiers.get(name) ?? name, sequential: isSequential(tool) };
  });
  const text = JSON.stringify(facts);
  const most = Math.min(engine.settings.limits.maxDiscoveryBytes, engine.settings.limits.maxResultBytes);
  if (Buffer.byteLength(text) <= most) {
    await engine.settings.hydrate?.(names, context);
    return textReply([text]);
  }
  throw new ValidationError(`These schemas take more than ${most} bytes. Ask for fewer tools at a time.`);
}
