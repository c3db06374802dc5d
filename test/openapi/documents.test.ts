import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { openApiSource, type OpenApiSource } from "../../src/openapi.js";
import { context, Loopback } from "./loopback.js";

const fixture = (name: string): string => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));
const namesOf = async (source: OpenApiSource): Promise<string[]> => (await source.load()).tools.map(({ name }) => name);

const LIBRARY = [
  "books_list",
  "books_create",
  "books_get",
  "books_replace",
  "books_remove",
  "set_the_chapters_of_a_book",
  "loans_create",
];
const TICKETS = ["getTicket", "changeTicket", "searchTickets"];

const loopback = new Loopback();
const directory = mkdtempSync(join(tmpdir(), "openapi-test-"));
beforeAll(() => loopback.start());
afterAll(async () => {
  await loopback.stop();
  rmSync(directory, { recursive: true });
});
afterEach(() => vi.doUnmock("@readme/openapi-parser"));

const written = (name: string, text: string): string => {
  writeFileSync(join(directory, name), text);
  return join(directory, name);
};

describe("a document", () => {
  it("may be an object, a text, a path, a file URL or a web address, in JSON or YAML", async () => {
    const [json, yaml] = [readFileSync(fixture("library.json"), "utf8"), readFileSync(fixture("tickets.yaml"), "utf8")];
    expect(await namesOf(openApiSource(JSON.parse(json) as object))).toEqual(LIBRARY);
    expect(await namesOf(openApiSource(`\ufeff${json}`))).toEqual(LIBRARY);
    expect(await namesOf(openApiSource(fixture("library.json")))).toEqual(LIBRARY);
    expect(await namesOf(openApiSource(pathToFileURL(fixture("library.json"))))).toEqual(LIBRARY);
    expect(await namesOf(openApiSource(yaml))).toEqual(TICKETS);
    expect(await namesOf(openApiSource(fixture("tickets.yaml")))).toEqual(TICKETS);
    loopback.api.reset([{ body: json }, { body: yaml }]);
    expect(await namesOf(openApiSource(`${loopback.url}/openapi.json`))).toEqual(LIBRARY);
    expect(await namesOf(openApiSource(new URL(`${loopback.url}/openapi.yaml`)))).toEqual(TICKETS);
  });

  it("from the web is what relative servers are relative to", async () => {
    const document = { openapi: "3.0.0", servers: [{ url: "../api" }], paths: { "/x": { get: { operationId: "x" } } } };
    loopback.api.reset([{ body: document }, {}]);
    const source = openApiSource(`${loopback.url}/docs/openapi.json`);
    await source.listTools(context());
    await source.callTool("x", {}, context());
    expect(loopback.last.path).toBe("/api/x");
  });

  it("is loaded once, when first needed; a failed load is tried again", async () => {
    loopback.api.reset([{ status: 503 }, { body: readFileSync(fixture("library.json"), "utf8") }]);
    const source = openApiSource(`${loopback.url}/openapi.json?token=secret`);
    expect(loopback.api.requests).toHaveLength(0);
    const failed: unknown = await source.load().catch((error: unknown) => error);
    expect(String(failed)).toMatch(/status 503/);
    expect(String(failed)).not.toMatch(/secret/);
    expect(await source.listTools(context())).toBe(await source.listTools(context()));
    expect(loopback.api.requests).toHaveLength(2);
  });

  it("that is none is refused with what was expected", async () => {
    const load = (document: string | object) => openApiSource(document).load();
    await expect(load({})).rejects.toThrow(/expected "openapi".*no version/);
    await expect(load({ openapi: "4.0.0", paths: {} })).rejects.toThrow(/"4\.0\.0"/);
    await expect(load({ openapi: "3.0.0" })).rejects.toThrow(/no paths/);
    await expect(load('{"openapi": ')).rejects.toThrow(/not valid JSON/);
    await expect(load("/no/such/file.json")).rejects.toThrow(/\/no\/such\/file\.json cannot be read/);
    await expect(load("a: [\n")).rejects.toThrow(/neither JSON nor YAML/);
    await expect(load([])).rejects.toThrow(/no OpenAPI document/);
  });

  it("of odd parts never breaks the import", async () => {
    const odd = {
      openapi: "3.1.0",
      servers: [{ url: "http://x" }],
      security: "none",
      tags: 5,
      paths: {
        "x-note": { get: {} },
        "/a": null,
        "/b": { get: null, post: [], put: { parameters: {}, responses: [], tags: "x", requestBody: 7 } },
        "/c": {
          get: { parameters: [null, 5, { name: "p", in: "query", schema: "string" }], responses: { 200: null } },
        },
        "/d": { $ref: "#/paths/~1d" },
        "/e": {
          post: {
            requestBody: {
              content: { "application/json": { schema: { type: "object", properties: { a: 1, b: null } } } },
            },
          },
        },
      },
    };
    const { tools, skipped } = await openApiSource(odd).load();
    expect(tools.map(({ name }) => name)).toEqual(["put_b", "get_c", "post_e"]);
    expect(skipped).toEqual([
      { method: "*", path: "/d", operationId: undefined, reason: expect.stringMatching(/itself/) as string },
    ]);
  });
});

