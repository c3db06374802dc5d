import { acceptsProperty } from "../catalog/json-schema.js";
import type { Tool } from "../catalog/tool.js";
import { invalidArguments } from "./call-errors.js";
import { ValidationError } from "../errors.js";
import { isPlainJson, toPlainJson } from "../sandbox/values/plain.js";
import { failed, type CallErrorDetails } from "./call-errors.js";
import { parameterList } from "./parameters.js";
import { admittedTypes, isRecord, jsonTypeOf, type JsonType } from "./schema-types.js";

/** What the host adds to the arguments of one tool. */
export interface ArgumentRules {
  /** Values for parameters that the script did not give. */
  defaults?: Record<string, unknown>;
  /** Parameters that no schema shows: the host's value wins over the script's, and without one the parameter is left out. */
  hidden?: readonly string[];
}

/** Rules by tool; undefined: none for this one. */
export type ArgumentsFor = (tool: Tool) => ArgumentRules | undefined;

/** Options that {@link ArgumentPlans} is made from. */
export interface ArgumentOptions {
  /** For every tool that accepts the parameter. */
  defaultArguments?: Readonly<Record<string, unknown>> | undefined;
  argumentsFor?: ArgumentsFor | undefined;
}

/** What happens to the arguments of one tool on their way. */
export interface ArgumentPlan {
  /** Parameters that no schema shows. */
  readonly hidden: ReadonlySet<string>;
  readonly defaults: ReadonlyMap<string, unknown>;
  /** Parameters that are an object or an array and never a string: text given for them is parsed. */
  readonly parsed: ReadonlyMap<string, ReadonlySet<JsonType>>;
}

/** The plans of all tools, each made once per listed tool. */
export class ArgumentPlans {
  private readonly plans = new WeakMap<Tool, ArgumentPlan>();

  constructor(private readonly options: ArgumentOptions) {}

  /** @param tool As its source lists it, hidden parameters included. */
  for(tool: Tool): ArgumentPlan {
    const known = this.plans.get(tool);
    if (known !== undefined) return known;
    const rules = this.options.argumentsFor?.(tool) ?? {};
    const plan: ArgumentPlan = {
      hidden: new Set(rules.hidden),
      defaults: defaultsOf(tool, this.options.defaultArguments, rules.defaults),
      parsed: parsedParameters(tool),
    };
    this.plans.set(tool, plan);
    return plan;
  }
}

function defaultsOf(
  tool: Tool,
  general: Readonly<Record<string, unknown>> = {},
  own: Readonly<Record<string, unknown>> = {},
): Map<string, unknown> {
  const accepted = Object.entries(general).filter(([name]) => accepts(tool.inputSchema, name));
  return new Map([...accepted, ...Object.entries(own)]);
}

/** A schema that says no more than "an object" takes anything. */
function accepts(schema: Tool["inputSchema"], name: string): boolean {
  const saysNothing = Object.keys(schema).every((key) => key === "type" || key === "$schema" || key === "description");
  return saysNothing || acceptsProperty(schema, name);
}

function parsedParameters(tool: Tool): Map<string, ReadonlySet<JsonType>> {
  const { properties } = tool.inputSchema;
  const parsed = new Map<string, ReadonlySet<JsonType>>();
  for (const [name, schema] of Object.entries(isRecord(properties) ? properties : {})) {
    const types = admittedTypes(schema, tool.inputSchema);
    if (types && !types.has("string") && (types.has("object") || types.has("array"))) parsed.set(name, types);
  }
  return parsed;
}

/**
 * What a script gave, as one plain object. Nothing and null are an empty one.
 *
 * @param rest Further positional arguments: refused, rather than dropped without a word.
 * @throws {ValidationError} when it is no object.
 */
export function shapeArguments(tool: Tool, given: unknown, rest: readonly unknown[]): Record<string, unknown> {
  if (rest.some((extra) => extra !== undefined)) throw notOneObject(tool, `got ${rest.length + 1} arguments`);
  if (given === undefined || given === null) return {};
  if (typeof given !== "object" || Array.isArray(given)) throw notOneObject(tool, `got ${kindOf(given)}`);
  // A spread defines keys as they are: an own "__proto__" stays a key and sets no prototype.
  if (isPlainJson(given)) return { ...given };
  const plain = asPlain(tool, given);
  if (!isRecord(plain)) throw notOneObject(tool, `got ${kindOf(plain)}`);
  return plain;
}

function asPlain(tool: Tool, given: object): unknown {
  if (containsItself(given)) {
    throw new ValidationError(
      failed(tool.name, "the arguments contain themselves (a cycle), which JSON cannot hold."),
      {
        details: { tool: tool.name },
      },
    );
  }
  try {
    return toPlainJson(given);
  } catch {
    throw new ValidationError(failed(tool.name, "the arguments are too deep or too many to send as JSON."), {
      details: { tool: tool.name },
    });
  }
}

function containsItself(value: object): boolean {
  try {
    JSON.stringify(value, (_key, item: unknown) => (typeof item === "bigint" ? null : item));
    return false;
  } catch (error) {
    return error instanceof TypeError;
  }
}

/** Sets the hidden parameters alone, whatever was given for them. */
export function setHidden(args: Record<string, unknown>, plan: ArgumentPlan): void {
  for (const name of plan.hidden) {
    delete args[name];
    if (plan.defaults.has(name)) setOwn(args, name, copyOf(plan.defaults.get(name)));
  }
}

/** Adds the host's values: defaults where the script gave none (null, 0, false and "" are values), hidden ones always. */
export function addDefaults(args: Record<string, unknown>, plan: ArgumentPlan): void {
  setHidden(args, plan);
  for (const [name, value] of plan.defaults) {
    if (!Object.hasOwn(args, name)) setOwn(args, name, copyOf(value));
  }
}

/**
 * Parses JSON text given for an object or array parameter, in place. A parameter that may be a string is never touched.
 *
 * @throws {ValidationError} when such a text is no JSON of the right kind and the parameter takes nothing else.
 */
export function coerceArguments(tool: Tool, args: Record<string, unknown>, plan: ArgumentPlan): void {
  const faults: string[] = [];
  for (const [name, types] of plan.parsed) {
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    if (typeof value !== "string") continue;
    const parsed = parseContainer(value);
    if (parsed !== undefined && types.has(jsonTypeOf(parsed))) setOwn(args, name, parsed);
    else if (!types.has("number") && !types.has("boolean")) faults.push(expectedFault(name, types));
  }
  if (faults.length > 0) throw invalidArguments(tool, faults);
}

function expectedFault(name: string, types: ReadonlySet<JsonType>): string {
  return `${name}: expected ${[...types].filter((type) => type !== "null").join(" or ")}, got string`;
}

function parseContainer(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as object;
  } catch {
    return undefined;
  }
}

function setOwn(target: object, name: string, value: unknown): void {
  // Assigning to "__proto__" would set the prototype.
  Object.defineProperty(target, name, { value, writable: true, enumerable: true, configurable: true });
}

/** Handlers may change what they get: what the user configured stays as it is. */
const copyOf = (value: unknown): unknown =>
  typeof value === "object" && value !== null ? structuredClone(value) : value;

const kindOf = (value: unknown): string => (Array.isArray(value) ? "an array" : `a ${typeof value}`);

function notOneObject(tool: Tool, got: string): ValidationError {
  const details: CallErrorDetails = { tool: tool.name };
  return new ValidationError(
    `${failed(tool.name, `${got}; pass one object, as in call_tool(name, { parameter: value }).`)} Parameters (* = required): ${parameterList(tool)}.`,
    { details },
  );
}
