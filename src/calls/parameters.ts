import type { Tool } from "../catalog/tool.js";
import { nearestNames } from "../nearest.js";
import { admittedTypes, isRecord, type JsonType } from "./schema-types.js";

const MAX_LISTED = 40;
const MAX_NAME_CHARACTERS = 64;

/** A parameter of a tool, as its listed schema has it. */
export interface Parameter {
  name: string;
  required: boolean;
  /** "string", "array | null"; "any" where the schema does not say. */
  type: string;
}

/** The parameters of a tool in the order of its schema. */
export function parametersOf(tool: Tool): Parameter[] {
  const { properties, required } = tool.inputSchema;
  if (!isRecord(properties)) return [];
  const names = new Set<unknown>(Array.isArray(required) ? required : []);
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    required: names.has(name),
    type: typeWords(schema, tool.inputSchema),
  }));
}

/** `a* (number), b (string | null)`: what a model needs to call again, required ones marked. */
export function parameterList(tool: Tool): string {
  const parameters = parametersOf(tool);
  if (parameters.length === 0) return "none";
  const shown = parameters
    .slice(0, MAX_LISTED)
    .map(({ name, required, type }) => `${shownName(name)}${required ? "*" : ""} (${type})`);
  const left = parameters.length - shown.length;
  return left > 0 ? `${shown.join(", ")} and ${left} more` : shown.join(", ");
}

/** "unknown parameter "nmae"; did you mean "name"?" for each given name that the schema does not list. */
export function unknownParameters(tool: Tool, given: readonly string[]): string[] {
  const known = parametersOf(tool).map(({ name }) => name);
  if (known.length === 0) return [];
  return given
    .filter((name) => !known.includes(name))
    .slice(0, MAX_LISTED)
    .map((name) => {
      const [nearest] = nearestNames(name, known, 1);
      const hint = nearest === undefined ? "" : `; did you mean "${shownName(nearest)}"?`;
      return `unknown parameter "${shownName(name)}"${hint}`;
    });
}

/** A call that names every required parameter with a value of its type: something to paste and fill in. */
export function sampleArguments(tool: Tool): Record<string, unknown> {
  const sample: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  const properties = isRecord(tool.inputSchema["properties"]) ? tool.inputSchema["properties"] : {};
  for (const { name, required } of parametersOf(tool).slice(0, MAX_LISTED)) {
    if (required) sample[name] = sampleValue(properties[name], tool.inputSchema);
  }
  return sample;
}

const SAMPLES: Readonly<Record<JsonType, unknown>> = {
  string: "...",
  number: 1,
  boolean: true,
  object: {},
  array: [],
  null: null,
};

function sampleValue(schema: unknown, root: unknown): unknown {
  if (isRecord(schema)) {
    if ("default" in schema) return schema["default"];
    if (Array.isArray(schema["enum"]) && schema["enum"].length > 0) return schema["enum"][0] as unknown;
  }
  const [type] = admittedTypes(schema, root) ?? [];
  return SAMPLES[type ?? "string"];
}

function typeWords(schema: unknown, root: unknown): string {
  const types = admittedTypes(schema, root);
  return types === undefined || types.size === 0 || types.size > 4 ? "any" : [...types].join(" | ");
}

/** Names come from tool authors and scripts: one line, no control characters, not endless. */
export function shownName(name: string): string {
  // oxlint-disable-next-line no-control-regex
  const line = name.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, " ");
  return line.length > MAX_NAME_CHARACTERS ? `${line.slice(0, MAX_NAME_CHARACTERS)}...` : line;
}