describe("other files", () => {
  const main = (): string =>
    written(
      "main.json",
      JSON.stringify({
        openapi: "3.0.0",
        info: { title: "t", version: "1" },
        servers: [{ url: "http://x" }],
        paths: {
          "/a": { get: { operationId: "a", parameters: [{ $ref: "parts.yaml#/parameter" }], responses: {} } },
          "/b": { get: { operationId: "b", responses: {} } },
        },
      }),
    );

  it("are not read unless that is asked for: what needs them is skipped", async () => {
    const { tools, skipped } = await openApiSource(main()).load();
    expect(tools.map(({ name }) => name)).toEqual(["b"]);
    expect(skipped[0]?.reason).toMatch(/"parts\.yaml#\/parameter".*externalReferences: true/);
  });

  it("are read with externalReferences", async () => {
    const path = main();
    written("parts.yaml", "parameter: { name: p, in: query, schema: { type: integer } }\n");
    const { tools, skipped } = await openApiSource(path, { externalReferences: true }).load();
    expect(skipped).toEqual([]);
    expect(tools[0]?.inputSchema["properties"]).toEqual({ p: { type: "integer" } });
  });
});

describe("@readme/openapi-parser", () => {
  it("is named where it is missing", async () => {
    vi.doMock("@readme/openapi-parser", () => {
      throw Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });
    });
    await expect(openApiSource(fixture("tickets.yaml")).load()).rejects.toThrow(/npm install @readme\/openapi-parser/);
    expect(await namesOf(openApiSource(fixture("library.json")))).toEqual(LIBRARY);
  });

  it("validates where that is asked for", async () => {
    expect(await namesOf(openApiSource(fixture("library.json"), { validate: true }))).toEqual(LIBRARY);
    const wrong = { openapi: "3.0.0", info: { title: "t" }, servers: [{ url: "http://x" }], paths: {} };
    await expect(openApiSource(wrong, { validate: true }).load()).rejects.toThrow(/is not valid.*version/s);
  });
});

describe("Swagger 2", () => {
  const calls: [string, Record<string, unknown>, object][] = [
    [
      "listItems",
      { dryRun: true, ids: [1, 2], tags: ["a", "b"], codes: ["a", "b"], words: ["a", "b"], columns: ["a", "b"] },
      {
        method: "GET",
        path: "/stock/items",
        query: { dryRun: ["true"], ids: ["1,2"], tags: ["a", "b"], codes: ["a|b"], words: ["a b"], columns: ["a\tb"] },
      },
    ],
    [
      "deleteItems",
      { dryRun__query: true, dryRun: "All", grace: 5 },
      { method: "DELETE", path: "/stock/items", query: { dryRun: ["true"] }, body: '{"dryRun":"All","grace":5}' },
    ],
    ["login", { user: "u", roles: ["a", "b"] }, { method: "POST", path: "/stock/login", body: "user=u&roles=a,b" }],
  ];

  it.each(calls)("%s is sent as the document says", async (tool, args, expected) => {
    const source = loopback.source(fixture("stock.swagger2.json"), {
      baseUrl: `${loopback.url}/stock`,
      auth: { key: "k-1" },
    });
    loopback.api.reset([{}]);
    await source.listTools(context());
    await source.callTool(tool, args, context());
    const { method, path, query, body, headers } = loopback.last;
    expect({ method, path, query: Object.fromEntries(query), body: body.toString() }).toEqual({
      query: {},
      body: "",
      ...expected,
    });
    expect(headers["x-stock-key"]).toBe(tool === "login" ? undefined : "k-1");
  });

  it("sends files, and has types for what comes back", async () => {
    const source = loopback.source(fixture("stock.swagger2.json"));
    const tools = new Map((await source.listTools(context())).map((tool) => [tool.name, tool]));
    await source.callTool(
      "addPhoto",
      { id: "i/1", photo: { base64: "AAE=", filename: "p.png" }, title: "t" },
      context(),
    );
    expect(loopback.last.path).toBe("/items/i%2F1/photo");
    expect(loopback.last.body.toString("latin1")).toMatch(/name="photo"; filename="p\.png"/);
    expect(tools.get("addPhoto")?.inputSchema["required"]).toEqual(["id", "photo"]);
    expect(tools.get("listItems")?.outputSchema).toMatchObject({
      properties: { result: { type: "array", items: { $ref: "#/$defs/Item" } } },
      $defs: { Item: { properties: { id: { type: ["integer", "null"] } } } },
    });
  });

  it("says where the API is by host, basePath and schemes", async () => {
    let asked = "";
    const fetch = async (url: string): Promise<Response> => {
      asked = url;
      return new Response("{}");
    };
    const source = openApiSource(fixture("stock.swagger2.json"), { fetch });
    await source.callTool("login", { user: "u" }, context());
    expect(asked).toBe("http://127.0.0.1/stock/login");
  });
});
