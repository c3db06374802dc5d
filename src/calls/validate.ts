import type { Ajv, ErrorObject, Options, ValidateFunction } from "ajv";
import type { Tool } from "../catalog/tool.js";
import { nearestNames } from "../nearest.js";
import { shownName } from "./parameters.js";
import { jsonTypeOf } from "./schema-types.js";

/** Checks arguments: the faults in words, or undefined when there are none. */
export type ArgumentCheck = (args: unknown) => string[] | undefined;

/**
 * Schemas kept compiled, by their text: each takes some 10 KB. Sources list new objects every time, so the object alone
 * would miss.
 */
const MAX_CACHED = 500;
const MAX_SCHEMA_CHARACTERS = 256 * 1024;

/** Above this only the first fault is looked for: all of a long list's would cost more than the list. */
const ALL_FAULTS_BELOW_CHARACTERS = 64 * 1024;
const MAX_FAULTS = 10;

const bySchema = new WeakMap<object, ArgumentCheck>();
const byText = new Map<string, ArgumentCheck>();

/**
 * The check for a tool's listed inputSchema. A schema that cannot be compiled (a foreign `$ref`, an unknown dialect)
 * admits everything: the source has the last word anyway.
 */
export function argumentCheck(tool: Tool): ArgumentCheck | Promise<ArgumentCheck> {
  return bySchema.get(tool.inputSchema) ?? prepareCheck(tool.inputSchema);
}

async function prepareCheck(schema: Tool["inputSchema"]): Promise<ArgumentCheck> {
  const text = JSON.stringify(schema);
  let check = byText.get(text);
  if (check === undefined) {
    check = text.length > MAX_SCHEMA_CHARACTERS ? admitAll : makeCheck(schema, await loadCompilers());
    if (byText.size >= MAX_CACHED) byText.delete(byText.keys().next().value ?? "");
    byText.set(text, check);
  }
  bySchema.set(schema, check);
  return check;
}

const admitAll: ArgumentCheck = () => undefined;

interface Compilers {
  draft7: { first: Ajv; all: Ajv };
  draft2020: { first: Ajv; all: Ajv };
}

let compilers: Promise<Compilers> | undefined;

/** ajv takes 30 ms to load, and most hosts validate themselves. */
function loadCompilers(): Promise<Compilers> {
  compilers ??= (async () => {
    const [draft7, draft2020] = await Promise.all([import("ajv"), import("ajv/dist/2020.js")]);
    const { linearRegExp } = await import("./linear-reg-exp.js");
    const options: Options = { ...OPTIONS, code: { regExp: linearRegExp } };
    const pair = (Class: new (options: Options) => Ajv) => ({
      first: new Class(options).removeKeyword("uniqueItems"),
      all: new Class({ ...options, allErrors: true, verbose: true }).removeKeyword("uniqueItems"),
    });
    return { draft7: pair(draft7.Ajv), draft2020: pair(draft2020.Ajv2020) };
  })();
  return compilers;
}

/**
 * Schemas may come from anywhere, arguments come from scripts. So: no remote references, no `uniqueItems` (quadratic on
 * objects), patterns in linear time, and nothing is changed in the data.
 */
const OPTIONS: Options = {
  strict: false,
  validateFormats: false,
  validateSchema: false,
  addUsedSchema: false,
  ownProperties: true,
  logger: false,
};

function makeCheck(schema: Tool["inputSchema"], { draft7, draft2020 }: Compilers): ArgumentCheck {
  if ("$async" in schema) return admitAll;
  const dialect = schema["$schema"];
  const isOld = typeof dialect === "string" && /draft-0[3-7]/.test(dialect);
  const order = isOld ? [draft7, draft2020] : [draft2020, draft7];
  for (const { first, all } of order) {
    const quick = compile(first, schema);
    if (quick !== undefined) return checkOf(quick, () => compile(all, schema) ?? quick);
  }
  return admitAll;
}

function compile(compiler: Ajv, schema: object): ValidateFunction | undefined {
  try {
    // A copy: ajv keeps compiled schemas by identity and by $id, and two tools may use one $id.
    const own = structuredClone(schema);
    const validate = compiler.compile(own);
    compiler.removeSchema(own);
    return validate;
  } catch {
    compiler.removeSchema();
    return undefined;
  }
}

function checkOf(quick: ValidateFunction, makeThorough: () => ValidateFunction): ArgumentCheck {
  let thorough: ValidateFunction | undefined;
  return (args) => {
    try {
      if (quick(args)) return undefined;
      const small = JSON.stringify(args).length < ALL_FAULTS_BELOW_CHARACTERS;
      if (!small) return faultsOf(quick);
      thorough ??= makeThorough();
      return thorough(args) ? undefined : faultsOf(thorough);
    } catch {
      // Nested too deeply to walk: the source decides.
      return undefined;
    }
  };
}

function faultsOf({ errors }: ValidateFunction): string[] {
  // A union reports every branch, and then itself: the branches say more.
  const leaves = (errors ?? []).filter(({ keyword }) => keyword !== "anyOf" && keyword !== "oneOf" && keyword !== "if");
  const faults = [...new Set((leaves.length > 0 ? leaves : (errors ?? [])).map(faultOf))];
  const left = faults.length - MAX_FAULTS;
  return left > 0 ? [...faults.slice(0, MAX_FAULTS), `and ${left} more`] : faults;
}

function faultOf(error: ErrorObject): string {
  const path = pathOf(error.instancePath);
  const params = error.params as Record<string, unknown>;
  switch (error.keyword) {
    case "required":
      return `${inside(path, String(params["missingProperty"]))} is missing (required)`;
    case "type":
      return `${path || "arguments"}: expected ${String(params["type"]).replaceAll(",", " or ")}${gotType(error)}`;
    case "enum":
      return `${path}: expected one of ${shownValues(params["allowedValues"])}`;
    case "const":
      return `${path}: expected ${shownValues([params["allowedValue"]])}`;
    case "additionalProperties":
    case "unevaluatedProperties":
      return unknownProperty(path, error);
    default:
      return `${path || "arguments"}: ${error.message ?? error.keyword}`;
  }
}

function unknownProperty(path: string, error: ErrorObject): string {
  const { additionalProperty, unevaluatedProperty } = error.params as Record<string, string | undefined>;
  const name = additionalProperty ?? unevaluatedProperty ?? "";
  const known = Object.keys((error.parentSchema?.["properties"] as object | undefined) ?? {});
  const [nearest] = nearestNames(name, known, 1);
  const hint = nearest === undefined ? "" : `; did you mean "${shownName(nearest)}"?`;
  return `unknown parameter "${inside(path, name)}"${hint}`;
}

/** "/items/0/name" -> "items[0].name". */
function pathOf(pointer: string): string {
  const parts = pointer.split("/").slice(1, 12);
  return parts.reduce((path, part) => {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    return /^\d+$/.test(name) ? `${path}[${name}]` : inside(path, name);
  }, "");
}

const inside = (path: string, name: string): string => (path ? `${path}.${shownName(name)}` : shownName(name));

/** The kind only, never the value: it may be a secret that the host put there. */
const gotType = (error: ErrorObject): string => (error.data === undefined ? "" : `, got ${jsonTypeOf(error.data)}`);

function shownValues(values: unknown): string {
  const list = Array.isArray(values) ? values : [];
  const shown = list.slice(0, 12).map((value) => shownName(JSON.stringify(value) ?? ""));
  return list.length > shown.length ? `${shown.join(", ")} and ${list.length - shown.length} more` : shown.join(", ");
}
