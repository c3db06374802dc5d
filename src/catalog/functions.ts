import { CancelledError, CodeModeError, ConfigurationError, messageOf, ToolCallError } from "../errors.js";
import { nearestNames } from "../nearest.js";
import { type FunctionSchema, type ObjectSchema, readSchema } from "./function-schemas.js";
import type { CallContext, Tool, ToolResult, ToolSource } from "./tool.js";

/** A plain function as a tool. */
export interface FunctionTool {
  /** What it does, for the model. */
  description?: string;
  /**
   * What it takes: one object, as a schema of zod 3, zod 4 (4.2 or newer), another library with Standard JSON Schema, or
   * as JSON Schema. A schema of a library checks the arguments itself, and the function gets what it makes of them
   * (defaults, transforms).
   *
   * @default any object
   */
  input?: unknown;
  /**
   * What it gives, in the same forms. A schema of a library checks the value. One that is no object is listed, and given
   * to scripts, as `{ result: value }`.
   */
  output?: unknown;
  /**
   * Called with the arguments and a {@link CallContext}; sync or async. What it gives: a string is text, an object is
   * structured content, any other value is the structured content `{ result: value }`, nothing is an empty result, and a
   * `CallToolResult` (an object with a list `content`) passes as it is. What it throws is the tool's own error, and the
   * script sees its message; an error with a JSON-RPC `code` passes as it is.
   */
  run: (...args: never[]) => unknown;
  /** As in MCP: `readOnlyHint`, `destructiveHint`, ... */
  annotations?: Tool["annotations"];
  /** As in MCP: tags and other marks. */
  _meta?: Tool["_meta"];
}

/** Options of {@link functionSource}. */
export interface FunctionSourceOptions {
  /** The server name of the tools. @default none */
  name?: string;
}

/**
 * Plain functions as tools, by name: code mode without an MCP server.
 *
 * @throws {ConfigurationError} for an unknown key (with the nearest known one), a `run` that is no function, and a schema
 * that cannot be read. A schema of input that is no object is found when the tools are first listed.
 *
 * @example
 * const engine = createCodeMode(
 *   functionSource({
 *     add: {
 *       description: "Adds two numbers",
 *       input: z.object({ a: z.number(), b: z.number() }),
 *       run: ({ a, b }: { a: number; b: number }) => a + b,
 *     },
 *   }),
 * );
 * const outcome = await engine.execute({ code: "return await tools.add({ a: 3, b: 4 })" });
 */
export function functionSource(
  tools: Readonly<Record<string, FunctionTool>>,
  options: FunctionSourceOptions = {},
): ToolSource {
  const functions = new Map(Object.entries(tools).map(([name, tool]) => [name, prepare(name, tool)]));
  // The same array each time: catalogs are kept by the identity of lists.
  let listed: Promise<Tool[]> | undefined;
  return {
    ...(options.name === undefined ? {} : { name: options.name }),
    validatesArguments: (name) => functions.get(name)?.input?.parse !== undefined,
    listTools: () => (listed ??= Promise.all([...functions.values()].map(definitionOf))),
    async callTool(name, args, context) {
      const prepared = functions.get(name);
      if (prepared === undefined) throw new ToolCallError(`Unknown tool: ${name}`, { details: { tool: name } });
      if (context.signal.aborted) throw new CancelledError(`The call of ${name} was cancelled`);
      return callFunction(prepared, args, context);
    },
  };
}

interface Prepared {
  readonly name: string;
  readonly tool: FunctionTool;
  readonly input: FunctionSchema | undefined;
  readonly output: FunctionSchema | undefined;
  /** As it is listed: made once. */
  definition?: Promise<Tool>;
}

const KEYS: readonly (keyof FunctionTool)[] = ["description", "input", "output", "run", "annotations", "_meta"];

function prepare(name: string, tool: FunctionTool): Prepared {
  const where = `tools.${name}`;
  for (const key of Object.keys(tool)) {
    if ((KEYS as readonly string[]).includes(key)) continue;
    const [nearest] = nearestNames(key, KEYS, 1);
    const hint = nearest === undefined ? `Known: ${KEYS.join(", ")}.` : `Did you mean ${nearest}?`;
    throw new ConfigurationError(`Unknown key ${where}.${key}. ${hint}`);
  }
  if (typeof tool.run !== "function") throw new ConfigurationError(`${where}.run must be a function.`);
  const read = (side: "input" | "output"): FunctionSchema | undefined =>
    tool[side] === undefined ? undefined : readSchema(tool[side], side, `${where}.${side}`);
  return { name, tool, input: read("input"), output: read("output") };
}

