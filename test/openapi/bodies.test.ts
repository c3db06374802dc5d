import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openApiSource } from "../../src/openapi.js";
import { callOnly, documentOf, Loopback, type OneOperation } from "./loopback.js";

const loopback = new Loopback();
beforeAll(() => loopback.start());
afterAll(() => loopback.stop());

const object = (properties: object, more: object = {}): object => ({ type: "object", properties, ...more });
const posting = (content: object, more: object = {}, rest: OneOperation = {}): OneOperation => ({
  method: "post",
  requestBody: { content, ...more },
  ...rest,
});
const json = (schema: object, more: object = {}, rest: OneOperation = {}): OneOperation =>
  posting({ "application/json": { schema } }, more, rest);

async function inputOf(operation: OneOperation): Promise<Record<string, unknown>> {
  const { tools, skipped } = await openApiSource(documentOf(operation)).load();
  expect(skipped).toEqual([]);
  return tools[0]?.inputSchema as Record<string, unknown>;
}

describe("JSON bodies", () => {
  it("are arguments of their own, references and allOf followed", async () => {
    const operation = json(
      { allOf: [{ $ref: "#/components/schemas/Base" }, object({ b: {} }, { required: ["b"] })] },
      { required: true },
      {
        components: { schemas: { Base: object({ a: { type: "string" } }, { required: ["a"] }) } },
      },
    );
    expect(await inputOf(operation)).toEqual({
      type: "object",
      properties: { a: { type: "string" }, b: {} },
      required: ["a", "b"],
      additionalProperties: false,
    });
    const request = await loopback.sent(operation, { a: "x", b: null });
    expect(request.headers["content-type"]).toBe("application/json");
    expect(JSON.parse(request.body.toString())).toEqual({ a: "x", b: null });
  });

  it("are not sent when nothing is given for them, unless they are required", async () => {
    expect((await loopback.sent(json(object({ a: {} })), {})).body.toString()).toBe("");
    expect((await loopback.sent(json(object({ a: {} }), { required: true }), {})).body.toString()).toBe("{}");
  });

  it("that are no object are one argument", async () => {
    for (const [schema, value] of [
      [{ type: "array", items: { type: "integer" } }, [1, 2]],
      [{ type: "string" }, "text"],
      [{ type: "object", additionalProperties: true }, { any: 1 }],
      [{ oneOf: [object({ a: {} }), object({ b: {} })] }, { b: 1 }],
      [{}, false],
    ] as const) {
      const operation = json(schema, { required: true });
      expect((await inputOf(operation))["required"]).toEqual(["body"]);
      expect(JSON.parse((await loopback.sent(operation, { body: value })).body.toString())).toEqual(value);
    }
  });

  it("take further properties where the document allows them", async () => {
    const operation = json(object({ a: {} }, { additionalProperties: { type: "integer" } }));
    expect((await inputOf(operation))["additionalProperties"]).toEqual({ type: "integer" });
    const request = await loopback.sent(
      operation,
      JSON.parse('{"a":1,"__proto__":5,"constructor":6}') as Record<string, unknown>,
    );
    expect(request.body.toString()).toBe('{"a":1,"__proto__":5,"constructor":6}');
  });

  it("keep sets of which one must be there", async () => {
    const operation = json(object({ a: {}, b: {} }, { anyOf: [{ required: ["a"] }, { required: ["b"] }] }), {
      required: true,
    });
    expect(await inputOf(operation)).toMatchObject({ anyOf: [{ required: ["a"] }, { required: ["b"] }] });
  });

  it("leave out what is readOnly, also from what is required", async () => {
    const schema = object(
      {
        id: { type: "string", readOnly: true },
        at: { $ref: "#/components/schemas/At" },
        nested: object({ id: { readOnly: true }, n: {} }, { required: ["id", "n"] }),
        secret: { writeOnly: true },
      },
      { required: ["id", "at", "nested"] },
    );
    const operation = json(
      schema,
      { required: true },
      {
        components: { schemas: { At: { type: "string", readOnly: true } } },
        responses: { 200: { description: "", content: { "application/json": { schema } } } },
      },
    );
    expect(await inputOf(operation)).toEqual({
      type: "object",
      properties: { nested: { type: "object", properties: { n: {} }, required: ["n"] }, secret: {} },
      required: ["nested"],
      additionalProperties: false,
    });
    const { tools } = await openApiSource(documentOf(operation)).load();
    expect(Object.keys(tools[0]?.outputSchema?.["properties"] as object)).toEqual(["id", "at", "nested"]);
  });
});

