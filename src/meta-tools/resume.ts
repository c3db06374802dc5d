import type { Tool } from "../catalog/tool.js";
import { ValidationError } from "../errors.js";
import { MetaArguments } from "./arguments.js";
import { RESUME_ARGUMENTS, RESUME_DESCRIPTION } from "./descriptions.js";
import { replyTo } from "./execute.js";
import type { MetaTool, MetaToolFactory, ResumeArguments } from "./meta-tool.js";
import { refusal } from "./run-mark.js";

/** Options of {@link resumeTool}. */
export interface ResumeToolOptions {
  /** @default "resume" */
  name?: string;
  /** @default built in */
  description?: string;
}

/**
 * The meta-tool that goes on with a paused script. It takes the name of the run and nothing else: whether a call is
 * allowed is decided by a person, through the client or the host, never by an argument. Part of the default meta-tools
 * once a `policy` is set, or scripts may take longer than clients wait.
 *
 * @example
 * codeMode({ policy, metaTools: [searchTool(), executeTool(), resumeTool()] });
 */
export function resumeTool(options: ResumeToolOptions = {}): MetaToolFactory {
  return function createResumeTool(engine): MetaTool {
    const tool = toolDefinition(options);
    return {
      tool,
      role: "resume",
      async call(args, context) {
        const read = readArguments(tool, args);
        if (read instanceof ValidationError) return refusal(read);
        return replyTo(await engine.resume(read, context), engine.settings);
      },
    };
  };
}

function toolDefinition({ name = "resume", description = RESUME_DESCRIPTION }: ResumeToolOptions): Tool {
  return {
    name,
    title: "Resume script",
    description,
    inputSchema: {
      type: "object",
      properties: { run: { type: "string", description: RESUME_ARGUMENTS.run } },
      required: ["run"],
      additionalProperties: false,
    },
    // What was allowed may be anything; a second resume gives the recorded outcome and does nothing.
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  };
}

function readArguments(tool: Tool, args: Record<string, unknown>): ResumeArguments | ValidationError {
  try {
    const run = new MetaArguments(tool, args).string("run");
    if (run === undefined) throw new ValidationError(`${tool.name} needs \`run\`, the id of a paused script.`);
    return { run };
  } catch (error) {
    if (error instanceof ValidationError) return error;
    throw error;
  }
}
