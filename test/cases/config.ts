import * as library from "mcp-codemode";
import { asJson, asStrings, type Json, Todo } from "./case.js";

/** Options as the library takes them; the runner builds them from data. */
export type Options = Record<string, unknown>;

/** Exports by name: what is not there yet makes a case TODO instead of breaking the runner. */
export const exported = library as unknown as Readonly<Record<string, unknown>>;

/** A factory that the package exports. @throws {Todo} when it does not. */
export function factory(name: string): (...args: unknown[]) => unknown {
  const value = exported[name];
  if (typeof value !== "function") throw new Todo(`the package does not export ${name}`);
  return value as (...args: unknown[]) => unknown;
}

/** Built-ins that a text stands for. */
const BUILT_INS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  searchStrategy: { bm25: "bm25", regex: "regex" },
  searchResultSerializer: {
    markdown: "markdownSerializer",
    json: "jsonSerializer",
    typescript: "typescriptSerializer",
    graded: "gradedSerializer",
  },
  executeResultSerializer: {
    text: "textResult",
    json: "jsonResult",
    outputError: "outputErrorResult",
    process: "processResult",
  },
  sandboxProvider: { quickjs: "quickJsSandbox", "in-process": "inProcessSandbox" },
};

/** Options that are data of the same shape as in a case. */
const AS_THEY_ARE = new Set([
  "enabled",
  "limits",
  "defaultArguments",
  "searchToolName",
  "executeToolName",
  "executeDescription",
  "aliases",
  "directTools",
  "structuredOutput",
  "catalogInDescription",
  "learnedTypes",
  "bareFunctions",
  "requireSchema",
  "directCalls",
  "secret",
  "resultOverflow",
  "workspace",
]);

type StandIn = (value: unknown, config: Json) => Options;

/** Names of the case format that stand for an option of this library. */
const STAND_INS: Readonly<Record<string, StandIn>> = {
  include: (value) => {
    const names = new Set(asStrings(value, "config.include"));
    return { include: (tool: { name: string }) => names.has(tool.name) };
  },
  hideDefaultArguments: (value, config) =>
    value === true ? { argumentsFor: hideAll(asJson(config["defaultArguments"] ?? {}, "defaultArguments")) } : {},
  authorize: (value) => ({ policy: denyAnnotated(String(asJson(value, "config.authorize")["denyAnnotated"])) }),
  session: (value, config) => ({ session: sessionOption(value, config["sessionTtlMs"]) }),
  sessionTtlMs: () => ({}),
  prefix: (value) => ({ searchToolName: `${String(value)}_search`, executeToolName: `${String(value)}_execute` }),
  // What a direct call passes through on the host: the server's, not an option.
  middleware: () => ({}),
};

/**
 * The options of a case's `config`.
 *
 * @throws {Todo} for a key that is neither an option nor a stand-in, or one that needs the gateway.
 */
export function toOptions(config: Json): Options {
  const options: Options = {};
  for (const [key, value] of Object.entries(config)) Object.assign(options, toOption(key, value, config));
  return options;
}

function toOption(key: string, value: unknown, config: Json): Options {
  const builtIns = BUILT_INS[key];
  if (builtIns !== undefined) return { [key]: builtIn(key, value, builtIns) };
  const standIn = STAND_INS[key];
  if (standIn !== undefined) return standIn(value, config);
  if (AS_THEY_ARE.has(key)) return { [key]: value };
  throw new Todo(`config: unknown key ${key}`);
}

function builtIn(key: string, value: unknown, names: Readonly<Record<string, string>>): unknown {
  const name = typeof value === "string" && Object.hasOwn(names, value) ? names[value] : undefined;
  if (name === undefined) throw new Todo(`config.${key}: unknown value ${JSON.stringify(value)}`);
  return factory(name)();
}

function hideAll(defaults: Json): (tool: { inputSchema?: { properties?: object } }) => Options {
  return ({ inputSchema }) => {
    const declared = Object.keys(defaults).filter((name) => Object.hasOwn(inputSchema?.properties ?? {}, name));
    return { defaults: Object.fromEntries(declared.map((name) => [name, defaults[name]])), hidden: declared };
  };
}

function denyAnnotated(hint: string): (call: { annotations?: Json | undefined }) => object {
  return ({ annotations }) =>
    annotations?.[hint] === true
      ? { action: "deny", reason: `tools with ${hint} are not allowed` }
      : { action: "allow" };
}

function sessionOption(value: unknown, ttlMs: unknown): unknown {
  if (value === false || value === undefined) return false;
  if (value !== "variables") throw new Todo(`config.session: unknown value ${JSON.stringify(value)}`);
  return { variables: true, ...(ttlMs === undefined ? {} : { ttlMs }) };
}

/** The names of the two default meta-tools under these options. */
export function metaToolNames(options: Options): { search: string; execute: string } {
  const named = (key: string, fallback: string): string => (typeof options[key] === "string" ? options[key] : fallback);
  return { search: named("searchToolName", "search"), execute: named("executeToolName", "execute") };
}
