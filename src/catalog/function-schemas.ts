import { ConfigurationError } from "../errors.js";

/** A JSON Schema of an object, as tools list it. */
export interface ObjectSchema {
  type: "object";
  [key: string]: unknown;
}

/** What a schema says about a value: the value as the schema makes it (defaults, transforms), or why it does not fit. */
export type Parsed = { value: unknown } | { faults: readonly string[] };

/** A schema in the form its author wrote it. */
export interface FunctionSchema {
  /** As JSON Schema. Rejects when it has a part that JSON Schema cannot express. */
  toJson(): Promise<{ [key: string]: unknown }>;
  /** The schema's own check. Absent for JSON Schema, which has none. */
  readonly parse?: (value: unknown) => Promise<Parsed>;
}

/** The side of a schema that counts: what goes in, before defaults and transforms, or what comes out. */
export type Side = "input" | "output";

/**
 * Reads a schema of zod 3, zod 4, any library of Standard Schema that can give JSON Schema, or JSON Schema itself. They
 * are told apart by their structure: zod is not imported, so that any copy and version of it works.
 *
 * @param where Names the schema in errors, as in `tools.add.input`.
 * @throws {ConfigurationError} for anything else; the message says what to pass instead.
 */
export function readSchema(given: unknown, side: Side, where: string): FunctionSchema {
  if (isZod3(given)) return { toJson: () => zod3ToJson(given, side), parse: (value) => parseZod3(given, value) };
  if (isStandard(given)) {
    const standard = given["~standard"];
    if (typeof standard.jsonSchema?.[side] !== "function")
      throw new ConfigurationError(`${where} ${cannotConvert(given)}`);
    return {
      toJson: async () => standardToJson(given, side),
      parse: async (value) => parsed(await standard.validate(value)),
    };
  }
  if (!isPlainObject(given)) {
    throw new ConfigurationError(`${where} must be a schema of zod or JSON Schema, got ${kindOf(given)}.`);
  }
  if (Object.values(given).some((value) => isZod3(value) || isStandard(value))) {
    throw new ConfigurationError(`${where} is a plain object of schemas: wrap it, as in z.object({ ... }).`);
  }
  return { toJson: async () => given };
}

interface Zod3 {
  readonly _def: { readonly typeName: string };
  safeParseAsync(
    value: unknown,
  ): Promise<{ success: true; data: unknown } | { success: false; error: { issues: readonly Issue[] } }>;
}

/** https://standardschema.dev, with its part for JSON Schema. */
interface Standard {
  readonly "~standard": {
    readonly vendor?: unknown;
    validate(value: unknown): Outcome | Promise<Outcome>;
    readonly jsonSchema?: { readonly [S in Side]?: (options: object) => { [key: string]: unknown } } | undefined;
  };
}

type Outcome =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly value?: unknown; readonly issues: readonly Issue[] };

interface Issue {
  readonly message: string;
  readonly path?: readonly unknown[] | undefined;
}

function isZod3(value: unknown): value is Zod3 {
  if (typeof value !== "object" || value === null || "_zod" in value) return false;
  const { _def, safeParseAsync } = value as { _def?: { typeName?: unknown }; safeParseAsync?: unknown };
  return typeof _def?.typeName === "string" && typeof safeParseAsync === "function";
}

/** Some libraries make schemas that are functions. */
function isStandard(value: unknown): value is Standard {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  const standard = (value as Partial<Standard>)["~standard"];
  return typeof standard === "object" && typeof standard?.validate === "function";
}

function cannotConvert(schema: Standard): string {
  return "_zod" in schema
    ? "is a schema of zod 4.0 or 4.1, which give no JSON Schema by themselves: update zod to 4.2, or pass z.toJSONSchema(schema)."
    : `is a schema of ${String(schema["~standard"].vendor)} that gives no JSON Schema: pass its JSON Schema instead.`;
}

function standardToJson(schema: Standard, side: Side): { [key: string]: unknown } {
  const convert = schema["~standard"].jsonSchema?.[side];
  // Dates and the like become {}: the schema's own check still refuses what does not fit.
  return convert?.({ target: "draft-2020-12", libraryOptions: { unrepresentable: "any" } }) ?? {};
}

/** Loaded for zod 3 alone: zod 4 needs nothing. */
async function zod3ToJson(schema: Zod3, side: Side): Promise<{ [key: string]: unknown }> {
  const { zodToJsonSchema } = await import("zod-to-json-schema");
  // What a transform gives, nobody knows.
  const effectStrategy = side === "input" ? "input" : "any";
  return zodToJsonSchema(schema as never, { pipeStrategy: side, effectStrategy }) as { [key: string]: unknown };
}

async function parseZod3(schema: Zod3, value: unknown): Promise<Parsed> {
  const outcome = await schema.safeParseAsync(value);
  return outcome.success ? { value: outcome.data } : parsed({ issues: outcome.error.issues });
}

const MAX_FAULTS = 10;

function parsed({ value, issues }: Outcome): Parsed {
  if (issues === undefined) return { value };
  const faults = issues.slice(0, MAX_FAULTS).map(faultOf);
  const left = issues.length - faults.length;
  return { faults: left > 0 ? [...faults, `and ${left} more`] : faults };
}

function faultOf({ path = [], message }: Issue): string {
  const where = path.map(keyOf).reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`;
    return text === "" ? String(key) : `${text}.${String(key)}`;
  }, "");
  return where === "" ? message : `${where}: ${message}`;
}

/** A step of a path is a key, or an object that holds one. */
const keyOf = (step: unknown): unknown =>
  typeof step === "object" && step !== null && "key" in step ? (step as { key: unknown }).key : step;

function isPlainObject(value: unknown): value is { [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const kindOf = (value: unknown): string => (value === null ? "null" : Array.isArray(value) ? "an array" : typeof value);
