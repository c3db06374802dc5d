import type { CallToolResult, Tool } from "../catalog/tool.js";
import { LimitError } from "../errors.js";
import {
  isProse,
  type Detail,
  type SearchResultSerializer,
  type SerializeContext,
} from "../search/serializers/serializer.js";
import type { FoundTools } from "./find-tools.js";

/** How a page is printed. */
export interface PageOptions {
  serializer: SearchResultSerializer;
  query: string;
  detail: Detail | undefined;
  /** How scripts reach each tool. */
  identifiers: ReadonlyMap<string, string>;
  /** Of the whole reply, in bytes of UTF-8. */
  maxBytes: number;
}

/** Room kept for the heading and the notes. */
const MARGIN_BYTES = 512;

interface Printed {
  text: string;
  /** Tools in the text. */
  shown: number;
}

/**
 * The reply of a search. Too large: as many tools as fit, and how many were left out.
 *
 * @throws {LimitError} when one tool alone is too large.
 */
export async function searchPage(found: FoundTools, options: PageOptions): Promise<CallToolResult> {
  const prose = isProse(options.serializer);
  const printed = await printThatFits(found, options);
  const isText = prose && !isJson(printed.text);
  if (isText && found.tools.length === 0) return textReply([nothingFound(found, options.query)]);
  const notes = notesOf(found, printed, options.maxBytes);
  if (!isText) return textReply([printed.text, ...notes]);
  const heading = headingOf(found, printed);
  return textReply([[...heading, printed.text, ...notes].join("\n\n")]);
}

async function printThatFits(found: FoundTools, options: PageOptions): Promise<Printed> {
  const { serializer, query, detail, identifiers, maxBytes } = options;
  const context: SerializeContext = { query, total: found.total, identifiers, detail };
  const room = Math.max(0, maxBytes - MARGIN_BYTES);
  let tools: readonly Tool[] = found.tools;
  for (;;) {
    const printed = await serializer([...tools], context);
    const text = typeof printed === "string" ? printed : JSON.stringify(printed);
    const bytes = Buffer.byteLength(text);
    if (bytes <= room || tools.length === 0) return { text, shown: tools.length };
    if (tools.length === 1) throw oneTooLarge(tools[0]?.name ?? "", bytes, maxBytes);
    // A little less than the share that fits, so that a few rounds do.
    tools = tools.slice(0, Math.max(1, Math.floor(((tools.length * room) / bytes) * 0.95)));
  }
}

function oneTooLarge(name: string, bytes: number, most: number): LimitError {
  return new LimitError(
    `${name} alone takes ${bytes} bytes in this form, at most ${most} are allowed (limits.maxResultBytes). Ask for less detail.`,
    { details: { limit: "maxResultBytes", bytes, most } },
  );
}

function headingOf(found: FoundTools, { shown }: Printed): string[] {
  if (shown >= found.total) return [];
  return [`${shown} of ${found.total} tools${found.unfiltered ? ", in name order" : ""}:`];
}

function notesOf(found: FoundTools, { shown }: Printed, maxBytes: number): string[] {
  const left = found.tools.length - shown;
  const notes = found.unknown.map(({ name, nearest }) => {
    const hint = nearest.length === 0 ? "" : ` Nearest: ${nearest.join(", ")}.`;
    return `No tool is named ${JSON.stringify(name)}.${hint}`;
  });
  if (left > 0) notes.push(`${left} more found, left out: a reply has at most ${maxBytes} bytes. Ask for less detail.`);
  return notes;
}

function nothingFound(found: FoundTools, query: string): string {
  if (found.unknown.length > 0) return notesOf(found, { text: "", shown: 0 }, 0).join("\n");
  if (found.total === 0) return "No tools matched: there are no tools here.";
  const nearest = found.nearest.length === 0 ? "" : ` Nearest names: ${found.nearest.join(", ")}.`;
  return `No tools matched ${JSON.stringify(query.slice(0, 200))} (of ${found.total}).${nearest} Try other words, or an empty query for all tools in name order.`;
}

/** A program may read it: nothing is put around it. */
const isJson = (text: string): boolean => /^\s*[[{]/.test(text);

function textReply(texts: readonly string[]): CallToolResult {
  return { content: texts.map((text) => ({ type: "text", text })) };
}
