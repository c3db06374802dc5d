import { describe, expect, it } from "vitest";
import { fakeSource } from "../../src/testing.js";
import { runCalls, thrownBy, type Setup } from "./run-calls.js";

const EDIT = {
  type: "object" as const,
  properties: {
    fields: { type: "object" },
    rows: { anyOf: [{ $ref: "#/$defs/rows" }, { type: "null" }] },
    note: { type: "string" },
    either: { type: ["string", "array"] },
    api_key: { type: "string" },
  },
  $defs: { rows: { type: "array", items: {} } },
};

/** The arguments that reached the tool. */
async function received(args: unknown, setup: Setup = {}, inputSchema: object = EDIT): Promise<unknown> {
  const source = fakeSource({ edit: { inputSchema: inputSchema as typeof EDIT, handler: () => "ok" } });
  await runCalls(source, setup).callTool("edit", args);
  return source.calls[0]?.args;
}

describe("the shape of arguments", () => {
  it.each([[undefined], [null], [{}]])("%o is an empty object", async (given) => {
    expect(await received(given)).toEqual({});
  });

  it.each([[[1]], ["x"], [5], [true]])("%o is refused: pass one object", async (given) => {
    const source = fakeSource({ edit: { inputSchema: EDIT, handler: () => "ok" } });
    const error = await thrownBy(runCalls(source).callTool("edit", given));
    expect(error.kind).toBe("validation");
    expect(error.message).toMatch(/pass one object.*fields \(object\)/);
    expect(source.calls).toEqual([]);
  });

  it("a further positional argument is refused, not dropped", async () => {
    const calls = runCalls(fakeSource({ edit: () => "ok" }));
    expect(await thrownBy(calls.callTool("edit", { a: 1 }, { b: 2 }))).toMatchObject({ kind: "validation" });
  });

  it("what JSON cannot hold becomes what it reads as", async () => {
    const given = { fields: { n: 1n, d: new Date(0), f() {}, b: new Uint8Array([1]), x: Number.NaN } };
    expect(await received(given)).toEqual({
      fields: { n: "1", d: "1970-01-01T00:00:00.000Z", b: "AQ==", x: "NaN" },
    });
  });

  it("what contains itself is refused", async () => {
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;
    const calls = runCalls(fakeSource({ edit: () => "ok" }));
    expect(await thrownBy(calls.callTool("edit", cycle))).toMatchObject({
      kind: "validation",
      message: expect.stringContaining("cycle") as string,
    });
  });

  it("a key __proto__ stays a key and sets no prototype", async () => {
    const given: unknown = JSON.parse('{"__proto__": {"polluted": 1}, "fields": {"__proto__": {"polluted": 2}}}');
    const args = (await received(given)) as { fields: object };
    expect((args as { polluted?: unknown }).polluted).toBeUndefined();
    expect(Object.getPrototypeOf(args)).toBe(Object.prototype);
    expect(Object.hasOwn(args, "__proto__")).toBe(true);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

describe("JSON text", () => {
  it("is parsed for a parameter that is an object or an array, and only there", async () => {
    const text = '{"keep":"as text"}';
    const given = { fields: '{"summary":"s"}', rows: " [1]", note: text, either: "[1]" };
    expect(await received(given)).toEqual({ fields: { summary: "s" }, rows: [1], note: text, either: "[1]" });
  });

  it.each(["not json", "[1]", "5", "{"])("%s given for an object is a fault that says so", async (fields) => {
    const calls = runCalls(fakeSource({ edit: { inputSchema: EDIT, handler: () => "ok" } }));
    const { kind, message } = await thrownBy(calls.callTool("edit", { fields }));
    expect(kind).toBe("validation");
    expect(message).toContain("fields: expected object, got string");
  });
});

describe("62: default arguments", () => {
  it("fill what the script did not give, where the tool lists the parameter", async () => {
    const defaultArguments = { api_key: "k", other: 1 };
    expect(await received({ note: "n" }, { defaultArguments })).toEqual({ note: "n", api_key: "k" });
  });

  it.each([null, 0, false, ""])("do not replace an explicit %o", async (given) => {
    const schema = { type: "object", properties: { page: {} } };
    expect(await received({ page: given }, { defaultArguments: { page: 7 } }, schema)).toEqual({ page: given });
  });

  it("do not reach a tool that does not accept them", async () => {
    const schema = { type: "object", properties: { x: { type: "string" } }, additionalProperties: false };
    expect(await received({ x: "b" }, { defaultArguments: { uid: "u-1" } }, schema)).toEqual({ x: "b" });
  });

  it("reach a tool whose schema says nothing", async () => {
    expect(await received({}, { defaultArguments: { workspace: "w1" } }, { type: "object" })).toEqual({
      workspace: "w1",
    });
  });

  it("are copied for every call, so that no handler changes them", async () => {
    const defaultArguments = { fields: { page: 1 } };
    const source = fakeSource({
      edit: {
        inputSchema: EDIT,
        handler: (args) => {
          (args["fields"] as { page: number }).page++;
          return args;
        },
      },
    });
    const calls = runCalls(source, { defaultArguments });
    await calls.callTool("edit");
    expect(await calls.callTool("edit")).toEqual({ fields: { page: 2 } });
    expect(defaultArguments).toEqual({ fields: { page: 1 } });
  });
});

describe("argumentsFor", () => {
  const secret: Setup = {
    defaultArguments: { api_key: "sk-test-000111" },
    argumentsFor: () => ({ hidden: ["api_key"] }),
  };

  it("hides a parameter: the host's value wins over the script's", async () => {
    expect(await received({ note: "n", api_key: "mine" }, secret)).toEqual({ note: "n", api_key: "sk-test-000111" });
  });

  it("hides one without a value: the script cannot give it", async () => {
    expect(await received({ api_key: "mine" }, { argumentsFor: () => ({ hidden: ["api_key"] }) })).toEqual({});
  });

  it("shows neither the name nor the value in an error, even when the tool quotes it", async () => {
    const source = fakeSource({
      edit: {
        inputSchema: EDIT,
        handler: ({ api_key }) => {
          throw new Error(`bad key ${String(api_key)}`);
        },
      },
    });
    const calls = runCalls(source, secret);
    expect((await thrownBy(calls.callTool("edit", { fields: "x" }))).message).not.toMatch(/sk-test|api_key/);
    expect((await thrownBy(calls.callTool("edit"))).message).toBe("call_tool('edit') failed: bad key [hidden]");
  });

  it("has defaults of its own for one tool, over the general ones", async () => {
    const setup: Setup = {
      defaultArguments: { note: "general" },
      argumentsFor: ({ name }) => (name === "edit" ? { defaults: { note: "own" } } : undefined),
    };
    expect(await received({}, setup)).toEqual({ note: "own" });
  });
});
