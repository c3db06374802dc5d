import { describe, expect, it } from "vitest";
import { withObjectSchema } from "../../src/catalog/input-schema.js";
import type { Tool } from "../../src/catalog/tool.js";

const tool = (inputSchema: unknown): Tool => ({ name: "t", inputSchema }) as Tool;

describe("the input schema of a listed tool", () => {
  it("stays the same object when it is one for objects", () => {
    const listed = tool({ type: "object", properties: { a: { type: "string" } } });
    expect(withObjectSchema(listed).tool).toBe(listed);
  });

  it.each([null, undefined, true, "text", [], 3])("is one without parameters where the server gave %j", (given) => {
    expect(withObjectSchema(tool(given))).toEqual({ tool: tool({ type: "object" }) });
  });

  it("gets the type that it left out", () => {
    expect(withObjectSchema(tool({ properties: { a: {} } })).tool.inputSchema).toEqual({
      type: "object",
      properties: { a: {} },
    });
  });

  it("is named as a problem when it is for something else than an object", () => {
    const { tool: made, problem } = withObjectSchema(tool({ type: "string" }));
    expect(made.inputSchema).toEqual({ type: "object" });
    expect(problem).toContain('Tool "t" has an inputSchema of type "string"');
  });
});
