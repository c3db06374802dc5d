import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openApiSource } from "../../src/openapi.js";
import { callOnly, documentOf, Loopback, type OneOperation } from "./loopback.js";

const loopback = new Loopback();
beforeAll(() => loopback.start());
afterAll(() => loopback.stop());

const parameter = (name: string, more: object = {}, schema: object = { type: "string" }) => ({
  name,
  in: "query",
  schema,
  ...more,
});
const query = async (more: object, value: unknown): Promise<Record<string, string[]>> => {
  const schema = Array.isArray(value) ? { type: "array" } : { type: "object" };
  const request = await loopback.sent({ parameters: [parameter("p", more, schema)] }, { p: value });
  return Object.fromEntries(request.query);
};

describe("query parameters", () => {
  it("follow style and explode", async () => {
    expect(await query({}, ["a", "b"])).toEqual({ p: ["a", "b"] });
    expect(await query({ explode: false }, ["a,1", "b"])).toEqual({ p: ["a,1,b"] });
    expect(await query({ style: "pipeDelimited" }, ["a", "b"])).toEqual({ p: ["a|b"] });
    expect(await query({ style: "spaceDelimited" }, ["a", "b"])).toEqual({ p: ["a b"] });
    expect(await query({ style: "pipeDelimited", explode: true }, ["a", "b"])).toEqual({ p: ["a", "b"] });
    expect(await query({}, { k: "v", n: 1 })).toEqual({ k: ["v"], n: ["1"] });
    expect(await query({ explode: false }, { k: "v", n: 1 })).toEqual({ p: ["k,v,n,1"] });
    expect(await query({ style: "deepObject" }, { k: { a: [1, { b: 2 }] } })).toEqual({
      "p[k][a][0]": ["1"],
      "p[k][a][1][b]": ["2"],
    });
  });

  it("leave out null, undefined and empty lists", async () => {
    const parameters = [parameter("a", {}, { nullable: true }), parameter("b", {}, { type: "array" })];
    const request = await loopback.sent({ parameters }, { a: null, b: [] });
    expect([...request.query]).toEqual([]);
  });

  it("are encoded so that they stay one value, reserved characters only kept where the document says so", async () => {
    const value = "a&b=c#d+e/f g%20\u00e9";
    const strict = await loopback.sent({ parameters: [parameter("p")] }, { p: value });
    expect(strict.query.get("p")).toEqual([value]);
    const loose = await loopback.sent({ parameters: [parameter("p", { allowReserved: true })] }, { p: value });
    expect(loose.query.get("p")).toEqual([value]);
  });

  it("with content are JSON", async () => {
    const request = await loopback.sent(
      { parameters: [{ name: "f", in: "query", content: { "application/json": { schema: { type: "object" } } } }] },
      { f: { a: [1] } },
    );
    expect(request.query.get("f")).toEqual(['{"a":[1]}']);
  });
});

describe("path parameters", () => {
  const path = async (template: string, more: object, value: unknown): Promise<string> =>
    (
      await loopback.sent(
        { path: template, parameters: [{ name: "id", in: "path", required: true, schema: {}, ...more }] },
        { id: value },
      )
    ).path;

  it("follow style and explode", async () => {
    expect(await path("/u/{id}", {}, ["a", "b"])).toBe("/u/a,b");
    expect(await path("/u/{id}", {}, { k: "v" })).toBe("/u/k,v");
    expect(await path("/u/{id}", { explode: true }, { k: "v" })).toBe("/u/k=v");
    expect(await path("/u/{id}", { style: "label" }, 5)).toBe("/u/.5");
    expect(await path("/u/{id}", { style: "label", explode: true }, [3, 4])).toBe("/u/.3.4");
    expect(await path("/u{id}", { style: "matrix" }, [3, 4])).toBe("/u;id=3,4");
    expect(await path("/u{id}", { style: "matrix", explode: true }, [3, 4])).toBe("/u;id=3;id=4");
    expect(await path("/u{id}", { style: "matrix", explode: true }, { a: 1 })).toBe("/u;a=1");
  });

  it("stay one segment", async () => {
    expect(await path("/u/{id}/x", {}, "a/b?c#d")).toBe("/u/a%2Fb%3Fc%23d/x");
    expect(await path("/u/{id}/x", {}, "http://evil.example/")).toBe("/u/http%3A%2F%2Fevil.example%2F/x");
    expect(await path("/u/{id}/x", {}, "%2fa")).toBe("/u/%252fa/x");
  });

  it.each(["", ".", "..", "../admin", "a/../b", "..\\b", "%2e%2e", "a\0b", "a\r\nb", "\ud800"])(
    "refuse %j, and send nothing",
    async (value) => {
      const source = loopback.source(documentOf({ path: "/u/{id}" }));
      loopback.api.reset([{}]);
      await expect(callOnly(source, { id: value })).rejects.toMatchObject({ code: -32602 });
      expect(loopback.api.requests).toEqual([]);
    },
  );

  it("cannot make a dot segment together", async () => {
    const source = loopback.source(documentOf({ path: "/u/{a}{b}" }));
    await expect(callOnly(source, { a: ".", b: "." })).rejects.toThrow(/"\."/);
  });

  it("that the document forgot to declare are required texts", async () => {
    const { tools } = await openApiSource(documentOf({ path: "/u/{id}" })).load();
    expect(tools[0]?.inputSchema).toMatchObject({ properties: { id: { type: "string" } }, required: ["id"] });
  });
});

