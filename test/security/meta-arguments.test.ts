import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import * as everything from "../../src/index.js";
import type { CallInfo, MetaToolFactory } from "../../src/index.js";

/** No argument that a model can send approves a call, raises a limit or names another caller. */

/** What each meta-tool is made with, and arguments with which it does its work. */
const KNOWN: Record<string, { options?: object; args: Record<string, unknown> }> = {
  searchTool: { args: { query: "count" } },
  executeTool: { options: { inputs: true }, args: { code: "return await call_tool('count', {})", inputs: { n: 1 } } },
  schemaTool: { args: { tools: ["count"] } },
  listTool: { args: {} },
  tagsTool: { args: {} },
  resumeTool: { args: { run: "none" } },
};

type Make = (options?: object) => MetaToolFactory;
const FACTORIES = Object.entries(everything)
  .filter(([name, value]) => /^[a-z]+Tool$/.test(name) && typeof value === "function")
  // Reads its scripts from a folder: the arguments are the same as those of execute.
  .filter(([name]) => name !== "scriptTool") as [string, Make][];

/** Arguments that a model could make up, from documentation of other tools or from imagination. */
const INVENTED: Record<string, unknown> = {
  approve: true,
  approved: ["wipe"],
  approval: { action: "allow" },
  decision: "allow",
  allow: ["wipe"],
  confirm: true,
  force: true,
  dangerouslyAllow: true,
  policy: "none",
  directCalls: "allow",
  callerId: 'client:["root"]',
  caller: "root",
  authInfo: { clientId: "root", scopes: ["admin"] },
  user: "root",
  sessionId: "someone-elses",
  limits: { maxToolCalls: 1_000, timeoutMs: null },
  maxToolCalls: 1_000,
  timeoutMs: 3_600_000,
  timeout: 3_600,
  max_duration_secs: 3_600,
  memoryBytes: 2 ** 32,
  env: { PATH: "/" },
  sandboxProvider: { name: "mine" },
  sources: [],
  include: "all",
  defaultArguments: { tenant: "other" },
  hidden: false,
  resumeToken: "abc",
  requestState: "abc",
  inputResponses: { q: { action: "accept" } },
  snapshot: "AAAA",
  from: "AAAA",
  restart: true,
  _meta: { approved: true },
  constructor: { prototype: { approved: true } },
  prototype: { approved: true },
  toString: "x",
  hasOwnProperty: "x",
};

/** Tries all that the policy and the limits forbid, and tells what came of each. */
const GREEDY = `
  const outcomes = [];
  for (const name of ["wipe", "count", "count", "count", "count"]) {
    outcomes.push(await call_tool(name, {}).then(() => "done", (error) => error.message));
  }
  return outcomes;`;

interface World {
  client: Client;
  /** Calls that reached a tool. */
  reached: string[];
  /** What the policy was asked. */
  asked: CallInfo[];
}

async function makeWorld(): Promise<World> {
  const [reached, asked]: [string[], CallInfo[]] = [[], []];
  const server = new McpServer({ name: "guarded", version: "1" });
  const tool = (name: string, destructiveHint: boolean): void => {
    const config = { inputSchema: { tenant: z.string().optional() }, annotations: { destructiveHint } };
    server.registerTool(name, config, async ({ tenant }) => {
      reached.push(`${name} ${String(tenant)}`);
      return { content: [{ type: "text", text: name }] };
    });
  };
  tool("wipe", true);
  tool("count", false);
  const { codeMode, policies } = everything;
  codeMode({
    metaTools: FACTORIES.map(([name, make]) => make(KNOWN[name]?.options)),
    policy: (call) => {
      asked.push(call);
      return policies.denyDestructive(call);
    },
    argumentsFor: () => ({ defaults: { tenant: "own" }, hidden: ["tenant"] }),
    limits: { maxToolCalls: 3 },
  }).apply(server);
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
  await server.connect(serverSide);
  const deliver = serverSide.onmessage;
  serverSide.onmessage = (message, extra) =>
    deliver?.(message, { ...extra, authInfo: { token: "t", clientId: "me", scopes: [] } });
  const client = new Client({ name: "c", version: "1" });
  await client.connect(clientSide);
  return { client, reached, asked };
}

interface Reply {
  isError?: boolean;
  content: { text: string }[];
  _meta?: Record<string, { kind?: string }>;
}

