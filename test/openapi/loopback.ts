import { openApiSource, type OpenApiSource, type OpenApiSourceOptions } from "../../src/openapi.js";
import type { CallContext, ToolResult } from "../../src/catalog/tool.js";
import { ApiServer, type RecordedRequest } from "../cases/openapi-server.js";

/** An API on loopback, and calls of the tools of documents about it. */
export class Loopback {
  readonly api = new ApiServer();
  url = "";

  async start(): Promise<void> {
    this.url = `http://127.0.0.1:${await this.api.listen()}`;
    this.api.reset([{}]);
  }

  stop(): Promise<void> {
    return this.api.close();
  }

  /** A source whose requests come here. */
  source(document: object | string, options: OpenApiSourceOptions = {}): OpenApiSource {
    return openApiSource(document, { baseUrl: this.url, ...options });
  }

  /** The last request so far. */
  get last(): RecordedRequest {
    const request = this.api.requests.at(-1);
    if (request === undefined) throw new Error("no request came");
    return request;
  }

  /** Calls a tool of a document with one operation, and gives the request that came. */
  async sent(
    operation: OneOperation,
    args: Record<string, unknown>,
    options: OpenApiSourceOptions = {},
  ): Promise<RecordedRequest> {
    this.api.reset([{}]);
    await callOnly(this.source(documentOf(operation), options), args);
    return this.last;
  }

  /** Calls a tool of a document with one operation that answers so. */
  async answered(
    answer: object,
    options: OpenApiSourceOptions = {},
    operation: OneOperation = {},
  ): Promise<ToolResult> {
    this.api.reset([answer]);
    return callOnly(this.source(documentOf(operation), options), {});
  }
}

/** An operation with its place. */
export interface OneOperation {
  method?: string;
  path?: string;
  components?: object;
  security?: unknown;
  [key: string]: unknown;
}

/** A document with one operation. */
export function documentOf({ method = "get", path = "/x", components = {}, ...operation }: OneOperation): object {
  return {
    openapi: "3.0.3",
    info: { title: "t", version: "1" },
    servers: [{ url: "http://127.0.0.1:1" }],
    paths: { [path]: { [method]: { operationId: "only", ...operation } } },
    components,
  };
}

/** Calls the only tool of a source. */
export async function callOnly(source: OpenApiSource, args: Record<string, unknown>): Promise<ToolResult> {
  const [tool] = await source.listTools(context());
  if (tool === undefined) throw new Error(`no tool: ${JSON.stringify((await source.load()).skipped)}`);
  return source.callTool(tool.name, args, context());
}

export const context = (signal = new AbortController().signal): CallContext => ({ signal });

/** The text of a result. */
export const textIn = ({ content }: ToolResult): string =>
  (content as { text?: string }[]).map(({ text }) => text ?? "").join("\n");
