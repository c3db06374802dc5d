import { EventEmitter } from "node:events";
import { asJson, asText, type Json, knownKeys, Todo } from "./case.js";
import { checkHandler } from "./handlers.js";

/** A fixture tool: its definition as the case gives it, and what may change while the server runs. */
export interface FixtureTool {
  name: string;
  /** Everything of the case's tool but its handler: `inputSchema: null` and the like are kept. */
  definition: Json;
  /** A Zod schema in place of `inputSchema`. */
  zod: unknown;
  on: Json;
  requires: string | undefined;
  enabled: boolean;
  /** Callers for whom a disabled tool is enabled. */
  enabledFor: Set<string>;
}

const TOOL_KEYS = [
  "name",
  "title",
  "description",
  "inputSchema",
  "outputSchema",
  "annotations",
  "enabled",
  "requires",
  "on",
  "zod",
];

/** The tools of one world and what they saw: shared by all servers of it, as one process shares its handlers. */
export class Fixture extends EventEmitter<{ change: [] }> {
  readonly tools = new Map<string, FixtureTool>();
  /** Handler runs by tool. */
  readonly calls = new Map<string, number>();
  inFlight = 0;
  maxInFlight = 0;
  /** Signals that a waiting handler saw fire. */
  abortedSignals = 0;
  /** Handlers that wait for ever. */
  waiting = 0;
  middlewareCalls = 0;

  constructor(tools: readonly unknown[]) {
    super();
    for (const tool of tools) this.add(tool, false);
  }

  add(spec: unknown, tell = true): FixtureTool {
    const tool = readTool(spec);
    this.tools.set(tool.name, tool);
    if (tell) this.emit("change");
    return tool;
  }

  /** The tool of this name. @throws {Todo} when the case names one it does not have. */
  get(name: unknown): FixtureTool {
    const tool = this.tools.get(String(name));
    if (tool === undefined) throw new Todo(`no fixture tool ${String(name)}`);
    return tool;
  }

  update(name: unknown, changes: Json): void {
    const tool = this.get(name);
    this.tools.set(
      tool.name,
      readTool({ ...tool.definition, on: tool.on, zod: tool.zod, ...changes, name: tool.name }),
    );
    this.emit("change");
  }

  remove(name: unknown): void {
    this.tools.delete(this.get(name).name);
    this.emit("change");
  }

  /** For everybody, or for one caller. */
  enable(name: unknown, caller?: string): void {
    const tool = this.get(name);
    if (caller === undefined) tool.enabled = true;
    else tool.enabledFor.add(caller);
    this.emit("change");
  }

  count(name: string): number {
    const count = (this.calls.get(name) ?? 0) + 1;
    this.calls.set(name, count);
    return count;
  }

  /** Whether a caller, known by session or client id, sees the tool now. */
  visible(tool: FixtureTool, callers: readonly (string | undefined)[]): boolean {
    if (tool.requires !== undefined && !callers.includes(tool.requires)) return false;
    return tool.enabled || callers.some((caller) => caller !== undefined && tool.enabledFor.has(caller));
  }
}

function readTool(spec: unknown): FixtureTool {
  const json = asJson(spec, "tool");
  knownKeys(json, TOOL_KEYS, `tool ${String(json["name"])}`);
  if (typeof json["name"] !== "string") throw new Todo("a tool without a name needs an upstream");
  const { on, enabled, requires, zod, ...definition } = json;
  const handler = asJson(on ?? { returns: { content: [] } }, "on");
  checkHandler(handler);
  return {
    name: json["name"],
    definition,
    zod,
    on: handler,
    requires: requires === undefined ? undefined : asText(requires, "requires"),
    enabled: enabled !== false,
    enabledFor: new Set(),
  };
}
