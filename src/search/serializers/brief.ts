import type { Tool } from "../../catalog/tool.js";
import { inlineText } from "../../catalog/untrusted-text.js";

/** What stands instead of an empty list, except where the answer is JSON. */
export const NOTHING_FOUND = "No tools matched the query.";

/** Characters of a name in a list or heading: longer ones than any client accepts. */
export const MAX_NAME_CHARACTERS = 200;
/** Characters of a description in a list with one line for each tool. */
export const MAX_BRIEF_CHARACTERS = 300;

/** One line for each tool: `- name: description`; without a description `- name`. */
export function briefList(tools: readonly Tool[]): string {
  if (tools.length === 0) return NOTHING_FOUND;
  return tools
    .map((tool) => {
      const description = inlineText(descriptionOf(tool), MAX_BRIEF_CHARACTERS);
      return `- ${inlineText(tool.name, MAX_NAME_CHARACTERS)}${description === "" ? "" : `: ${description}`}`;
    })
    .join("\n");
}

/** The description as it is; "" when there is none. */
export function descriptionOf(tool: Tool): string {
  return typeof tool.description === "string" ? tool.description : "";
}
