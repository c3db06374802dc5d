import type { Tool } from "../../catalog/tool.js";
import { foldedText, inlineText } from "../../catalog/untrusted-text.js";

/** What stands instead of an empty list, except where the answer is JSON. */
export const NOTHING_FOUND = "No tools matched the query.";

/** Characters of a name in a list or heading: longer ones than any client accepts. */
export const MAX_NAME_CHARACTERS = 200;
/** Characters of a description in a list with one line for each tool. */
export const MAX_BRIEF_CHARACTERS = 300;

/** One line for each tool: `- name: description`; without a description `- name`. */
export function briefList(tools: readonly Tool[]): string {
  if (tools.length === 0) return NOTHING_FOUND;
  return tools.map((tool) => nameLine(tool.name, inlineText(descriptionOf(tool), MAX_BRIEF_CHARACTERS))).join("\n");
}

/** The description as it is; "" when there is none. */
export function descriptionOf(tool: Tool): string {
  return typeof tool.description === "string" ? tool.description : "";
}

/** The title on one line; "" when there is none, or when it only repeats the name. */
export function titleOf(tool: Tool): string {
  const title = typeof tool.title === "string" ? tool.title : tool.annotations?.["title"];
  if (typeof title !== "string" || fold(title) === fold(tool.name)) return "";
  return foldedText(title, MAX_NAME_CHARACTERS);
}

/** Where a sentence ends: a point that no abbreviation, version or file name has. */
const SENTENCE_END = /(?<!\b(?:e\.g|i\.e|etc|vs|incl|approx|no))[.!?](?=\s|$)|[。！？]/u;
const MIN_SENTENCE_CHARACTERS = 6;

/** What a tool does in one line, at most `maxCharacters` long: the first sentence of its description, else its title. */
export function firstSentence(tool: Tool, maxCharacters = 160): string {
  const text = foldedText(descriptionOf(tool), 2_000);
  const head = text.slice(MIN_SENTENCE_CHARACTERS);
  const end = SENTENCE_END.exec(head);
  const sentence = end === null ? text : text.slice(0, MIN_SENTENCE_CHARACTERS + end.index + 1);
  return inlineText(sentence === "" ? titleOf(tool) : sentence, maxCharacters);
}

/** One line for each tool: `- name: first sentence`. */
export function sentenceList(tools: readonly Tool[], maxCharacters?: number): string {
  return tools.map((tool) => nameLine(tool.name, firstSentence(tool, maxCharacters))).join("\n");
}

const nameLine = (name: string, text: string): string =>
  `- ${inlineText(name, MAX_NAME_CHARACTERS)}${text === "" ? "" : `: ${text}`}`;

const fold = (text: string): string =>
  text
    .slice(0, 1_000)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, "");