function definitionOf(prepared: Prepared): Promise<Tool> {
  prepared.definition ??= makeDefinition(prepared);
  return prepared.definition;
}

async function makeDefinition({ name, tool, input, output }: Prepared): Promise<Tool> {
  const { description, annotations, _meta } = tool;
  const outputSchema = output && objectOrResult(await jsonOf(output, name));
  return {
    name,
    ...(description === undefined ? {} : { description }),
    inputSchema: input === undefined ? { type: "object" } : inputSchema(name, await jsonOf(input, name)),
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(annotations === undefined ? {} : { annotations }),
    ...(_meta === undefined ? {} : { _meta }),
  };
}

/** A schema that cannot be printed takes nothing from its tool but the print. */
async function jsonOf(schema: FunctionSchema, name: string): Promise<{ [key: string]: unknown }> {
  try {
    return await schema.toJson();
  } catch (error) {
    process.emitWarning(`A schema of tool "${name}" cannot be shown as JSON Schema: ${messageOf(error)}`, {
      type: "McpCodemodeWarning",
    });
    return { type: "object" };
  }
}

function inputSchema(name: string, json: { [key: string]: unknown }): ObjectSchema {
  const { type = "object" } = json;
  if (type === "object") return { ...json, type };
  throw new ConfigurationError(
    `tools.${name}.input must be a schema of an object, since tools take one object; it is one of ${JSON.stringify(type)}.`,
  );
}

/** Marks a listed output that stands for a value that is no object. */
const wrapped = new WeakSet<object>();

function objectOrResult(json: { [key: string]: unknown }): { [key: string]: unknown } {
  if (json["type"] === "object") return json;
  // Definitions are pointed to from the root.
  const { $schema, $defs, definitions, ...result } = json;
  const kept = Object.entries({ $schema, $defs, definitions }).filter(([, value]) => value !== undefined);
  const schema = { ...Object.fromEntries(kept), type: "object", properties: { result }, required: ["result"] };
  wrapped.add(schema);
  return schema;
}

async function callFunction(
  prepared: Prepared,
  args: Record<string, unknown>,
  context: CallContext,
): Promise<ToolResult> {
  const admitted = (await prepared.input?.parse?.(args)) ?? { value: args };
  if ("faults" in admitted) throw invalidParams(admitted.faults);
  try {
    const run = prepared.tool.run as (args: unknown, context: CallContext) => unknown;
    return await toResult(await run(admitted.value, context), prepared);
  } catch (error) {
    // For the caller, or for the client behind it.
    if (CodeModeError.isInstance(error) || hasProtocolCode(error)) throw error;
    return failure(messageOf(error));
  }
}

/** JSON-RPC: the arguments do not fit. Callers add what the tool takes. */
const INVALID_PARAMS = -32602;

function invalidParams(faults: readonly string[]): Error {
  return Object.assign(new Error(faults.join("; ")), { code: INVALID_PARAMS });
}

const hasProtocolCode = (error: unknown): boolean =>
  error instanceof Error && Number.isInteger((error as { code?: unknown }).code);

async function toResult(value: unknown, prepared: Prepared): Promise<ToolResult> {
  const { name, output } = prepared;
  if (isCallToolResult(value)) return value;
  if (output === undefined) return plainResult(value);
  const checked = (await output.parse?.(value)) ?? { value };
  if ("faults" in checked)
    return failure(`${name} gave a value that does not fit its output: ${checked.faults.join("; ")}`);
  const { outputSchema } = await definitionOf(prepared);
  return structured(
    outputSchema !== undefined && wrapped.has(outputSchema) ? { result: checked.value } : checked.value,
  );
}

const BLOCK_TYPES: ReadonlySet<unknown> = new Set(["text", "image", "audio", "resource", "resource_link"]);

function isCallToolResult(value: unknown): value is ToolResult {
  if (typeof value !== "object" || value === null) return false;
  const { content } = value as { content?: unknown };
  return (
    Array.isArray(content) && content.every((block) => BLOCK_TYPES.has((block as { type?: unknown } | null)?.type))
  );
}

function plainResult(value: unknown): ToolResult {
  if (value === undefined || value === null) return { content: [] };
  if (typeof value === "string") return { content: [{ type: "text", text: value }] };
  return structured(typeof value === "object" && !Array.isArray(value) ? value : { result: value });
}

/** With the same as text, for hosts that read no structured content. */
function structured(value: unknown): ToolResult {
  return { content: [{ type: "text", text: JSON.stringify(value) ?? "null" }], structuredContent: value };
}

const failure = (text: string): ToolResult => ({ content: [{ type: "text", text }], isError: true });
