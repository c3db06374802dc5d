import { describe, expect, it } from "vitest";
import { argumentCheck } from "../../src/calls/validate.js";
import type { Tool } from "../../src/catalog/tool.js";
import { signature } from "../../src/catalog/typescript.js";
import { openApiSource } from "../../src/openapi.js";
import { documentOf } from "./loopback.js";

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** Tools that answer with each of the schemas, by its name. */
async function toolsWith(schemas: Record<string, object>, openapi = "3.0.3"): Promise<Record<string, Tool>> {
  const paths = Object.fromEntries(
    Object.keys(schemas).map((name) => {
      const content = { "application/json": { schema: ref(name) } };
      return [
        `/${name}`,
        { post: { operationId: name, requestBody: { required: true, content }, responses: { 200: { content } } } },
      ];
    }),
  );
  const document = { openapi, info: {}, servers: [{ url: "http://x" }], paths, components: { schemas } };
  const before = JSON.stringify(document);
  const { tools, skipped } = await openApiSource(document).load();
  expect(skipped).toEqual([]);
  expect(JSON.stringify(document)).toBe(before);
  return Object.fromEntries(tools.map((tool) => [tool.name, tool]));
}

const propertiesOf = (tool: Tool | undefined): unknown => tool?.inputSchema["properties"];

const admits = async (tool: Tool | undefined, args: object): Promise<boolean> =>
  (await argumentCheck(tool as Tool))(args) === undefined;

describe("references", () => {
  it("stay references to $defs, as few as a tool needs, each converted once for all tools", async () => {
    const tools = await toolsWith({
      User: { type: "object", properties: { team: ref("Team") } },
      Team: { type: "object", properties: { users: { type: "array", items: ref("User") } } },
      Other: { type: "object", properties: { team: ref("Team") } },
    });
    const definitions = (name: string) => tools[name]?.outputSchema?.["$defs"] as Record<string, object>;
    expect(Object.keys(definitions("Other"))).toEqual(["Other", "Team", "User"]);
    expect(Object.keys(definitions("User")).toSorted()).toEqual(["Team", "User"]);
    expect(definitions("User")["Team"]).toBe(definitions("Other")["Team"]);
    expect(tools["User"]?.outputSchema).toMatchObject({ type: "object", $ref: "#/$defs/User" });
  });

  it("to any place get a name of their own, and hostile names do no harm", async () => {
    const schemas = JSON.parse(
      '{"__proto__":{"type":"string"},"a/b":{"type":"integer"},"A":{"type":"object","properties":{"x":{"type":"boolean"}}}}',
    ) as Record<string, object>;
    schemas["Root"] = {
      type: "object",
      properties: {
        p: { $ref: "#/components/schemas/__proto__" },
        q: { $ref: "#/components/schemas/a~1b" },
        r: { $ref: "#/components/schemas/A/properties/x" },
      },
    };
    const paths = {
      "/x": {
        get: { operationId: "only", responses: { 200: { content: { "application/json": { schema: ref("Root") } } } } },
      },
    };
    const { tools } = await openApiSource({
      openapi: "3.0.0",
      paths,
      servers: [{ url: "http://x" }],
      components: { schemas },
    }).load();
    expect(signature(tools[0] as Tool)).toBe("tools.only(): Promise<{ p?: string; q?: number; r?: boolean }>");
  });

  it("that a program has already resolved may lead back to themselves", async () => {
    const node: Record<string, unknown> = { title: "Node", type: "object", properties: { name: { type: "string" } } };
    (node["properties"] as Record<string, unknown>)["next"] = node;
    const { tools } = await openApiSource(
      documentOf({ responses: { 200: { content: { "application/json": { schema: node } } } } }),
    ).load();
    expect(() => JSON.stringify(tools)).not.toThrow();
    expect(signature(tools[0] as Tool)).toMatch(/next\?: /);
  });

  it("that lead nowhere cost a response its type and nothing else", async () => {
    const { tools } = await openApiSource(
      documentOf({ responses: { 200: { content: { "application/json": { schema: { $ref: "#/none" } } } } } }),
    ).load();
    expect(tools[0]?.outputSchema).toBeUndefined();
  });
});

