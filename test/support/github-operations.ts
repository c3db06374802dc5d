import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Tool } from "../../src/catalog/tool.js";

interface Operation {
  operationId: string;
  summary?: string;
  description?: string;
  parameters?: { name: string; description?: string; required?: boolean; schema?: object }[];
  requestBody?: { required?: boolean; content?: Record<string, { schema?: Record<string, unknown> }> };
}

const METHODS = ["get", "put", "post", "patch", "delete"];

/** The 1,223 operations of GitHub's REST API as tools: parameters and JSON body are their inputs. */
export function githubOperations(): Tool[] {
  const path = createRequire(import.meta.url).resolve("@octokit/openapi/generated/api.github.com.deref.json");
  const { paths } = JSON.parse(readFileSync(path, "utf8")) as { paths: Record<string, Record<string, unknown>> };
  return Object.values(paths).flatMap((item) =>
    METHODS.filter((method) => item[method] !== undefined).map((method) => toTool(item[method] as Operation)),
  );
}

function toTool({ operationId, summary = "", description = "", parameters = [], requestBody }: Operation): Tool {
  const body = requestBody?.content?.["application/json"]?.schema;
  const members = parameters.map(({ name, schema, description: doc }) => [
    name,
    { ...schema, ...(doc === undefined ? {} : { description: doc }) },
  ]);
  const properties = { ...Object.fromEntries(members), ...(body?.["properties"] as object | undefined) };
  const required = [
    ...parameters.filter((parameter) => parameter.required === true).map(({ name }) => name),
    ...((body?.["required"] as string[] | undefined) ?? []),
  ];
  return {
    name: operationId.replaceAll("/", "_"),
    description: `${summary}\n\n${description}`.trim(),
    inputSchema: { type: "object", properties, required: [...new Set(required)] },
  };
}
