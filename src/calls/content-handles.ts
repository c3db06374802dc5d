import { randomUUID } from "node:crypto";
import type { ContentBlock } from "../catalog/tool.js";

/**
 * What a script gets for an image, audio or resource: what it is, and a handle that stands for its bytes. Returned from
 * the script it becomes the MCP content block it came from.
 */
export interface ContentHandle {
  type: string;
  mimeType?: string | undefined;
  uri?: string | undefined;
  name?: string | undefined;
  /** The text of an embedded text resource: for reading only, a changed one is ignored. */
  text?: string | undefined;
  handle: string;
}

/** A script's value with its content taken out. */
export interface ResolvedContent {
  /** The value; each handle object in it is what it was without the handle and without text. */
  value: unknown;
  /** The blocks in order, each once. */
  content: ContentBlock[];
  /** True when the value is one block or a list of blocks and nothing else: `content` then holds its text blocks too. */
  contentOnly: boolean;
}

/** The content of a run that goes on elsewhere. */
export interface KeptContent {
  run: string;
  blocks: readonly (readonly [string, ContentBlock])[];
}

/** Containers nested deeper than this are not looked into. */
const MAX_DEPTH = 400;

/** The content blocks that one run has seen. Handles are random per run, so no script can name those of another. */
export class ContentHandles {
  private readonly blocks = new Map<string, ContentBlock>();
  private run: string | undefined;

  /** @param kept What a run that was paused had kept: {@link ContentHandles.kept}. */
  constructor(kept?: KeptContent) {
    this.run = kept?.run;
    for (const [handle, block] of kept?.blocks ?? []) this.blocks.set(handle, block);
  }

  /** Everything that was kept, as plain data; undefined when there is nothing. */
  get kept(): KeptContent | undefined {
    return this.run === undefined ? undefined : { run: this.run, blocks: [...this.blocks] };
  }

  /** Keeps a block and gives what stands for it in the script. */
  keep(block: ContentBlock): ContentHandle {
    this.run ??= randomUUID();
    const handle = `content:${this.run}:${this.blocks.size + 1}`;
    this.blocks.set(handle, block);
    return { ...describe(block), handle };
  }

  /** Finds the handles of this run in a value and gives back their blocks. Does not change the value. */
  resolve(value: unknown): ResolvedContent {
    if (this.blocks.size === 0) return { value, content: [], contentOnly: false };
    const only = this.contentList(value);
    const found = new Map<string, ContentBlock>();
    const described = this.replace(value, found, 0);
    if (found.size === 0) return { value, content: [], contentOnly: false };
    return { value: described, content: only ?? [...found.values()], contentOnly: only !== undefined };
  }

  /** The blocks of a value that is nothing else. */
  private contentList(value: unknown): ContentBlock[] | undefined {
    const items: readonly unknown[] = Array.isArray(value) ? value : [value];
    const blocks = new Set<ContentBlock>();
    for (const item of items) {
      const block = this.blockOf(item) ?? textBlock(item);
      if (block === undefined) return undefined;
      blocks.add(block);
    }
    return [...blocks];
  }

  private blockOf(value: unknown): ContentBlock | undefined {
    if (typeof value !== "object" || value === null) return undefined;
    const { handle } = value as { handle?: unknown };
    return typeof handle === "string" ? this.blocks.get(handle) : undefined;
  }

  private replace(value: unknown, found: Map<string, ContentBlock>, depth: number): unknown {
    if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return value;
    const block = this.blockOf(value);
    if (block !== undefined) {
      found.set((value as ContentHandle).handle, block);
      const { text: _text, ...description } = describe(block);
      return description;
    }
    if (Array.isArray(value)) return value.map((item) => this.replace(item, found, depth + 1));
    // fromEntries defines keys, so one named "__proto__" stays a key.
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.replace(item, found, depth + 1)]));
  }
}

function describe(block: ContentBlock): Omit<ContentHandle, "handle"> {
  switch (block.type) {
    case "image":
    case "audio":
      return { type: block.type, mimeType: block.mimeType };
    case "resource_link":
      return { type: block.type, uri: block.uri, name: block.name };
    case "resource": {
      const { uri, mimeType } = block.resource;
      const text = "text" in block.resource ? { text: block.resource.text } : {};
      return { type: block.type, uri, ...(mimeType === undefined ? {} : { mimeType }), ...text };
    }
    case "text":
      return { type: block.type, text: block.text };
  }
}

const TEXT_KEYS: ReadonlySet<string> = new Set(["type", "text", "annotations", "_meta"]);

/** A text block of a tool, or one that a script made. */
function textBlock(value: unknown): ContentBlock | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { type, text } = value as { type?: unknown; text?: unknown };
  const isBlock = type === "text" && typeof text === "string" && Object.keys(value).every((key) => TEXT_KEYS.has(key));
  return isBlock ? (value as ContentBlock) : undefined;
}
