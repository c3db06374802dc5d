/**
 * OpenAPI documents as tools.
 *
 * @module
 */

export { openApiSource, type OpenApiImport, type OpenApiSource } from "./openapi/source.js";
export type { OpenApiSourceOptions } from "./openapi/options.js";
export type { OperationInfo, RouteRule } from "./openapi/operation/routes.js";
export type { SkippedOperation } from "./openapi/operation/operations.js";
export type { BasicCredential, Credential, CredentialOptions } from "./openapi/request/credentials.js";
export type { Fetch } from "./openapi/request/send.js";
export type { CallContext, Tool, ToolResult, ToolSource } from "./catalog/tool.js";