describe("headers and cookies", () => {
  const operation: OneOperation = {
    parameters: [
      { name: "X-List", in: "header", schema: { type: "array" } },
      { name: "X-One", in: "header", schema: { type: "string" } },
      { name: "Accept", in: "header", required: true, schema: { type: "string" } },
      { name: "Host", in: "header", schema: { type: "string" } },
      { name: "c", in: "cookie", schema: { type: "string" } },
    ],
  };

  it("are sent", async () => {
    const { headers } = await loopback.sent(operation, { "X-List": ["a", "b"], "X-One": "caf\u00e9", c: "a; b=c" });
    expect(headers).toMatchObject({ "x-list": "a,b", cookie: "c=a%3B%20b%3Dc" });
    expect(Buffer.from(String(headers["x-one"]), "latin1").toString("latin1")).toBe("caf\u00e9");
  });

  it("cannot start another header", async () => {
    const source = loopback.source(documentOf(operation));
    for (const value of ["a\r\nX-Evil: 1", "a\nb", "\u4f60"]) {
      await expect(callOnly(source, { "X-One": value })).rejects.toThrow(/X-One.*one line/);
    }
  });

  it("that the request itself decides are no parameters", async () => {
    const { tools } = await openApiSource(documentOf(operation)).load();
    expect(Object.keys(tools[0]?.inputSchema["properties"] as object)).toEqual(["X-List", "X-One", "c"]);
    expect(tools[0]?.inputSchema["required"]).toBeUndefined();
  });
});

describe("parameters of one name", () => {
  const body = {
    required: true,
    content: { "application/json": { schema: { type: "object", properties: { id: {}, name: {} }, required: ["id"] } } },
  };

  it("keep it for the body, and are called name__location elsewhere", async () => {
    const operation = {
      method: "put",
      path: "/users/{id}",
      parameters: [parameter("id", { description: "filter" }), parameter("other")],
      requestBody: body,
    };
    const { tools } = await openApiSource(documentOf(operation)).load();
    expect(Object.keys(tools[0]?.inputSchema["properties"] as object)).toEqual([
      "id__query",
      "other",
      "id__path",
      "id",
      "name",
    ]);
    expect(tools[0]?.inputSchema["properties"]).toMatchObject({
      id__query: { description: "filter (query parameter id)" },
    });
    const request = await loopback.sent(operation, { id__path: 5, id__query: "q", id: 6 });
    expect(request).toMatchObject({ method: "PUT", path: "/users/5" });
    expect(request.query.get("id")).toEqual(["q"]);
    expect(request.body.toString()).toBe('{"id":6}');
  });

  it("are all told apart when none of them is the body's", async () => {
    const operation = { path: "/{path}", parameters: [parameter("path"), parameter("path__path")] };
    const request = await loopback.sent(operation, { path__path_2: "p", path__query: "q", path__path: "x" });
    expect(request.path).toBe("/p");
    expect(Object.fromEntries(request.query)).toEqual({ path: ["q"], path__path: ["x"] });
  });
});

describe("what cannot be sent", () => {
  it.each([
    [{ parameters: [{ name: "a", in: "planet" }] }, /"planet"/],
    [{ parameters: [parameter("a", { style: "matrix" })] }, /style "matrix"/],
    [{ parameters: [{ name: "a\nb", in: "header" }] }, /name that no header can have/],
    [{ parameters: [{ $ref: "#/components/parameters/none" }] }, /does not exist/],
    [{ parameters: [{ $ref: "other.yaml#/p" }] }, /outside of the document.*externalReferences/],
    [{ method: "trace" }, /TRACE/],
    [{ path: "/a/../b" }, /leads out of its server/],
    [{ servers: [{ url: "http://{x}/" }] }, /serverVariables/],
    [
      { requestBody: { content: { "application/json": { schema: { $ref: "#/nope" } } } } },
      /"#\/nope", which does not exist/,
    ],
  ] as [OneOperation, RegExp][])("is skipped with the reason: %j", async (operation, reason) => {
    const { tools, skipped } = await openApiSource(documentOf(operation)).load();
    expect(tools).toEqual([]);
    expect(skipped).toHaveLength(1);
    expect(skipped[0]?.reason).toMatch(reason);
    expect(skipped[0]).toMatchObject({ operationId: "only" });
  });
});
