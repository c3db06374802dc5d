import { keyword, membersOf, schemaObject, stringsOf } from "../../catalog/json-schema.js";
import { learnedResult, observedMark } from "../../catalog/learned-types.js";
import type { Tool } from "../../catalog/tool.js";
import { blockText, escapeUnprintable, inlineText } from "../../catalog/untrusted-text.js";
import { briefList, descriptionOf, MAX_NAME_CHARACTERS, NOTHING_FOUND } from "./brief.js";
import { definitionOf } from "./definitions.js";
import { parameterType } from "./markdown-types.js";
import { asProse, type SearchResultSerializer, type SerializeContext } from "./serializer.js";

/** Characters of one description under its heading. */
const MAX_DESCRIPTION_CHARACTERS = 8_000;
/** Parameters listed for one tool; the rest is counted. */
const MAX_PARAMETERS = 500;

/** What {@link markdownSerializer} can print. */
export type MarkdownDetail = "brief" | "detailed" | "full";

/**
 * Prints tools as markdown. `detail` (default "detailed") is what a call gets that asks for none:
 * - brief: `- name: description`, one line each;
 * - detailed: `### name`, the description, **Parameters** and, with an outputSchema, **Returns**, one line per parameter;
 * - full: the definitions of `tools/list` as a JSON array.
 *
 * Descriptions are the tools' own words: lines of theirs that would start a heading, a list or a fence are escaped.
 *
 * @example
 * codeMode({ searchResultSerializer: markdownSerializer({ detail: "brief" }) });
 */
export function markdownSerializer(options: { detail?: MarkdownDetail } = {}): SearchResultSerializer {
  return asProse(function markdown(tools: Tool[], context: SerializeContext): string {
    switch (context.detail ?? options.detail ?? "detailed") {
      case "brief":
        return briefList(tools);
      case "full":
        return escapeUnprintable(JSON.stringify(tools.map(definitionOf)));
      case "signature":
      case "detailed":
        return tools.length === 0 ? NOTHING_FOUND : tools.map(block).join("\n\n");
    }
  });
}

function block(tool: Tool): string {
  const description = blockText(descriptionOf(tool), MAX_DESCRIPTION_CHARACTERS);
  return [
    `### ${inlineText(tool.name, MAX_NAME_CHARACTERS)}`,
    ...(description === "" ? [] : [description]),
    `**Parameters**\n${section(tool.inputSchema)}`,
    ...returns(tool),
  ].join("\n\n");
}

function returns(tool: Tool): string[] {
  if (tool.outputSchema != null) return [`**Returns**\n${section(tool.outputSchema)}`];
  const learned = learnedResult(tool);
  return learned === undefined ? [] : [`**Returns** (${observedMark(learned)})\n${section(learned.schema)}`];
}

function section(schema: unknown): string {
  const object = schemaObject(schema);
  if (object === undefined) return "- `value` (any)";
  const properties = keyword(object, "properties");
  if (schemaObject(properties) === undefined) return `- \`value\` (${parameterType(schema, schema)})`;
  const members = membersOf(properties);
  if (members.length === 0) return "*(no parameters)*";
  const required = new Set(stringsOf(keyword(object, "required")));
  const lines = members.slice(0, MAX_PARAMETERS).map(([name, property]) => {
    const mark = required.has(name) ? ", required" : "";
    return `- ${codeSpan(name)} (${parameterType(property, schema)}${mark})`;
  });
  const rest = members.length - lines.length;
  return [...lines, ...(rest > 0 ? [`- ... ${rest} more parameters`] : [])].join("\n");
}

/** A name within backticks: more of them around than in it. What does not show, line breaks too, is escaped. */
function codeSpan(name: string): string {
  const text = escapeUnprintable(name);
  if (!text.includes("`")) return `\`${text}\``;
  const longest = Math.max(...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence} ${text} ${fence}`;
}
