import type { Tool } from "../../catalog/tool.js";
import type { ApiOperation } from "./operations.js";

/** What a route rule sees of an operation. */
export interface OperationInfo {
  /** Upper case. */
  readonly method: string;
  /** The template: `/users/{id}`. */
  readonly path: string;
  readonly operationId: string | undefined;
  readonly summary: string | undefined;
  readonly tags: readonly string[];
  readonly deprecated: boolean;
}

/** What becomes of some operations. All conditions of a rule must hold; one without any holds for every operation. */
export interface RouteRule {
  /** In any case. */
  methods?: readonly string[];
  /** The exact template, or a pattern for it. */
  path?: string | RegExp;
  /** The exact operationId, or a pattern for it. */
  operationId?: string | RegExp;
  /** At least one of these. */
  tags?: readonly string[];
  /** Any further condition. */
  when?: (operation: OperationInfo) => boolean;
  /** No tool. @default false */
  exclude?: boolean;
  /** The name of the tool: of one operation as text, of many by a function. It is slugged and kept unique like any other. */
  name?: string | ((operation: OperationInfo) => string | undefined);
  /** Further tags of the tool. */
  addTags?: readonly string[];
  /** In place of those that the method stands for. */
  annotations?: Tool["annotations"];
}

/** The first rule whose conditions hold; undefined: the operation becomes a tool as it is. */
export function ruleFor(operation: ApiOperation, rules: readonly RouteRule[]): RouteRule | undefined {
  return rules.find((rule) => holds(rule, operation));
}

function holds({ methods, path, operationId, tags, when }: RouteRule, operation: ApiOperation): boolean {
  if (methods !== undefined && !methods.some((method) => method.toUpperCase() === operation.method)) return false;
  if (path !== undefined && !matches(path, operation.path)) return false;
  if (operationId !== undefined && !matches(operationId, operation.operationId ?? "")) return false;
  if (tags !== undefined && !tags.some((tag) => operation.tags.includes(tag))) return false;
  return when === undefined || when(operation);
}

function matches(wanted: string | RegExp, text: string): boolean {
  if (typeof wanted === "string") return wanted === text;
  // A global pattern would begin where its last match ended.
  return new RegExp(wanted.source, wanted.flags.replace(/[gy]/g, "")).test(text);
}

/** What a method says of a tool, as hints of MCP. */
export function annotationsOf(method: string): NonNullable<Tool["annotations"]> {
  switch (method) {
    case "GET":
    case "HEAD":
    case "OPTIONS":
    case "QUERY":
      return { readOnlyHint: true, openWorldHint: true };
    case "PUT":
      return { readOnlyHint: false, idempotentHint: true, openWorldHint: true };
    case "DELETE":
      return { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true };
    default:
      return { readOnlyHint: false, openWorldHint: true };
  }
}
