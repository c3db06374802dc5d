import type { Tool } from "../catalog/tool.js";
import { Unencodable, type ApiDocument } from "./document/api-document.js";
import { attempt, readOperations, type ApiOperation, type SkippedOperation } from "./operation/operations.js";
import { operationTool, type ToolContext } from "./operation/operation-tool.js";
import { ruleFor, type RouteRule } from "./operation/routes.js";
import { ToolNames } from "./operation/tool-names.js";
import type { ResolvedOptions } from "./options.js";
import { Credentials } from "./request/credentials.js";
import type { RequestPlan } from "./request/request-plan.js";
import { SchemaLibrary } from "./schema/schema-library.js";

/** The tools of a document and what their calls need. */
export interface ImportedTools {
  tools: Tool[];
  plans: ReadonlyMap<string, RequestPlan>;
  credentials: Credentials;
  skipped: SkippedOperation[];
}

/**
 * Makes the tools of a document.
 *
 * @throws {ConfigurationError} when its server cannot be used, or an option names something it does not have.
 */
export function importTools(document: ApiDocument, options: ResolvedOptions): ImportedTools {
  const credentials = new Credentials(document, options);
  const context: ToolContext = {
    document,
    library: new SchemaLibrary(document),
    servers: { baseUrl: options.baseUrl, serverVariables: options.serverVariables, address: document.address },
    hidden: credentials.places,
  };
  const { operations, skipped } = readOperations(document);
  const names = new ToolNames();
  const tools: Tool[] = [];
  const plans = new Map<string, RequestPlan>();
  for (const operation of operations) {
    const rule = ruleFor(operation, options.routes);
    if (rule?.exclude === true) continue;
    // Named before it is tried, so that a repaired operation changes no other name.
    const name = names.nameOf(operation, chosenName(operation, rule));
    const made = attempt(() => operationTool(operation, name, rule, context));
    if (made instanceof Unencodable) {
      const { method, path, operationId } = operation;
      skipped.push({ method, path, operationId, reason: made.message });
      continue;
    }
    tools.push(made.tool);
    plans.set(name, made.plan);
  }
  return { tools, plans, credentials, skipped };
}

function chosenName(operation: ApiOperation, rule: RouteRule | undefined): string | undefined {
  return typeof rule?.name === "function" ? rule.name(operation) : rule?.name;
}
