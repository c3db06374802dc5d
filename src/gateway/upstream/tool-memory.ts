import type { Tool } from "../../catalog/tool.js";

/**
 * The tools an upstream has listed in this process. A tool that is listed again unchanged is the same object again, so
 * that search keeps what it knows of it; one whose words have changed is told of, since a server that was harmless when
 * somebody looked at it may not stay so.
 */
export class ToolMemory {
  readonly #known = new Map<string, { tool: Tool; text: string }>();

  /** @returns the tools, and the names of those that are described differently now. */
  seen(tools: readonly Tool[]): { tools: readonly Tool[]; changed: readonly string[] } {
    const changed: string[] = [];
    const same = tools.map((tool) => {
      const text = JSON.stringify(tool);
      const known = this.#known.get(tool.name);
      if (known?.text === text) return known.tool;
      if (known !== undefined) changed.push(tool.name);
      this.#known.set(tool.name, { tool, text });
      return tool;
    });
    return { tools: same, changed };
  }
}
