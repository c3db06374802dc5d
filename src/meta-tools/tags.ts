import { tagsOf, type CallToolResult, type Tool } from "../catalog/tool.js";
import { foldedText, inlineText } from "../catalog/untrusted-text.js";
import { briefList } from "../search/serializers/brief.js";
import { MetaArguments } from "./arguments.js";
import { DISCOVERY_ARGUMENTS, TAGS_DESCRIPTION } from "./descriptions.js";
import { byName, UNTAGGED } from "./find-tools.js";
import type { MetaTool, MetaToolFactory } from "./meta-tool.js";
import { refusal } from "./run-mark.js";
import { textReply } from "./search-page.js";
import { listed } from "./search.js";

/** Options of {@link tagsTool}. */
export interface TagsToolOptions {
  /** @default "tags" */
  name?: string;
  description?: string;
  /** "brief": tags with counts; "full": the tools of each tag. What a call gets that asks for none. @default "brief" */
  detail?: "brief" | "full";
}

const DETAILS = ["brief", "full"] as const;
const MAX_TAG_CHARACTERS = 100;

/**
 * The meta-tool that lists the tags of the tools.
 *
 * @example
 * codeMode({ metaTools: [tagsTool(), searchTool(), executeTool()] });
 */
export function tagsTool(options: TagsToolOptions = {}): MetaToolFactory {
  return function createTagsTool(engine): MetaTool {
    const tool = toolDefinition(options);
    return {
      tool,
      async call(args, context) {
        try {
          const detail = new MetaArguments(tool, args).oneOf("detail", DETAILS) ?? options.detail ?? "brief";
          const tools = await listed(engine, context);
          const hidden = tools.filter((candidate) => !engine.settings.isDirect(candidate));
          return reply(hidden, detail, engine.settings.limits.maxResultBytes);
        } catch (error) {
          return refusal(error);
        }
      },
    };
  };
}

function toolDefinition({ name = "tags", description = TAGS_DESCRIPTION }: TagsToolOptions): Tool {
  return {
    name,
    title: "List tags",
    description,
    inputSchema: {
      type: "object",
      properties: { detail: { type: "string", enum: [...DETAILS], description: DISCOVERY_ARGUMENTS.tagsDetail } },
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  };
}

function reply(tools: readonly Tool[], detail: "brief" | "full", maxBytes: number): CallToolResult {
  if (tools.length === 0) return textReply(["No tools available"]);
  const parts = groupsOf(tools).map(([tag, own]) =>
    detail === "brief"
      ? `- ${foldedText(tag, MAX_TAG_CHARACTERS)} (${own.length} ${own.length === 1 ? "tool" : "tools"})`
      : `### ${inlineText(tag, MAX_TAG_CHARACTERS)}\n\n${briefList(own)}`,
  );
  const { shown, bytes } = thatFit(parts, maxBytes);
  const left = parts.length - shown.length;
  const note = left === 0 ? [] : [`${left} more tags left out: a reply has at most ${maxBytes} bytes.`];
  if (shown.length === 0) return textReply([`The first tag alone takes ${bytes} bytes. Ask for brief.`]);
  return textReply([shown.join(detail === "brief" ? "\n" : "\n\n"), ...note]);
}

function thatFit(parts: readonly string[], maxBytes: number): { shown: string[]; bytes: number } {
  let bytes = 0;
  const end = parts.findIndex((part) => {
    bytes += Buffer.byteLength(part) + 2;
    return bytes > maxBytes;
  });
  return { shown: parts.slice(0, end < 0 ? parts.length : end), bytes };
}

/** Tags in their own order, tools without any last; a tool is in each of its tags. */
function groupsOf(tools: readonly Tool[]): [tag: string, tools: Tool[]][] {
  const groups = new Map<string, Tool[]>();
  const untagged: Tool[] = [];
  for (const tool of [...tools].sort(byName)) {
    const tags = new Set(tagsOf(tool));
    if (tags.size === 0) untagged.push(tool);
    for (const tag of tags) {
      const own = groups.get(tag);
      if (own === undefined) groups.set(tag, [tool]);
      else own.push(tool);
    }
  }
  const sorted = [...groups].sort(([left], [right]) => (left < right ? -1 : 1));
  return untagged.length === 0 ? sorted : [...sorted, [UNTAGGED, untagged]];
}