describe("the media type of a body", () => {
  it("is JSON wherever that is offered", async () => {
    const schema = object({ a: {} });
    const types = async (...names: string[]): Promise<string | undefined> => {
      const content = Object.fromEntries(names.map((name) => [name, { schema }]));
      return (await loopback.sent(posting(content), { a: 1 })).headers["content-type"];
    };
    expect(await types("multipart/form-data", "text/plain", "application/json; charset=utf-8")).toBe(
      "application/json; charset=utf-8",
    );
    expect(await types("application/json-patch+json", "application/merge-patch+json")).toBe(
      "application/merge-patch+json",
    );
    expect(await types("application/xml", "application/vnd.api+json")).toBe("application/vnd.api+json");
    expect(await types("*/*")).toBe("application/json");
  });

  it("form: lists repeat, objects are JSON, styles are the document's", async () => {
    const schema = object({
      a: { type: "string" },
      l: { type: "array" },
      o: { type: "object" },
      d: { type: "object" },
    });
    const content = { "application/x-www-form-urlencoded": { schema, encoding: { d: { style: "deepObject" } } } };
    const request = await loopback.sent(posting(content), { a: "x&y=z", l: [1, 2], o: { k: 1 }, d: { k: { m: 2 } } });
    expect(request.headers["content-type"]).toBe("application/x-www-form-urlencoded");
    expect([...new URLSearchParams(request.body.toString())]).toEqual([
      ["a", "x&y=z"],
      ["l", "1"],
      ["l", "2"],
      ["o", '{"k":1}'],
      ["d[k][m]", "2"],
    ]);
  });

  it("multipart: files as text or bytes, other parts as text or JSON", async () => {
    const schema = object({
      file: { type: "string", format: "binary" },
      more: { type: "array", items: { type: "string", format: "binary" } },
      title: { type: "string" },
      meta: { type: "object" },
    });
    const operation = posting({ "multipart/form-data": { schema } });
    const request = await loopback.sent(operation, {
      file: { base64: "AAH/", filename: 'a"\r\nX: y.png', contentType: "image/png" },
      more: ["one", { text: "two" }],
      title: "t",
      meta: { k: 1 },
    });
    const form = await new Response(new Uint8Array(request.body), {
      headers: { "content-type": String(request.headers["content-type"]) },
    }).formData();
    const file = form.get("file") as File;
    expect(Buffer.from(await file.arrayBuffer()).toString("hex")).toBe("0001ff");
    expect([file.type, file.name]).toEqual(["image/png", 'a"\r\nX: y.png']);
    expect(await Promise.all(form.getAll("more").map(async (one) => (one as File).text()))).toEqual(["one", "two"]);
    expect(form.get("title")).toBe("t");
    expect(request.body.toString("latin1")).toContain(
      'name="meta"\r\nContent-Type: application/json\r\n\r\n{"k":1}\r\n',
    );
  });

  it("multipart: a part cannot start another header", async () => {
    const schema = object({ file: { type: "string", format: "binary" } });
    const source = loopback.source(documentOf(posting({ "multipart/form-data": { schema } })));
    await expect(callOnly(source, { file: { text: "a", contentType: "text/plain\r\nX: y" } })).rejects.toThrow(
      /one line/,
    );
    await expect(callOnly(source, { file: { filename: "a" } })).rejects.toThrow(/either text or base64/);
  });

  it("bytes: body is text, bodyBase64 bytes, one of them", async () => {
    const operation = posting(
      { "application/octet-stream": { schema: { type: "string", format: "binary" } } },
      { required: true },
    );
    expect(await inputOf(operation)).toMatchObject({ anyOf: [{ required: ["body"] }, { required: ["bodyBase64"] }] });
    expect((await loopback.sent(operation, { bodyBase64: "AAH/" })).body.toString("hex")).toBe("0001ff");
    expect((await loopback.sent(operation, { body: "\u00e9" })).body.toString("hex")).toBe("c3a9");
    const source = loopback.source(documentOf(operation));
    await expect(callOnly(source, { bodyBase64: "no base64!" })).rejects.toThrow(/base64/);
    await expect(callOnly(source, { bodyBase64: "AA", body: "x" })).rejects.toThrow(/not both/);
  });

  it("text and XML are one text", async () => {
    const request = await loopback.sent(posting({ "application/xml": { schema: object({ a: {} }) } }), {
      body: "<a/>",
    });
    expect([request.headers["content-type"], request.body.toString()]).toEqual(["application/xml", "<a/>"]);
  });
});
