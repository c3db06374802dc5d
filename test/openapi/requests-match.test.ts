import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import addFormats from "ajv-formats";
import { OpenAPIBackend, type Document } from "openapi-backend";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { argumentCheck } from "../../src/calls/validate.js";
import type { Tool } from "../../src/catalog/tool.js";
import type { OpenApiSource } from "../../src/openapi.js";
import type { RecordedRequest } from "../cases/openapi-server.js";
import { context, Loopback, textIn } from "./loopback.js";
import { random, sampleArguments } from "./sample.js";

// The judge of every request is openapi-backend, from the document alone: it finds the operation that a request is for,
// and checks path, query, headers, cookies and body against it.

const require = createRequire(import.meta.url);
const loopback = new Loopback();
beforeAll(() => loopback.start());
afterAll(() => loopback.stop());

interface JsonDocument {
  openapi: string;
  paths: Record<string, Record<string, { operationId?: string }>>;
  [key: string]: unknown;
}

const METHODS = ["get", "put", "post", "delete", "patch"];

/**
 * Every operation gets the id of its place, so that it is known which one a judge has found. The judge knows no bounds
 * of OpenAPI 3.0 and no `nullable` without a type, and reads paths as any type: "1" would be two of a oneOf.
 */
function identified(document: JsonDocument): JsonDocument {
  const text = JSON.stringify(document, (_key, value: unknown) => (Array.isArray(value) ? value : judgeable(value)));
  const copy = JSON.parse(text) as JsonDocument;
  for (const [path, item] of Object.entries(copy.paths)) {
    for (const method of METHODS) if (item[method] !== undefined) item[method].operationId = `${method} ${path}`;
  }
  return copy;
}

function judgeable(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const { nullable, exclusiveMinimum, oneOf, ...rest } = value as Record<string, unknown>;
  return {
    ...rest,
    ...(oneOf === undefined ? {} : { anyOf: oneOf }),
    ...(nullable !== undefined && "type" in rest ? { nullable } : {}),
    ...(typeof exclusiveMinimum === "number" ? { exclusiveMinimum } : {}),
  };
}

async function judgeOf(document: JsonDocument): Promise<(request: RecordedRequest) => { id: string; faults: unknown }> {
  const api = new OpenAPIBackend({
    definition: identified(document) as unknown as Document,
    quick: true,
    customizeAjv: (ajv) => addFormats.default(ajv) as typeof ajv,
  });
  await api.init();
  return ({ method, path, query, headers, body }) => {
    const type = String(headers["content-type"] ?? "");
    const request = {
      method,
      path,
      query: Object.fromEntries(
        [...query].map(([name, values]) => [name, values.length === 1 ? (values[0] ?? "") : values]),
      ),
      headers: headers as Record<string, string>,
      body: /json/.test(type)
        ? (JSON.parse(body.toString()) as unknown)
        : body.length === 0
          ? undefined
          : body.toString(),
    };
    const operation = api.router.matchOperation(request);
    if (operation === undefined) return { id: "none", faults: "no operation" };
    return { id: operation.operationId ?? "", faults: api.validator.validateRequest(request, operation).errors };
  };
}

/** Calls a tool with sampled arguments, and gives the request that came. */
async function callSampled(
  source: OpenApiSource,
  tool: Tool,
  next: () => number,
): Promise<{ args: Record<string, unknown>; request: RecordedRequest }> {
  const args = sampleArguments(tool, next);
  // Bytes or text: the schema cannot say "one of them" without losing its type for readers.
  if ("body" in args) delete args["bodyBase64"];
  loopback.api.reset([{}]);
  const result = await source.callTool(tool.name, args, context());
  expect(result.isError ?? false, `${tool.name}: ${textIn(result)}`).toBe(false);
  return { args, request: loopback.last };
}

/** The names of arguments that are nowhere in the request, or not as they were given. */
function lostArguments(
  args: Record<string, unknown>,
  place: string,
  { query, headers, body }: RecordedRequest,
): string[] {
  const isJson = body.length > 0 && String(headers["content-type"]).includes("json");
  const sent = isJson ? (JSON.parse(body.toString()) as unknown) : undefined;
  const isInBody = (name: string): boolean =>
    (name === "body" && isDeepStrictEqual(sent, args["body"])) ||
    isDeepStrictEqual((sent as Record<string, unknown> | undefined)?.[name], args[name]);
  const isElsewhere = (name: string): boolean =>
    place.includes(`{${name}}`) || query.has(name) || name.toLowerCase() in headers || body.toString() === args[name];
  return Object.keys(args).filter(
    (name) => !isInBody(name) && !isElsewhere(name.replace(/__(path|query|header)$/, "")),
  );
}

interface Sent {
  name: string;
  place: string;
  judged: { id: string; faults: unknown };
  misfit: unknown;
  lost: string[];
}

async function sendAll(document: JsonDocument, options: { seed: number; times: number }): Promise<Sent[]> {
  const source = loopback.source(document);
  const { tools, skipped } = await source.load();
  expect(skipped).toEqual([]);
  const judge = await judgeOf(document);
  const next = random(options.seed);
  const sent: Sent[] = [];
  for (const [index, tool] of tools.entries()) {
    for (let time = 0; time < options.times; time++) {
      const { args, request } = await callSampled(source, tool, next);
      const place = idOf(document, index);
      const misfit = (await argumentCheck(tool))(args);
      sent.push({ name: tool.name, place, judged: judge(request), misfit, lost: lostArguments(args, place, request) });
    }
  }
  return sent;
}

/** The document with so many of its operations, taken at random. */
function someOperations(document: JsonDocument, count: number, next: () => number): JsonDocument {
  const all = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => METHODS.includes(method))
      .map(([method, operation]) => ({ path, method, operation })),
  );
  const paths: JsonDocument["paths"] = {};
  for (let left = count; left > 0; left--) {
    const [taken] = all.splice(Math.floor(next() * all.length), 1);
    if (taken !== undefined) (paths[taken.path] ??= {})[taken.method] = taken.operation;
  }
  return { ...document, paths };
}

/** The place of the operation that became the tool of this number: tools are in the order of the document. */
function idOf(document: JsonDocument, index: number): string {
  const places = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.keys(item)
      .filter((method) => METHODS.includes(method))
      .map((method) => `${method} ${path}`),
  );
  return places[index] ?? "";
}

const wrongOf = (sent: readonly Sent[]): Sent[] =>
  sent.filter(
    ({ place, judged, misfit, lost }) =>
      judged.id !== place || judged.faults !== null || misfit !== undefined || lost.length > 0,
  );

describe("what is sent matches the operation", () => {
  it("for every operation of a document of 3.0", async () => {
    const document = JSON.parse(
      readFileSync(fileURLToPath(new URL("fixtures/library.json", import.meta.url)), "utf8"),
    ) as JsonDocument;
    const sent = await sendAll({ ...document, servers: [] }, { seed: 1, times: 20 });
    expect(wrongOf(sent)).toEqual([]);
    expect(sent).toHaveLength(7 * 20);
  });

  const github = require.resolve("@octokit/openapi/generated/api.github.com.json");

  it("for 200 operations of GitHub's document, taken at random", { timeout: 120_000 }, async () => {
    const document = JSON.parse(readFileSync(github, "utf8")) as JsonDocument;
    const sent = await sendAll(someOperations(document, 200, random(7)), { seed: 7, times: 1 });
    expect(wrongOf(sent)).toEqual([]);
    expect(sent).toHaveLength(200);
  });
});
