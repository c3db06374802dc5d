import { keyword, membersOf, schemaObject, type SchemaObject } from "../../catalog/json-schema.js";
import { Unencodable } from "../document/api-document.js";
import type { ParameterLocation, ParameterPlan } from "../request/request-plan.js";
import { isJsonType } from "./media-types.js";
import { textOf } from "./operations.js";

/** A parameter of a tool, with what its schema is made of. */
export interface ApiParameter {
  plan: ParameterPlan;
  schema: unknown;
  description: string | undefined;
  required: boolean;
  deprecated: boolean;
}

const LOCATIONS: readonly unknown[] = ["path", "query", "header", "cookie"];
const STYLES: Readonly<Record<ParameterLocation, readonly string[]>> = {
  path: ["simple", "label", "matrix"],
  query: ["form", "spaceDelimited", "pipeDelimited", "tabDelimited", "deepObject"],
  header: ["simple"],
  cookie: ["form"],
};

/** Headers that the request itself decides, by the specification or because a connection depends on them. */
const REQUEST_HEADERS = new Set(
  `accept content-type authorization host content-length transfer-encoding connection cookie expect keep-alive te trailer
  upgrade proxy-authorization proxy-connection`.split(/\s+/),
);

/** What names a place: header names have no case. */
export const placeOf = (location: unknown, name: string): string =>
  `${String(location)} ${location === "header" ? name.toLowerCase() : name}`;

/**
 * The parameters of an operation that a script may set.
 *
 * @param hidden places that hold credentials or fixed values: never a parameter
 * @throws {Unencodable} for a style that cannot be written, or a place that is not known.
 */
export function readParameters(
  parameters: readonly SchemaObject[],
  template: string,
  hidden: ReadonlySet<string>,
): ApiParameter[] {
  const read: ApiParameter[] = [];
  for (const parameter of parameters) {
    const [name, location] = [keyword(parameter, "name"), keyword(parameter, "in")];
    if (typeof name !== "string" || name === "") throw new Unencodable("a parameter has no name");
    if (!LOCATIONS.includes(location)) {
      throw new Unencodable(`the parameter "${name}" is in ${JSON.stringify(location)}, which cannot be sent`);
    }
    if (hidden.has(placeOf(location, name))) continue;
    if (location === "header" && REQUEST_HEADERS.has(name.toLowerCase())) continue;
    if (location === "header" && !/^[\w!#$%&'*+.^`|~-]+$/.test(name)) {
      throw new Unencodable(`the header parameter "${name}" has a name that no header can have`);
    }
    if (location === "path" && !template.includes(`{${name}}`)) continue;
    read.push(readParameter(parameter, name, location as ParameterLocation));
  }
  return [...read, ...undeclared(template, read)];
}

function readParameter(parameter: SchemaObject, name: string, location: ParameterLocation): ApiParameter {
  const style = textOf(parameter, "style") ?? STYLES[location][0] ?? "";
  if (!STYLES[location].includes(style)) {
    throw new Unencodable(`the ${location} parameter "${name}" has the style "${style}", which cannot be sent`);
  }
  const explode = keyword(parameter, "explode");
  const [content] = membersOf(keyword(parameter, "content"));
  const schema =
    content === undefined ? keyword(parameter, "schema") : keyword(schemaObject(content[1]) ?? {}, "schema");
  const encoding = {
    style,
    explode: typeof explode === "boolean" ? explode : style === "form",
    allowReserved: keyword(parameter, "allowReserved") === true,
  };
  return {
    plan: { argument: name, name, location, encoding, asJson: content !== undefined && isJsonType(content[0]) },
    schema: withExample(schema, parameter),
    description: textOf(parameter, "description"),
    required: location === "path" || keyword(parameter, "required") === true,
    deprecated: keyword(parameter, "deprecated") === true,
  };
}

function withExample(schema: unknown, parameter: SchemaObject): unknown {
  const object = schemaObject(schema ?? {});
  const example = keyword(parameter, "example");
  if (object === undefined || example === undefined || "$ref" in object) return schema;
  return { ...object, example };
}

/** Documents forget to declare parameters that their paths have. */
function undeclared(template: string, read: readonly ApiParameter[]): ApiParameter[] {
  const known = new Set(read.filter(({ plan }) => plan.location === "path").map(({ plan }) => plan.name));
  const names = new Set([...template.matchAll(/\{([^{}/]+)\}/g)].map(([, name]) => name ?? ""));
  return [...names]
    .filter((name) => !known.has(name))
    .map((name) => ({
      plan: {
        argument: name,
        name,
        location: "path",
        encoding: { style: "simple", explode: false, allowReserved: false },
        asJson: false,
      },
      schema: { type: "string" },
      description: undefined,
      required: true,
      deprecated: false,
    }));
}

/**
 * Gives every parameter an argument of its own: one whose name another parameter or the body has too is called
 * `name__location`. Names of the body stay as they are.
 */
export function separateArguments(parameters: readonly ApiParameter[], bodyNames: Iterable<string>): ApiParameter[] {
  const taken = new Set(bodyNames);
  const counts = new Map<string, number>();
  for (const { plan } of parameters) counts.set(plan.name, (counts.get(plan.name) ?? 0) + 1);
  const isAlone = (name: string): boolean => !taken.has(name) && counts.get(name) === 1;
  const alone = new Set(parameters.map(({ plan }) => plan.name).filter(isAlone));
  for (const name of alone) taken.add(name);
  return parameters.map((parameter) => {
    const { plan } = parameter;
    if (alone.has(plan.name)) return parameter;
    const argument = free(`${plan.name}__${plan.location}`, taken);
    const note = `(${plan.location} parameter ${plan.name})`;
    const description = parameter.description === undefined ? note : `${parameter.description} ${note}`;
    return { ...parameter, description, plan: { ...plan, argument } };
  });
}

function free(wanted: string, taken: Set<string>): string {
  let name = wanted;
  for (let number = 2; taken.has(name); number++) name = `${wanted}_${number}`;
  taken.add(name);
  return name;
}
