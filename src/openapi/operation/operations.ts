import { keyword, listOf, membersOf, schemaObject, stringsOf, type SchemaObject } from "../../catalog/json-schema.js";
import { type ApiDocument, Unencodable } from "../document/api-document.js";

/** One operation of a document, with what its path item shares. */
export interface ApiOperation {
  /** Upper case. */
  method: string;
  /** The template: `/users/{id}`. */
  path: string;
  operationId: string | undefined;
  summary: string | undefined;
  description: string | undefined;
  tags: readonly string[];
  deprecated: boolean;
  /** Resolved; those of the operation in place of those of its path item. */
  parameters: readonly SchemaObject[];
  requestBody: SchemaObject | undefined;
  responses: SchemaObject | undefined;
  /** Alternatives of `security`, undefined where nothing is said at all. */
  security: readonly unknown[] | undefined;
  /** Its own or those of its path item; undefined: those of the document. */
  servers: readonly unknown[] | undefined;
}

/** An operation that is no tool, and why. */
export interface SkippedOperation {
  method: string;
  path: string;
  operationId: string | undefined;
  reason: string;
}

const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

/** All operations in the order of the document. Nothing here throws: what cannot be read is skipped, with the reason. */
export function readOperations(document: ApiDocument): { operations: ApiOperation[]; skipped: SkippedOperation[] } {
  const operations: ApiOperation[] = [];
  const skipped: SkippedOperation[] = [];
  for (const [path, value] of membersOf(keyword(document.root, "paths"))) {
    if (!path.startsWith("/")) continue;
    const item = attempt(() => document.resolved(value));
    if (item instanceof Unencodable) {
      skipped.push({ method: "*", path, operationId: undefined, reason: item.message });
      continue;
    }
    for (const [key, member] of membersOf(item)) {
      const operation = schemaObject(member);
      if (!METHODS.includes(key) || operation === undefined) continue;
      const method = key.toUpperCase();
      const read = attempt(() => readOperation(document, { method, path, item: item ?? {}, operation }));
      if (!(read instanceof Unencodable)) operations.push(read);
      else skipped.push({ method, path, operationId: textOf(operation, "operationId"), reason: read.message });
    }
  }
  return { operations, skipped };
}

/** The value, or why there is none. */
export function attempt<T>(read: () => T): T | Unencodable {
  try {
    return read();
  } catch (error) {
    if (error instanceof Unencodable) return error;
    throw error;
  }
}

interface Place {
  method: string;
  path: string;
  item: SchemaObject;
  operation: SchemaObject;
}

function readOperation(document: ApiDocument, { method, path, item, operation }: Place): ApiOperation {
  if (method === "TRACE") throw new Unencodable("the method TRACE cannot be sent by fetch");
  const security = keyword(operation, "security") ?? keyword(document.root, "security");
  const servers = keyword(operation, "servers") ?? keyword(item, "servers");
  return {
    method,
    path,
    operationId: textOf(operation, "operationId"),
    summary: textOf(operation, "summary") ?? textOf(item, "summary"),
    description: textOf(operation, "description") ?? textOf(item, "description"),
    tags: stringsOf(keyword(operation, "tags")),
    deprecated: keyword(operation, "deprecated") === true,
    parameters: parametersOf(document, item, operation),
    requestBody: document.resolved(keyword(operation, "requestBody")),
    responses: schemaObject(keyword(operation, "responses")),
    security: security === undefined ? undefined : listOf(security),
    servers: listOf(servers).length === 0 ? undefined : listOf(servers),
  };
}

function parametersOf(document: ApiDocument, item: SchemaObject, operation: SchemaObject): SchemaObject[] {
  const byPlace = new Map<string, SchemaObject>();
  for (const value of [...listOf(keyword(item, "parameters")), ...listOf(keyword(operation, "parameters"))]) {
    const parameter = document.resolved(value);
    if (parameter === undefined) continue;
    byPlace.set(JSON.stringify([keyword(parameter, "in"), keyword(parameter, "name")]), parameter);
  }
  return [...byPlace.values()];
}

/** A text member that says something. */
export function textOf(object: SchemaObject, name: string): string | undefined {
  const value = keyword(object, name);
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}
