import type { CallContext, CallToolResult, Tool } from "../catalog/tool.js";
import { NOTHING_FOUND } from "../search/serializers/brief.js";
import { isProse, type Detail } from "../search/serializers/serializer.js";
import { MetaArguments } from "./arguments.js";
import { DISCOVERY_ARGUMENTS, LIST_DESCRIPTION } from "./descriptions.js";
import { byName } from "./find-tools.js";
import type { CodeMode, MetaTool, MetaToolFactory } from "./meta-tool.js";
import { refusal } from "./run-mark.js";
import { DETAILS } from "./search-arguments.js";
import { printThatFits, textReply } from "./search-page.js";
import { identifiersOf, listed } from "./search.js";

/** Options of {@link listTool}. */
export interface ListToolOptions {
  /** @default "list_tools" */
  name?: string;
  description?: string;
  /** How much of each tool when the call does not say. @default "brief" */
  detail?: Detail;
}

/**
 * The meta-tool that lists all tools, in name order.
 *
 * @example
 * codeMode({ metaTools: [listTool(), schemaTool(), executeTool()] });
 */
export function listTool(options: ListToolOptions = {}): MetaToolFactory {
  return function createListTool(engine): MetaTool {
    const tool = toolDefinition(options);
    return {
      tool,
      async call(args, context) {
        try {
          const detail = new MetaArguments(tool, args).oneOf("detail", DETAILS) ?? options.detail ?? "brief";
          return await list(engine, detail, context);
        } catch (error) {
          return refusal(error);
        }
      },
    };
  };
}

function toolDefinition({ name = "list_tools", description = LIST_DESCRIPTION }: ListToolOptions): Tool {
  return {
    name,
    title: "List tools",
    description,
    inputSchema: {
      type: "object",
      properties: { detail: { type: "string", enum: [...DETAILS], description: DISCOVERY_ARGUMENTS.detail } },
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  };
}

async function list(engine: CodeMode, detail: Detail, context: CallContext): Promise<CallToolResult> {
  const { settings } = engine;
  const all = await listed(engine, context);
  const tools = all.filter((tool) => !settings.isDirect(tool)).sort(byName);
  if (tools.length === 0 && isProse(settings.searchResultSerializer) && detail !== "full") {
    return textReply([NOTHING_FOUND]);
  }
  const shown = tools.map((tool) => settings.learnedTypes?.decorate(tool, context) ?? tool);
  const serializing = { total: tools.length, identifiers: identifiersOf(all), detail };
  const { maxResultBytes } = settings.limits;
  const printed = await printThatFits(shown, settings.searchResultSerializer, serializing, maxResultBytes);
  const left = tools.length - printed.shown;
  const note = `${left} more left out: a reply has at most ${maxResultBytes} bytes. An empty search gives all of them, page by page.`;
  return textReply([printed.text, ...(left === 0 ? [] : [note])]);
}
