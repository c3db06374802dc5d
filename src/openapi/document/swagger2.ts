import { keyword, listOf, membersOf, schemaObject, stringsOf, type SchemaObject } from "../../catalog/json-schema.js";
import { ApiDocument, Unencodable } from "./api-document.js";

const METHODS = ["get", "put", "post", "delete", "options", "head", "patch"];

/** How Swagger 2 says "style" and "explode". */
const COLLECTION_FORMATS: ReadonlyMap<unknown, { style?: string; explode: boolean }> = new Map([
  ["csv", { explode: false }],
  ["ssv", { style: "spaceDelimited", explode: false }],
  ["tsv", { style: "tabDelimited", explode: false }],
  ["pipes", { style: "pipeDelimited", explode: false }],
  ["multi", { style: "form", explode: true }],
]);

/** Keywords of a Swagger 2 parameter that are those of its schema. */
const SCHEMA_KEYWORDS = new Set(
  `type format items default maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern maxItems
  minItems uniqueItems enum multipleOf x-nullable`.split(/\s+/),
);

/**
 * A Swagger 2 document in the form of OpenAPI 3. Schemas stay where they are (`#/definitions/...`), as the same objects;
 * parameters and responses are resolved, since bodies and forms are parameters there.
 */
export function upgradeSwagger2(root: SchemaObject): SchemaObject {
  const upgrade = new Upgrade(root);
  const paths = membersOf(keyword(root, "paths")).map(([path, item]) => [path, upgrade.pathItem(item)] as const);
  return {
    ...root,
    openapi: "3.0.3",
    servers: serversOf(root),
    paths: Object.fromEntries(paths),
    components: { securitySchemes: keyword(root, "securityDefinitions") },
  };
}

/** Without a host the document is relative to its own address, as in OpenAPI 3. */
function serversOf(root: SchemaObject): object[] {
  const [host, basePath] = [keyword(root, "host"), keyword(root, "basePath")];
  const path = typeof basePath === "string" ? basePath : "";
  if (typeof host !== "string") return path === "" ? [] : [{ url: path }];
  const schemes = stringsOf(keyword(root, "schemes")).filter((scheme) => /^https?$/.test(scheme));
  const scheme = schemes.includes("https") || schemes.length === 0 ? "https" : schemes[0];
  return [{ url: `${scheme}://${host}${path}` }];
}

class Upgrade {
  readonly #document: ApiDocument;
  readonly #root: SchemaObject;

  constructor(root: SchemaObject) {
    this.#root = root;
    this.#document = new ApiDocument(root, undefined);
  }

  /** An item that cannot be resolved is left as it is: reading its operations says why. */
  pathItem(value: unknown): unknown {
    try {
      const item = this.#document.resolved(value);
      if (item === undefined) return value;
      const shared = listOf(keyword(item, "parameters"));
      const upgraded = membersOf(item).map(([key, member]) => [
        key,
        METHODS.includes(key) ? this.#operation(member, shared) : member,
      ]);
      return { ...Object.fromEntries(upgraded), parameters: undefined };
    } catch (error) {
      if (error instanceof Unencodable) return value;
      throw error;
    }
  }

  #operation(value: unknown, shared: readonly unknown[]): unknown {
    const operation = schemaObject(value);
    if (operation === undefined) return value;
    const own = listOf(keyword(operation, "parameters"));
    const parameters = this.#distinct([...shared, ...own]);
    const where = (parameter: SchemaObject): unknown => keyword(parameter, "in");
    const body = parameters.find((parameter) => where(parameter) === "body");
    const form = parameters.filter((parameter) => where(parameter) === "formData");
    const others = parameters.filter((parameter) => where(parameter) !== "body" && where(parameter) !== "formData");
    const responses = membersOf(keyword(operation, "responses"));
    return {
      ...operation,
      parameters: others.map(upgradedParameter),
      requestBody: body !== undefined ? this.#body(operation, body) : this.#form(operation, form),
      responses: Object.fromEntries(responses.map(([status, one]) => [status, this.#response(operation, one)])),
    };
  }

  /** Later ones replace earlier ones of the same place and name. */
  #distinct(parameters: readonly unknown[]): SchemaObject[] {
    const byPlace = new Map<string, SchemaObject>();
    for (const value of parameters) {
      const parameter = this.#document.resolved(value);
      if (parameter === undefined) continue;
      byPlace.set(JSON.stringify([keyword(parameter, "in"), keyword(parameter, "name")]), parameter);
    }
    return [...byPlace.values()];
  }

  #mediaTypes(operation: SchemaObject, name: "consumes" | "produces"): string[] {
    const own = keyword(operation, name);
    return stringsOf(own === undefined ? keyword(this.#root, name) : own);
  }

  #body(operation: SchemaObject, parameter: SchemaObject): object {
    const types = this.#mediaTypes(operation, "consumes");
    const content = { schema: keyword(parameter, "schema") };
    const used = types.length === 0 ? ["application/json"] : types;
    return {
      description: keyword(parameter, "description"),
      required: keyword(parameter, "required") === true,
      content: Object.fromEntries(used.map((type) => [type, content])),
    };
  }

  #form(operation: SchemaObject, fields: readonly SchemaObject[]): object | undefined {
    if (fields.length === 0) return undefined;
    const isFile = (field: SchemaObject): boolean => keyword(field, "type") === "file";
    const types = this.#mediaTypes(operation, "consumes").filter((type) => /form/.test(type));
    const fallback = fields.some(isFile) ? "multipart/form-data" : "application/x-www-form-urlencoded";
    const named = fields.filter((field) => typeof keyword(field, "name") === "string");
    const nameOf = (field: SchemaObject): string => String(keyword(field, "name"));
    const required = named.filter((field) => keyword(field, "required") === true).map(nameOf);
    const schema = {
      type: "object",
      properties: Object.fromEntries(named.map((field) => [nameOf(field), describedSchema(field)])),
      required,
    };
    const encoding = Object.fromEntries(named.map((field) => [nameOf(field), styleOf(field)]));
    const type = fields.some(isFile) ? "multipart/form-data" : (types[0] ?? fallback);
    return { required: required.length > 0, content: { [type]: { schema, encoding } } };
  }

  #response(operation: SchemaObject, value: unknown): unknown {
    const response = this.#document.resolved(value);
    const schema = response === undefined ? undefined : keyword(response, "schema");
    if (response === undefined || schema === undefined) return response;
    const types = this.#mediaTypes(operation, "produces");
    const used = types.length === 0 ? ["application/json"] : types;
    return { ...response, content: Object.fromEntries(used.map((type) => [type, { schema }])) };
  }
}

function upgradedParameter(parameter: SchemaObject): object {
  const { name, in: place, description, required } = parameter;
  return { name, in: place, description, required, schema: schemaOf(parameter), ...styleOf(parameter) };
}

const schemaOf = (parameter: SchemaObject): object =>
  Object.fromEntries(membersOf(parameter).filter(([key]) => SCHEMA_KEYWORDS.has(key)));

const describedSchema = (field: SchemaObject): object => ({
  ...schemaOf(field),
  description: keyword(field, "description"),
});

function styleOf(parameter: SchemaObject): object {
  if (keyword(parameter, "type") !== "array") return {};
  return COLLECTION_FORMATS.get(keyword(parameter, "collectionFormat") ?? "csv") ?? { explode: false };
}