describe("dialects", () => {
  it("of 3.0: nullable, exclusive bounds, example", async () => {
    const { A } = await toolsWith({
      A: {
        type: "object",
        properties: {
          s: { type: "string", nullable: true, enum: ["a"] },
          r: { nullable: true, allOf: [ref("B")], description: "d" },
          n: { type: "integer", minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false, example: 5 },
          f: { type: "file" },
          w: { type: "any", required: true, "x-foo": 1, xml: {} },
        },
      },
      B: { type: "object" },
    });
    expect(propertiesOf(A)).toEqual({
      s: { type: ["string", "null"], enum: ["a", null] },
      r: { description: "d", anyOf: [{ allOf: [{ $ref: "#/$defs/B" }] }, { type: "null" }] },
      n: { type: "integer", minimum: 0, maximum: 9, exclusiveMinimum: 0, examples: [5] },
      f: { type: "string", format: "binary" },
      w: {},
    });
    expect(await admits(A, { s: null, r: null })).toBe(true);
  });

  it("of 3.1: type lists, const, siblings of references, booleans", async () => {
    const { A } = await toolsWith(
      {
        A: {
          type: "object",
          properties: {
            s: { type: ["string", "null"] },
            k: { const: "x" },
            r: { ...ref("B"), description: "d" },
            t: { type: "array", prefixItems: [{ type: "string" }], items: false },
            y: true,
          },
        },
        B: { type: ["object"] },
      },
      "3.1.0",
    );
    expect(propertiesOf(A)).toEqual({
      s: { type: ["string", "null"] },
      k: { const: "x" },
      r: { description: "d", $ref: "#/$defs/B" },
      t: { type: "array", prefixItems: [{ type: "string" }], items: false },
      y: true,
    });
  });

  it("keep properties that are named like keywords", async () => {
    const properties = {
      nullable: { type: "boolean" },
      example: { type: "string" },
      $ref: { type: "string" },
      oneOf: {},
    };
    const { A } = await toolsWith({ A: { type: "object", properties } });
    expect(propertiesOf(A)).toEqual(properties);
  });
});

describe("alternatives", () => {
  it("that overlap admit what fits two of them", async () => {
    const { A } = await toolsWith({
      A: { type: "object", properties: { v: { oneOf: [{ type: "number" }, { type: "integer" }] } } },
    });
    expect(await admits(A, { v: 1 })).toBe(true);
    expect(await admits(A, { v: "x" })).toBe(false);
  });

  const kinds = {
    Cat: { type: "object", properties: { kind: { type: "string" }, purrs: { type: "boolean" } }, required: ["kind"] },
    Dog: { type: "object", properties: { kind: { type: "string" }, barks: { type: "boolean" } } },
  };

  it("with a discriminator say the value of each kind", async () => {
    const { Pet } = await toolsWith({
      ...kinds,
      Pet: {
        oneOf: [ref("Cat"), ref("Dog")],
        discriminator: { propertyName: "kind", mapping: { cat: "#/components/schemas/Cat", dog: "Dog", hound: "Dog" } },
      },
    });
    expect(signature(Pet as Tool)).toMatch(/kind: "cat"/);
    expect(await admits(Pet, { body: { kind: "hound", barks: true } })).toBe(true);
    expect(await admits(Pet, { body: { kind: "bird" } })).toBe(false);
  });

  it("of a parent with a discriminator are its kinds, and the kinds still have their parent", async () => {
    const parent = {
      type: "object",
      properties: { kind: { type: "string" } },
      required: ["kind"],
      discriminator: { propertyName: "kind", mapping: { cat: "Cat" } },
    };
    const { Box } = await toolsWith({
      Parent: parent,
      Cat: { allOf: [ref("Parent"), { type: "object", properties: { lives: { type: "integer" } } }] },
      Box: { type: "object", properties: { pet: ref("Parent") } },
    });
    expect(await admits(Box, { pet: { kind: "cat", lives: 9 } })).toBe(true);
    expect(await admits(Box, { pet: { kind: "cat", lives: "nine" } })).toBe(false);
  });
});

describe("outputs", () => {
  const output = async (responses: object): Promise<unknown> => {
    const { tools } = await openApiSource(documentOf({ responses })).load();
    return tools[0]?.outputSchema;
  };
  const answer = (schema: object, type = "application/json") => ({ content: { [type]: { schema } } });

  it("are the first 2xx response in JSON", async () => {
    expect(
      await output({ 404: answer({ type: "object" }), 201: answer({ type: "object", title: "b" }), 200: {} }),
    ).toEqual({
      type: "object",
      title: "b",
    });
    expect(await output({ "2XX": answer({ type: "object" }, "application/problem+json") })).toEqual({ type: "object" });
    expect(
      await output({ 200: answer({ type: "string" }, "text/plain"), default: answer({ type: "object" }) }),
    ).toBeUndefined();
    expect(await output({ 204: { description: "gone" } })).toBeUndefined();
    expect(await output({ 200: answer({}) })).toBeUndefined();
  });

  it("that are no object are wrapped as result", async () => {
    for (const schema of [{ type: "array" }, { type: "string" }, { anyOf: [{ type: "object" }, { type: "array" }] }]) {
      expect(await output({ 200: answer(schema) })).toEqual({
        type: "object",
        properties: { result: schema },
        required: ["result"],
      });
    }
    expect(await output({ 200: answer({ allOf: [{ properties: { a: {} } }] }) })).toMatchObject({ type: "object" });
  });
});
