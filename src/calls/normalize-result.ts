import type { ContentBlock, ToolResult } from "../catalog/tool.js";
import type { ContentHandles } from "./content-handles.js";
import { isRecord } from "./schema-types.js";

/** What a script gets of a result. */
export interface NormalizedResult {
  value: unknown;
  /** Length of the media that stays on the host, in characters of base64 or text. */
  heldCharacters: number;
}

/**
 * The value of a successful result: `structuredContent` as it is; else the text, several blocks joined by a newline;
 * else null. One block that is no text is a handle object, and a mixture is a list of them and of text blocks.
 */
export function normalizeResult(result: ToolResult, handles: ContentHandles): NormalizedResult {
  const { structuredContent } = result;
  if (structuredContent !== undefined && structuredContent !== null) {
    return { value: structuredContent, heldCharacters: 0 };
  }
  const blocks = blocksOf(result);
  if (blocks.length === 0) return { value: null, heldCharacters: 0 };
  if (blocks.every(isText)) return { value: textOf(blocks), heldCharacters: 0 };
  const values = blocks.map((block) => blockValue(block, handles));
  return { value: values.length === 1 ? values[0] : values, heldCharacters: blocks.reduce(addHeld, 0) };
}

/** The text of a result that says `isError`; never empty. */
export function errorText(result: ToolResult): string {
  const text = textOf(blocksOf(result).filter((block) => isText(block) || textResource(block) !== undefined));
  if (text.trim() !== "") return text;
  const { structuredContent } = result;
  if (structuredContent !== undefined && structuredContent !== null) return jsonText(structuredContent);
  return "the tool reported an error without saying which";
}

type Block = Record<string, unknown>;

function blocksOf({ content }: ToolResult): Block[] {
  return Array.isArray(content) ? content.filter(isRecord) : [];
}

const isText = (block: Block): boolean => block["type"] === "text" && typeof block["text"] === "string";

const textOf = (blocks: readonly Block[]): string =>
  blocks.map((block) => textResource(block) ?? String(block["text"])).join("\n");

function textResource(block: Block): string | undefined {
  const resource = block["resource"];
  return isRecord(resource) && typeof resource["text"] === "string" ? resource["text"] : undefined;
}

/** Media of a known form become handles. Text and unknown blocks are plain data, so that a newer protocol breaks nothing. */
function blockValue(block: Block, handles: ContentHandles): unknown {
  return isKnownMedia(block) ? handles.keep(block) : block;
}

function isKnownMedia(block: Block): block is Block & ContentBlock {
  switch (block["type"]) {
    case "image":
    case "audio":
      return typeof block["data"] === "string" && typeof block["mimeType"] === "string";
    case "resource_link":
      return typeof block["uri"] === "string" && typeof block["name"] === "string";
    case "resource":
      return isResource(block["resource"]);
    default:
      return false;
  }
}

function isResource(resource: unknown): boolean {
  if (!isRecord(resource) || typeof resource["uri"] !== "string") return false;
  return typeof resource["text"] === "string" || typeof resource["blob"] === "string";
}

function addHeld(sum: number, block: Block): number {
  const resource = isRecord(block["resource"]) ? block["resource"] : {};
  const held = [block["data"], resource["blob"], resource["text"]];
  return held.reduce<number>((total, part) => total + (typeof part === "string" ? part.length : 0), sum);
}

function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "unknown error";
  } catch {
    return "unknown error";
  }
}
