import { keyword, schemaObject } from "./json-schema.js";
import type { Tool } from "./tool.js";
import { ObservedShape, type LearnedSchema } from "./observed-shape.js";

/** Key in `_meta` under which a tool carries what was learned, where it is printed. */
const LEARNED = "mcp-codemode/learned";

/** Results of one tool that are looked at; later ones would change little and cost time. */
const MAX_RESULTS = 100;
/** Longer texts are not parsed only to learn from them. */
const MAX_TEXT_CHARACTERS = 256 * 1024;
/** Tools remembered for one caller, and callers: what was learned first is forgotten first. */
const MAX_TOOLS = 500;
const MAX_CALLERS = 200;

/** What is known of the results of a tool that declares none. */
export interface LearnedResult {
  /** A JSON Schema of what `tools.<name>()` gave, for reading, never to validate by. */
  schema: LearnedSchema;
  /** Results it was learned from. */
  times: number;
}

interface Learned {
  shape: ObservedShape;
  times: number;
}

/**
 * Remembers the types of real results, for tools without an outputSchema. Only types and the keys of objects that look
 * like fields are kept, never values; each caller has a memory of its own unless it is `shared`.
 */
export class LearnedTypes {
  readonly #callers = new Map<string, Map<string, Learned>>();
  readonly #shared: boolean;

  constructor({ shared = false }: { shared?: boolean } = {}) {
    this.#shared = shared;
  }

  /** Learns from a successful result: structured content, or text (JSON in it is read as scripts read it). */
  observe(tool: Tool, callerId: string | undefined, value: unknown): void {
    if (tool.outputSchema !== undefined) return;
    const tools = this.#toolsOf(callerId);
    const learned = tools.get(tool.name) ?? { shape: new ObservedShape(), times: 0 };
    if (learned.times >= MAX_RESULTS) return;
    learned.times++;
    learned.shape.observe(asScriptsReadIt(value));
    tools.set(tool.name, learned);
    forgetOldest(tools, MAX_TOOLS);
  }

  /** What was learned for this caller; undefined before the first result, and for a tool that declares its own. */
  of(tool: Tool, callerId: string | undefined): LearnedResult | undefined {
    if (tool.outputSchema !== undefined) return undefined;
    const learned = this.#callers.get(this.#keyOf(callerId))?.get(tool.name);
    return learned === undefined ? undefined : { schema: learned.shape.schema(learned.times), times: learned.times };
  }

  /** The tool with what was learned on it, for printing; the same object when nothing was. */
  decorate(tool: Tool, callerId: string | undefined): Tool {
    const learned = this.of(tool, callerId);
    return learned === undefined ? tool : { ...tool, _meta: { ...tool._meta, [LEARNED]: learned } };
  }

  #keyOf(callerId: string | undefined): string {
    return this.#shared ? "" : (callerId ?? "");
  }

  #toolsOf(callerId: string | undefined): Map<string, Learned> {
    const key = this.#keyOf(callerId);
    const known = this.#callers.get(key);
    if (known !== undefined) return known;
    const tools = new Map<string, Learned>();
    this.#callers.set(key, tools);
    forgetOldest(this.#callers, MAX_CALLERS);
    return tools;
  }
}

/** What {@link LearnedTypes.decorate} put on a tool. */
export function learnedResult(tool: Tool): LearnedResult | undefined {
  const meta = schemaObject(keyword(tool, "_meta"));
  const learned = meta === undefined ? undefined : schemaObject(keyword(meta, LEARNED));
  if (learned === undefined || keyword(tool, "outputSchema") !== undefined) return undefined;
  const [schema, times] = [schemaObject(keyword(learned, "schema")), keyword(learned, "times")];
  return schema !== undefined && typeof times === "number" && Number.isInteger(times) ? { schema, times } : undefined;
}

/** How the mark of a learned type reads. */
export function observedMark({ times }: Pick<LearnedResult, "times">): string {
  return `observed ${times} ${times === 1 ? "time" : "times"}`;
}

function asScriptsReadIt(value: unknown): unknown {
  if (typeof value !== "string" || value.length > MAX_TEXT_CHARACTERS || !/^\s*[{[]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

function forgetOldest(map: Map<string, unknown>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return;
    map.delete(key);
  }
}
