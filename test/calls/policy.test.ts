import { describe, expect, it } from "vitest";
import { policies } from "../../src/calls/policies.js";
import type { CallInfo, CallPolicy } from "../../src/calls/policy.js";
import { fakeSource } from "../../src/testing.js";
import { runCalls, thrownBy } from "./run-calls.js";

const SCHEMA = { type: "object" as const, properties: { id: { type: "number" }, opts: { type: "object" } } };
const deleteDoc = {
  inputSchema: SCHEMA,
  annotations: { destructiveHint: true },
  _meta: { "mcp-codemode/tags": ["danger"] },
  handler: (args: Record<string, unknown>) => args,
};

describe("a policy", () => {
  it("gets the tool, the arguments as they will be sent, and the caller", async () => {
    const seen: CallInfo[] = [];
    const policy: CallPolicy = (call) => (seen.push(call), { action: "allow" });
    const source = fakeSource({ delete_doc: deleteDoc }, { name: "docs" });
    await runCalls(source, { policy, callerId: "ada", defaultArguments: { id: 7 } }).callTool("delete_doc", {
      opts: "{}",
    });
    expect(seen).toEqual([
      {
        name: "delete_doc",
        server: "docs",
        tags: ["danger"],
        arguments: { opts: {}, id: 7 },
        annotations: { destructiveHint: true },
        via: "script",
        callerId: "ada",
      },
    ]);
  });

  it("that denies: the tool does not run, the error is of kind approval, and the run goes on", async () => {
    const source = fakeSource({ delete_doc: deleteDoc, read: () => "r" });
    const calls = runCalls(source, { policy: policies.denyDestructive });
    const error = await thrownBy(calls.callTool("delete_doc", { id: 1 }));
    expect(error.kind).toBe("approval");
    expect(error.message).toMatch(/^call_tool\('delete_doc'\) failed: not allowed/);
    expect(await calls.callTool("read")).toBe("r");
    expect(source.calls.map(({ name }) => name)).toEqual(["read"]);
  });

  it("may edit the arguments, which are coerced and checked again", async () => {
    const edits: Record<string, unknown>[] = [{ id: 2, opts: '{"a":1}' }, { id: "two" }];
    const policy: CallPolicy = () => ({ action: "allow", arguments: edits.shift() ?? {} });
    const calls = runCalls(fakeSource({ delete_doc: deleteDoc }), { policy });
    expect(await calls.callTool("delete_doc", { id: 1 })).toEqual({ id: 2, opts: { a: 1 } });
    expect(await thrownBy(calls.callTool("delete_doc", { id: 1 }))).toMatchObject({
      kind: "validation",
      message: expect.stringContaining("id: expected number, got string") as string,
    });
  });

  it.each<[string, unknown]>([
    [
      "throws",
      () => {
        throw new Error("db password");
      },
    ],
    ["rejects", () => Promise.reject(new Error("db password"))],
    ["answers with nothing", () => undefined],
    ["answers with an unknown action", () => ({ action: "maybe" })],
    ["answers true", () => true],
    ["edits with a list", () => ({ action: "allow", arguments: [] })],
  ])("that %s denies", async (_what, policy) => {
    const source = fakeSource({ delete_doc: deleteDoc });
    const error = await thrownBy(runCalls(source, { policy: policy as CallPolicy }).callTool("delete_doc", {}));
    expect(error.kind).toBe("approval");
    expect(error.message).not.toContain("password");
    expect(source.calls).toEqual([]);
  });

  it("is not asked about arguments that are refused anyway", async () => {
    let asked = 0;
    const policy: CallPolicy = () => (asked++, { action: "allow" });
    await thrownBy(runCalls(fakeSource({ delete_doc: deleteDoc }), { policy }).callTool("delete_doc", { id: "x" }));
    expect(asked).toBe(0);
  });
});

describe("ready policies", () => {
  const call = (part: Partial<CallInfo>): CallInfo => ({
    name: "t",
    tags: [],
    arguments: {},
    annotations: undefined,
    via: "script",
    ...part,
  });
  const action = async (policy: CallPolicy, part: Partial<CallInfo>): Promise<string> =>
    (await policy(call(part))).action;

  it("readOnly lets through only what says that it changes nothing", async () => {
    expect(await action(policies.readOnly, { annotations: { readOnlyHint: true } })).toBe("allow");
    expect(await action(policies.readOnly, { annotations: {} })).toBe("deny");
    expect(await action(policies.readOnly, {})).toBe("deny");
  });

  it("denyDestructive stops what says that it destroys", async () => {
    expect(await action(policies.denyDestructive, { annotations: { destructiveHint: true } })).toBe("deny");
    expect(await action(policies.denyDestructive, {})).toBe("allow");
  });

  it("byName takes exact names, and deny wins", async () => {
    const policy = policies.byName({ allow: ["a", "b"], deny: ["b"] });
    expect(await Promise.all(["a", "b", "c", "A"].map((name) => action(policy, { name })))).toEqual([
      "allow",
      "deny",
      "deny",
      "deny",
    ]);
    expect(await action(policies.byName({ deny: ["b"] }), { name: "constructor" })).toBe("allow");
  });

  it("byTags takes any tag, and deny wins", async () => {
    const policy = policies.byTags({ allow: ["read"], deny: ["secret"] });
    expect(await action(policy, { tags: ["read", "x"] })).toBe("allow");
    expect(await action(policy, { tags: ["read", "secret"] })).toBe("deny");
    expect(await action(policy, { tags: [] })).toBe("deny");
  });
});
