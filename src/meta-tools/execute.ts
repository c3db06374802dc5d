import type { CallToolResult, ContentBlock, Tool } from "../catalog/tool.js";
import { messageOf, SandboxError, ValidationError } from "../errors.js";
import { MetaArguments } from "./arguments.js";
import { listedWithCatalog } from "./catalog-description.js";
import { EXECUTE_ARGUMENTS, executeDescription } from "./descriptions.js";
import type { ExecuteArguments, ExecuteOutcome, MetaTool, MetaToolFactory, MetaToolSettings } from "./meta-tool.js";
import { refusal, RUN_MARK, runMark } from "./run-mark.js";

/** Options of {@link executeTool}. What is absent is the engine's. */
export interface ExecuteToolOptions {
  /** @default the option `executeToolName` */
  name?: string;
  /** @default the option `executeDescription`, else the built-in one */
  description?: string;
  /** Offers an argument `inputs`: an object that the script reads as a global of that name. @default false */
  inputs?: boolean;
  /** Offers an argument `restart`, which begins the session anew. @default true with the option `session` */
  restart?: boolean;
}

/**
 * The meta-tool that runs a script.
 *
 * @example
 * codeMode({ metaTools: [searchTool(), executeTool({ name: "run_code" })] });
 */
export function executeTool(options: ExecuteToolOptions = {}): MetaToolFactory {
  return function createExecuteTool(engine): MetaTool {
    const { settings } = engine;
    const tool = toolDefinition(options, settings);
    // A description of the host's own stays as it is, unless the host asked for the catalog in it.
    const isOwn = (options.description ?? settings.executeDescription) !== undefined;
    const namesCatalog = !isOwn || settings.catalogInDescription !== "unset";
    return {
      tool,
      ...(namesCatalog ? { listed: listedWithCatalog(engine, tool, "execute") } : {}),
      async call(args, context) {
        const read = readArguments(tool, args);
        if (read instanceof ValidationError) return refusal(read);
        return replyTo(await engine.execute(read, context), settings);
      },
    };
  };
}

function toolDefinition({ name, description, inputs, restart }: ExecuteToolOptions, settings: MetaToolSettings): Tool {
  const own = description ?? settings.executeDescription ?? executeDescription(settings.limits, settings.session);
  return {
    name: name ?? settings.executeToolName,
    title: "Execute script",
    description: own,
    inputSchema: {
      type: "object",
      properties: {
        code: { type: "string", description: EXECUTE_ARGUMENTS.code },
        ...(inputs === true ? { inputs: { type: "object", description: EXECUTE_ARGUMENTS.inputs } } : {}),
        ...((restart ?? settings.session)
          ? { restart: { type: "boolean", description: EXECUTE_ARGUMENTS.restart } }
          : {}),
      },
      required: ["code"],
      additionalProperties: false,
    },
    // A script may call any tool: the worst that one of them could be.
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  };
}

function readArguments(tool: Tool, args: Record<string, unknown>): ExecuteArguments | ValidationError {
  try {
    const reader = new MetaArguments(tool, args);
    const code = reader.string("code");
    const inputs = reader.object("inputs");
    if (code === undefined) throw new ValidationError(`${tool.name} needs \`code\`, a script as a string.`);
    const restart = reader.boolean("restart");
    return { code, ...(inputs === undefined ? {} : { inputs }), ...(restart === undefined ? {} : { restart }) };
  } catch (error) {
    if (error instanceof ValidationError) return error;
    throw error;
  }
}

/**
 * The reply to a client that ran a script, or a further part of one.
 *
 * @throws the protocol error of a tool that the client itself has to act on, as the source threw it.
 */
export async function replyTo(outcome: ExecuteOutcome, settings: MetaToolSettings): Promise<CallToolResult> {
  // The client acts on its code and data.
  // oxlint-disable-next-line typescript/only-throw-error
  if ("protocolError" in outcome && outcome.protocolError !== undefined) throw outcome.protocolError;
  try {
    return await reply(outcome, settings);
  } catch (cause) {
    return refusal(new SandboxError(`The reply could not be made: ${messageOf(cause)}`, { cause }));
  }
}

/** The reply to the client: what the serializer makes of the outcome, with the run's mark. */
async function reply(outcome: ExecuteOutcome, settings: MetaToolSettings): Promise<CallToolResult> {
  const printed = await settings.executeResultSerializer(outcome);
  const result = typeof printed === "string" ? asResult(printed, outcome.content) : printed;
  const structured = settings.structuredOutput === "value" ? structuredValue(outcome) : undefined;
  return {
    ...result,
    ...(structured === undefined ? {} : { structuredContent: structured }),
    _meta: { ...result._meta, [RUN_MARK]: runMark(outcome) },
  };
}

const asResult = (text: string, media: readonly ContentBlock[]): CallToolResult => ({
  content: [{ type: "text", text }, ...media],
});

/** An object as it is; anything else, which structured content cannot be, as `{ result: value }`. */
function structuredValue(outcome: ExecuteOutcome): { [key: string]: unknown } | undefined {
  if (outcome.status !== "completed" || outcome.value === undefined) return undefined;
  const { value } = outcome;
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as { [key: string]: unknown };
  return { result: value };
}