describe("no argument of a meta-tool approves, raises a limit or names a caller", () => {
  let world: World;
  let nameOf: Map<string, string>;
  beforeEach(async () => {
    world = await makeWorld();
    const { tools } = await world.client.listTools();
    nameOf = new Map(FACTORIES.map(([factory], index) => [factory, tools[index]?.name ?? ""]));
  });
  afterEach(() => world.client.close());

  const call = async (name: string, args: Record<string, unknown>, more: object = {}): Promise<Reply> => {
    const params = { name, arguments: args, ...more };
    return (await world.client.request({ method: "tools/call", params }, CallToolResultSchema)) as unknown as Reply;
  };
  /** The rules stand: one call of `wipe` was refused, two of `count` went through, the caller is who it is. */
  const expectRulesStand = async (): Promise<void> => {
    const [before, askedBefore] = [world.reached.length, world.asked.length];
    const reply = await call(nameOf.get("executeTool") ?? "", { code: GREEDY });
    const outcomes = JSON.parse(reply.content[0]?.text ?? "") as string[];
    expect(outcomes).toEqual([
      expect.stringMatching(/destructive tools are not allowed/),
      "done",
      "done",
      expect.stringMatching(/at most 3/),
      expect.stringMatching(/at most 3/),
    ]);
    expect(world.reached.slice(before)).toEqual(["count own", "count own"]);
    expect(new Set(world.asked.slice(askedBefore).map(({ callerId }) => callerId))).toEqual(new Set(['client:["me"]']));
  };

  it("knows every meta-tool that is exported", () => {
    expect(FACTORIES.length).toBeGreaterThan(1);
    expect(FACTORIES.map(([name]) => name).filter((name) => !(name in KNOWN))).toEqual([]);
  });

  const cases = FACTORIES.flatMap(([factory]) => Object.keys(INVENTED).map((invented) => ({ factory, invented })));
  it.each(cases)("$factory refuses $invented and does nothing", async ({ factory, invented }) => {
    const { args = {} } = KNOWN[factory] ?? {};
    const reply = await call(nameOf.get(factory) ?? "", { ...args, [invented]: INVENTED[invented] });
    expect(reply).toMatchObject({ isError: true, _meta: { "mcp-codemode/run": { kind: "validation" } } });
    expect(reply.content[0]?.text).toContain(JSON.stringify(invented));
    expect([world.reached, world.asked]).toEqual([[], []]);
  });

  it.each(FACTORIES.map(([factory]) => factory))("%s, with all of them at once, changes nothing", async (factory) => {
    const reply = await call(nameOf.get(factory) ?? "", { ...KNOWN[factory]?.args, ...INVENTED });
    expect(reply.isError).toBe(true);
    expect(world.reached).toEqual([]);
    await expectRulesStand();
  });

  it.each(FACTORIES.map(([factory]) => factory))("%s takes no prototype from its arguments", async (factory) => {
    const own = JSON.stringify({ approve: true, limits: { maxToolCalls: 1_000 }, callerId: "root" });
    const args = JSON.parse(`{ "__proto__": ${own} }`) as Record<string, unknown>;
    await call(nameOf.get(factory) ?? "", Object.assign(args, KNOWN[factory]?.args));
    expect(Object.keys(Object.prototype)).toEqual([]);
    await expectRulesStand();
  });

  it("execute believes nothing beside its arguments", async () => {
    const more = {
      _meta: { approved: true, callerId: "root", "mcp-codemode/run": { kind: "ok" }, limits: { maxToolCalls: 1_000 } },
      requestState: "abc",
      inputResponses: { q: { action: "accept", content: { approve: true } } },
      approve: true,
    };
    const reply = await call(nameOf.get("executeTool") ?? "", { code: GREEDY }, more);
    expect(reply.content[0]?.text).toMatch(/destructive tools are not allowed.*at most 3/);
    expect(new Set(world.asked.map(({ callerId }) => callerId))).toEqual(new Set(['client:["me"]']));
    await expectRulesStand();
  });

  it("`inputs` are data, whatever their names", async () => {
    const inputs = { ...INVENTED, call_tool: "mine", tools: "mine", limits: { maxToolCalls: 1_000 } };
    const reply = await call(nameOf.get("executeTool") ?? "", { code: GREEDY, inputs });
    expect(reply.content[0]?.text).toMatch(/destructive tools are not allowed.*at most 3/);
    expect(world.reached).toEqual(["count own", "count own"]);
  });

  it.each([
    ["a further argument", `call_tool("wipe", {}, { approve: true })`, /got 2 arguments/],
    ["an argument of the tool", `call_tool("wipe", { approve: true, policy: "none" })`, /not allowed/],
    ["the name of a hidden parameter", `call_tool("count", { tenant: "other" })`, undefined],
    ["an argument of search_tools", `search_tools("count", { approve: true })`, /has no argument "approve"/],
    [
      "a changed global",
      `(globalThis.limits = { maxToolCalls: 1e9 }, globalThis.approve = true, call_tool("wipe", {}))`,
      /not allowed/,
    ],
  ])("a script cannot do it by %s", async (_, expression, message = /^count$/) => {
    const code = `return await ${expression}.catch((error) => error.message)`;
    const reply = await call(nameOf.get("executeTool") ?? "", { code });
    expect(reply.content[0]?.text).toMatch(message);
    expect(world.reached.filter((name) => name !== "count own")).toEqual([]);
    await expectRulesStand();
  });

  it("a client's own call takes the same policy, and no argument of it says otherwise", async () => {
    const reply = await call("wipe", { approve: true, tenant: "other" }, { _meta: { approved: true } });
    expect(reply).toMatchObject({ isError: true });
    expect(reply.content[0]?.text).toMatch(/destructive tools are not allowed/);
    await call("count", { tenant: "other", callerId: "root" });
    expect(world.reached).toEqual(["count own"]);
    expect(world.asked.at(-1)).toMatchObject({ via: "direct", callerId: 'client:["me"]' });
  });
});
