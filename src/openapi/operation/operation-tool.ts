import type { Tool } from "../../catalog/tool.js";
import { listOf, keyword, schemaObject } from "../../catalog/json-schema.js";
import { ConfigurationError } from "../../errors.js";
import { type ApiDocument, Unencodable } from "../document/api-document.js";
import type { RequestPlan } from "../request/request-plan.js";
import type { JsonSchema, SchemaLibrary } from "../schema/schema-library.js";
import type { ApiOperation } from "./operations.js";
import { readOutput, type ApiOutput } from "./output-schema.js";
import { readParameters, separateArguments, type ApiParameter } from "./parameters.js";
import { readBody, type ApiBody } from "./request-body.js";
import { annotationsOf, type RouteRule } from "./routes.js";
import { serverUrl, type ServerOptions } from "./servers.js";

/** A tool and how its calls become requests. */
export interface OperationTool {
  tool: Tool;
  plan: RequestPlan;
}

/** What all tools of a document are made with. */
export interface ToolContext {
  document: ApiDocument;
  library: SchemaLibrary;
  servers: ServerOptions;
  /** Places of credentials and fixed values: never a parameter. */
  hidden: ReadonlySet<string>;
}

/**
 * One operation as a tool.
 *
 * @throws {Unencodable} when a call of it could not be sent.
 * @throws {ConfigurationError} when the document's own server cannot be used.
 */
export function operationTool(
  operation: ApiOperation,
  name: string,
  rule: RouteRule | undefined,
  context: ToolContext,
): OperationTool {
  const { document, library } = context;
  const { path, query } = splitTemplate(operation.path);
  const body = readBody(document, library, operation.requestBody);
  const declared = readParameters(operation.parameters, path, context.hidden);
  const parameters = separateArguments(declared, body?.properties.keys() ?? []);
  const output = readOutput(document, library, operation.responses);
  const plan: RequestPlan = {
    tool: name,
    method: operation.method,
    path,
    query,
    server: serverOf(operation, context),
    parameters: parameters.map((parameter) => parameter.plan),
    body: body?.plan,
    accept: output.accept,
    security: operation.security ?? [],
    wrapsResult: output.wrapped,
  };
  const { lead, notes } = splitDescription(operation);
  const inputSchema = {
    ...(notes === undefined ? {} : { description: notes }),
    ...inputSchemaOf(library, parameters, body),
  };
  return { plan, tool: describedTool(operation, { name, description: lead, inputSchema, output, rule }) };
}

function serverOf(operation: ApiOperation, { document, servers }: ToolContext): URL {
  if (operation.servers === undefined) return serverUrl(listOf(keyword(document.root, "servers")), servers);
  try {
    return serverUrl(operation.servers, servers);
  } catch (error) {
    // The rest of the document can still be called.
    throw error instanceof ConfigurationError ? new Unencodable(error.message) : error;
  }
}

/** Some documents tell operations of one path apart by a query or a fragment in it. */
function splitTemplate(template: string): { path: string; query: string } {
  const [whole = ""] = template.split("#");
  const [path = "", ...query] = whole.split("?");
  const segments = path.split(/[/\\]/);
  if (path.includes("\\") || segments.some((segment) => /^(\.|%2e){1,2}$/i.test(segment))) {
    throw new Unencodable(`its path ${JSON.stringify(template)} leads out of its server`);
  }
  return { path, query: query.join("?") };
}

function inputSchemaOf(
  library: SchemaLibrary,
  parameters: readonly ApiParameter[],
  body: ApiBody | undefined,
): Tool["inputSchema"] {
  const use = library.use("input");
  const own = parameters.map((parameter) => [
    parameter.plan.argument,
    described(use.convert(parameter.schema ?? {}), parameter),
  ]);
  const ofBody = [...(body?.properties ?? [])].map(([name, schema]) => [name, use.convert(schema)]);
  const required = parameters.filter((parameter) => parameter.required).map(({ plan }) => plan.argument);
  const additional = body?.additional === undefined ? false : use.convert(body.additional);
  const alternatives = (body?.alternatives ?? []).map((sets) => ({
    anyOf: sets.map((names) => ({ required: names })),
  }));
  const $defs = use.definitions();
  return {
    type: "object",
    // Built as entries: a property may be called "__proto__".
    properties: Object.fromEntries([...own, ...ofBody]) as JsonSchema,
    ...listed("required", [...required, ...(body?.required ?? [])]),
    ...(alternatives.length === 1 ? alternatives[0] : listed("allOf", alternatives)),
    additionalProperties: additional,
    ...($defs === undefined ? {} : { $defs }),
  };
}

const listed = (name: string, list: readonly unknown[]): object => (list.length === 0 ? {} : { [name]: list });

/** The schema with what the document says of the parameter, which is more exact than what it says of the type. */
function described(schema: JsonSchema | boolean, { description, deprecated }: ApiParameter): JsonSchema | boolean {
  const notes = {
    ...(description === undefined ? {} : { description }),
    ...(deprecated ? { deprecated: true } : {}),
  };
  if (Object.keys(notes).length === 0) return schema;
  return { ...schemaObject(schema), ...notes };
}

/** Longer descriptions are split. */
const MAX_LEAD_CHARACTERS = 200;

/**
 * The first paragraph of a description, and the rest, which stands with the parameters. Long descriptions hold scopes,
 * media types and warnings, whose words drown those that say what the operation is for.
 */
function splitDescription({ method, path, summary, description }: ApiOperation): { lead: string; notes?: string } {
  const text = (description ?? summary ?? `${method} ${path}`).trim();
  if (text.length <= MAX_LEAD_CHARACTERS) return { lead: text };
  const lines = text.split(/\r?\n/);
  // A heading is no paragraph of its own.
  const end = lines.findIndex((line, index) => line.trim() === "" && !lines[index - 1]?.startsWith("#"));
  if (end < 0) return { lead: text };
  return { lead: lines.slice(0, end).join("\n"), notes: lines.slice(end).join("\n").trim() };
}

interface Parts {
  name: string;
  description: string;
  inputSchema: Tool["inputSchema"];
  output: ApiOutput;
  rule: RouteRule | undefined;
}

function describedTool(operation: ApiOperation, { name, description, inputSchema, output, rule }: Parts): Tool {
  const { method, summary, deprecated } = operation;
  const tags = [...new Set([...operation.tags, ...(rule?.addTags ?? [])])];
  return {
    name,
    ...(summary === undefined ? {} : { title: summary }),
    description: deprecated ? `Deprecated. ${description}` : description,
    inputSchema,
    ...(output.schema === undefined ? {} : { outputSchema: output.schema }),
    annotations: { ...annotationsOf(method), ...rule?.annotations },
    ...(tags.length === 0 ? {} : { _meta: { "mcp-codemode/tags": tags } }),
  };
}
