import type { Tool } from "../catalog/tool.js";
import { ConfigurationError } from "../errors.js";
import { nearestNames } from "../nearest.js";
import type { Detail } from "../search/serializers/serializer.js";
import { MetaArguments } from "./arguments.js";
import { SEARCH_ARGUMENTS } from "./descriptions.js";
import type { SearchArguments } from "./meta-tool.js";

/** Amounts of detail, least first. */
export const DETAILS: readonly Detail[] = ["brief", "signature", "detailed", "full"];

const SCHEMAS = {
  query: {
    anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }],
    description: SEARCH_ARGUMENTS.query,
  },
  limit: { type: "integer", minimum: 1, description: SEARCH_ARGUMENTS.limit },
  detail: { type: "string", enum: [...DETAILS], description: SEARCH_ARGUMENTS.detail },
  server: { type: "string", description: SEARCH_ARGUMENTS.server },
  tags: { type: "array", items: { type: "string" }, description: SEARCH_ARGUMENTS.tags },
  cursor: { type: "string", description: SEARCH_ARGUMENTS.cursor },
} as const;

type Parameter = keyof typeof SCHEMAS;
const PARAMETERS = Object.keys(SCHEMAS) as Parameter[];

/** Which arguments a search tool takes, and how they are called. */
export class SearchParameters {
  /** Our name -> the one that clients see. */
  readonly #names: ReadonlyMap<Parameter, string>;

  /**
   * @param renamed Our names of arguments -> others. @param without Arguments that it does not take.
   * @throws {ConfigurationError} for an argument that search does not have, and for two of one name.
   */
  constructor(renamed: Readonly<Record<string, string>> = {}, without: readonly Parameter[] = []) {
    for (const name of Object.keys(renamed)) if (!PARAMETERS.includes(name as Parameter)) throw unknownParameter(name);
    const own = new Map(Object.entries(renamed));
    const taken = PARAMETERS.filter((name) => !without.includes(name));
    this.#names = new Map(taken.map((name) => [name, own.get(name) ?? name]));
    const shown = [...this.#names.values()];
    const twice = shown.find((name, index) => shown.indexOf(name) !== index);
    if (twice !== undefined) throw new ConfigurationError(`searchTool: two parameters are named "${twice}".`);
  }

  inputSchema(): Tool["inputSchema"] {
    const properties = Object.fromEntries([...this.#names].map(([name, shown]) => [shown, SCHEMAS[name]]));
    return { type: "object", properties, additionalProperties: false };
  }

  /** @throws {ValidationError} for an argument that is unknown or of the wrong type. */
  read(tool: Tool, args: Record<string, unknown>): SearchArguments {
    const reader = new MetaArguments(tool, args);
    const shown = (name: Parameter): string => this.#names.get(name) ?? "";
    const read = {
      query: reader.strings(shown("query")),
      // Said to be none, not left out: all that matches.
      limit: args[shown("limit")] === null ? null : reader.integer(shown("limit"), 1),
      detail: reader.oneOf(shown("detail"), DETAILS),
      server: reader.string(shown("server")),
      tags: reader.strings(shown("tags")),
      cursor: reader.string(shown("cursor")),
    };
    return Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined));
  }
}

function unknownParameter(name: string): ConfigurationError {
  const [nearest] = nearestNames(name, PARAMETERS, 1);
  const hint = nearest === undefined ? `It has: ${PARAMETERS.join(", ")}.` : `Did you mean ${nearest}?`;
  return new ConfigurationError(`searchTool: search has no parameter "${name}" to rename. ${hint}`);
}
