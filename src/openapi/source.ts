import type { CallContext, Tool, ToolResult, ToolSource } from "../catalog/tool.js";
import { ToolCallError } from "../errors.js";
import { loadDocument } from "./document/load.js";
import { importTools, type ImportedTools } from "./import-tools.js";
import type { SkippedOperation } from "./operation/operations.js";
import { type OpenApiSourceOptions, resolveOptions, type ResolvedOptions } from "./options.js";
import { buildRequest } from "./request/build-request.js";
import type { Placed } from "./request/credentials.js";
import type { RequestPlan } from "./request/request-plan.js";
import { NoAnswer, send } from "./request/send.js";
import { redactor } from "./response/redact.js";
import { noAnswerResult, toolResult } from "./response/tool-result.js";

/** The tools of an OpenAPI document. */
export interface OpenApiSource extends ToolSource {
  /**
   * Loads the document, which otherwise happens when the tools are first listed. Gives the same import each time; one
   * that failed is tried again.
   *
   * @throws {ConfigurationError} when the document cannot be read, has no server, or lacks a configured security scheme.
   */
  load(): Promise<OpenApiImport>;
}

/** What became of a document. */
export interface OpenApiImport {
  readonly tools: readonly Tool[];
  /** Operations that are no tools, with the reason. Those that `routes` excluded are not among them. */
  readonly skipped: readonly SkippedOperation[];
}

/**
 * The operations of an OpenAPI document (3.0, 3.1 or Swagger 2) as tools that call its API.
 *
 * @param document the parsed document (never changed), its text in JSON or YAML, a path, or a URL. YAML needs the package
 * `@readme/openapi-parser`.
 * @throws {ConfigurationError} for an option that is unknown or wrong. What is wrong with the document is found when it
 * is loaded.
 *
 * @example
 * const github = openApiSource("https://example.com/github.json", {
 *   name: "github",
 *   bearer: { env: "GITHUB_TOKEN" },
 *   routes: [{ methods: ["GET"], tags: ["issues"] }, { exclude: true }],
 * });
 * server.use(codeMode({ sources: [github] }));
 */
export function openApiSource(document: string | URL | object, options: OpenApiSourceOptions = {}): OpenApiSource {
  return new DocumentSource(document, resolveOptions(options));
}

class DocumentSource implements OpenApiSource {
  readonly name?: string;
  readonly #document: string | URL | object;
  readonly #options: ResolvedOptions;
  #imported: Promise<ImportedTools> | undefined;

  constructor(document: string | URL | object, options: ResolvedOptions) {
    this.#document = document;
    this.#options = options;
    if (options.name !== undefined) this.name = options.name;
  }

  load(): Promise<OpenApiImport> {
    return this.#load();
  }

  async listTools(): Promise<Tool[]> {
    return (await this.#load()).tools;
  }

  async callTool(name: string, args: Record<string, unknown>, context: CallContext): Promise<ToolResult> {
    const { plans, credentials } = await this.#load();
    const plan = plans.get(name);
    if (plan === undefined) throw new ToolCallError(`Unknown tool: ${name}`, { details: { tool: name } });
    return this.#request(plan, args, await credentials.placed(plan.security, context), context);
  }

  async #request(
    plan: RequestPlan,
    args: Record<string, unknown>,
    placed: readonly Placed[],
    context: CallContext,
  ): Promise<ToolResult> {
    const request = buildRequest(plan, args, placed);
    const redact = redactor(placed);
    try {
      const received = await send(request, this.#options, context.signal);
      return toolResult(received, { plan, address: request.url.origin + request.url.pathname, redact });
    } catch (error) {
      if (error instanceof NoAnswer) return noAnswerResult(error, redact);
      throw error;
    }
  }

  #load(): Promise<ImportedTools> {
    if (this.#imported !== undefined) return this.#imported;
    const imported = loadDocument(this.#document, this.#options).then((document) =>
      importTools(document, this.#options),
    );
    this.#imported = imported;
    imported.catch(() => {
      if (this.#imported === imported) this.#imported = undefined;
    });
    return imported;
  }
}
