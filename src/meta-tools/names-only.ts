import type { CallToolResult, Tool } from "../catalog/tool.js";
import type { FoundTools } from "./find-tools.js";
import { textReply } from "./search-page.js";

/** Room kept for the cursor. */
const MARGIN_BYTES = 256;

const names = new WeakMap<Tool, Tool>();

/** The tool with nothing but its name, and the marks that filters read: so that only names are searched. */
export function nameOnly(tool: Tool): Tool {
  let only = names.get(tool);
  if (only === undefined) {
    only = {
      name: tool.name,
      inputSchema: { type: "object" },
      ...(tool._meta === undefined ? {} : { _meta: tool._meta }),
    };
    names.set(tool, only);
  }
  return only;
}

/**
 * `{ tool_names, next_cursor }` and nothing else.
 *
 * @param cursorAfter The cursor of what follows this many tools of the page.
 */
export async function namesReply(
  { tools, more }: FoundTools,
  maxBytes: number,
  cursorAfter: (count: number) => Promise<string>,
): Promise<CallToolResult> {
  let shown = tools.map(({ name }) => name);
  while (shown.length > 1 && Buffer.byteLength(JSON.stringify(shown)) > maxBytes - MARGIN_BYTES) {
    shown = shown.slice(0, Math.floor(shown.length / 2));
  }
  const isLast = !more && shown.length === tools.length;
  const page = { tool_names: shown, next_cursor: isLast ? null : await cursorAfter(shown.length) };
  return { ...textReply([JSON.stringify(page)]), structuredContent: page };
}
