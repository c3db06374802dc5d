import { createMcpHandler, InMemoryTransport as InMemoryV2 } from "@modelcontextprotocol/server";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { createServer } from "@modelcontextprotocol/server-everything/dist/server/index.js";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { codeMode } from "../../src/code-mode.js";
import { attach } from "../../src/mcp/attach.js";
import { expectedReply, replyOf } from "./same-call/in-script.js";
import { SERVERS, SINK_CASES, slow } from "./same-call/kitchen-sink.js";
import { record, relaySurface, type Recorded } from "./same-call/recorder.js";
import { type Exchange, HttpClient, MemoryClient, type Message, type Wire, type WireClient } from "./same-call/wire.js";

/** The three ways to one tool: without code mode, by a source, by a script. */
const WAYS = ["direct", "source", "script"] as const;
type Way = (typeof WAYS)[number];

interface Call {
  name: string;
  args: Record<string, unknown>;
}

/** Everything that one call did. */
interface Seen extends Exchange {
  records: Recorded[];
}

interface Server {
  connect(wire: never): Promise<void>;
  server?: object;
}

const authInfo = { token: "secret", clientId: "me", scopes: ["s"], extra: { sub: "ada" } };
const requestInfo = { headers: { "x-tenant": "t1" } };
const limits = { maxResultBytes: null, maxToolCalls: null };

/** Puts what a way needs in front of a server. The recorder is below it. */
function prepare(server: Server, way: Way): Recorded[] {
  const records = record(server.server ?? server);
  if (way === "script") codeMode({ limits }).apply(server);
  if (way === "source") {
    const adapter = attach(server);
    adapter.install(relaySurface(adapter.source));
  }
  return records;
}

function request(way: Way, { name, args }: Call): Record<string, unknown> {
  if (way === "direct") return { name, arguments: args };
  if (way === "source") return { name: "relay", arguments: { name, args } };
  const code = `return await call_tool(${JSON.stringify(name)}, ${JSON.stringify(args)})`;
  return { name: "execute", arguments: { code } };
}

/** What an HTTP transport adds to each message. */
async function connectInMemory(server: Server, [near, far]: [Wire, Wire], sessionId: string): Promise<MemoryClient> {
  far.sessionId = sessionId;
  await server.connect(far as never);
  const deliver = far.onmessage as ((message: never, extra?: object) => void) | undefined;
  far.onmessage = (message, extra?: object) => deliver?.(message, { ...extra, authInfo, requestInfo });
  return MemoryClient.connect(near);
}

interface Peer {
  client: WireClient;
  records: Recorded[];
}

async function see({ client, records }: Peer, way: Way, call: Call): Promise<Seen> {
  records.length = 0;
  const exchange = await client.call(request(way, call));
  return { ...exchange, records: [...records] };
}

/** What is random in a message, or the session's own. */
function bytes(value: unknown, sessionId = ""): string {
  const text = JSON.stringify(value);
  const known = sessionId === "" ? text : text.replaceAll(sessionId, "SESSION");
  return known
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{32}\b/g, "ID")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME");
}

/**
 * Progress, logs and questions to the client. A server's own timers send other things at any time, and it numbers its
 * questions over all calls.
 */
const ofCall = ({ before }: Seen): Message[] =>
  before
    .filter(({ method }) => method !== "notifications/resources/list_changed")
    .map(({ id: _number, ...message }) => message);

/** Compares all that two ways have in common, byte by byte. */
function expectSame(direct: Seen, nested: Seen, sessions: [string, string] = ["", ""]): void {
  const [own, other] = sessions;
  expect(ofCall(nested).map((message) => bytes(message, other))).toEqual(
    ofCall(direct).map((message) => bytes(message, own)),
  );
  expect(nested.records.map((entry) => bytes(entry, other))).toEqual(direct.records.map((entry) => bytes(entry, own)));
}

const markOf = ({ answer }: Seen): unknown =>
  (answer.result?.["_meta"] as Record<string, unknown> | undefined)?.["mcp-codemode/run"];

const caseName = ({ name, args }: Call): string => `${name} ${JSON.stringify(args).slice(0, 60)}`;

// --- Every tool of a real server ----------------------------------------------------------------------------------------

const EVERYTHING: Call[] = [
  { name: "echo", args: { message: "hello" } },
  { name: "echo", args: {} },
  { name: "get-annotated-message", args: { messageType: "error" } },
  { name: "get-annotated-message", args: { messageType: "success", includeImage: true } },
  { name: "get-annotated-message", args: { messageType: "unheard of" } },
  { name: "get-env", args: {} },
  { name: "get-resource-links", args: { count: 4 } },
  { name: "get-resource-reference", args: {} },
  { name: "get-resource-reference", args: { resourceType: "Blob", resourceId: 3 } },
  { name: "get-resource-reference", args: { resourceId: -1 } },
  { name: "get-structured-content", args: { location: "Chicago" } },
  { name: "get-structured-content", args: { location: "Atlantis" } },
  { name: "get-sum", args: { a: 1, b: 2.5 } },
  { name: "get-tiny-image", args: {} },
  { name: "gzip-file-as-resource", args: { name: "a.gz", data: "data:text/plain,hello", outputType: "resource" } },
  { name: "gzip-file-as-resource", args: { name: "b.gz", data: "data:text/plain,hello" } },
  { name: "gzip-file-as-resource", args: { name: "c.gz", data: "ftp://x.test/a" } },
  // Twice: on and off again.
  { name: "toggle-simulated-logging", args: {} },
  { name: "toggle-simulated-logging", args: {} },
  { name: "toggle-subscriber-updates", args: {} },
  { name: "toggle-subscriber-updates", args: {} },
  { name: "trigger-long-running-operation", args: { duration: 0.06, steps: 3 } },
  { name: "get-roots-list", args: {} },
  { name: "trigger-elicitation-request", args: {} },
  { name: "trigger-elicitation-request-async", args: {} },
  { name: "trigger-sampling-request", args: { prompt: "hi", maxTokens: 5 } },
  { name: "trigger-sampling-request-async", args: { prompt: "hi", maxTokens: 5 } },
  // The error that sends the user to a page, then the retry after it.
  { name: "trigger-url-elicitation", args: { url: "https://x.test/", errorPath: true } },
  { name: "trigger-url-elicitation", args: { url: "https://x.test/", errorPath: true } },
  { name: "no-such-tool", args: {} },
];
/** Demands a task: a direct call creates one, asks for its result, and hears of its status meanwhile. */
const AS_TASK: Call = { name: "simulate-research-query", args: { topic: "python", ambiguous: true } };

describe("a nested call of a tool of server-everything is the direct call", () => {
  const seen = new Map<Way, { calls: Seen[]; task: Message; taskBefore: Message[]; names: string[] }>();
  const sessionOf = (way: Way): string => `session-of-${way}`;
  const closing: (() => unknown)[] = [];

  async function walk(way: Way): Promise<void> {
    const { server, cleanup } = createServer() as { server: Server; cleanup: (sessionId: string) => void };
    const records = prepare(server, way);
    const client = await connectInMemory(server, InMemoryTransport.createLinkedPair() as never, sessionOf(way));
    closing.push(
      () => client.close(),
      () => cleanup(sessionOf(way)),
    );
    // The server reads the client's roots a while after it has connected.
    await client.heard(({ params }) => JSON.stringify(params ?? null).includes("Roots updated"));
    const calls: Seen[] = [];
    for (const call of EVERYTHING) calls.push(await see({ client, records }, way, call));
    const { result: list = {} } = await client.request("tools/list", {});
    const names = (list["tools"] as { name: string }[]).map(({ name }) => name);
    const taskBefore: Message[] = [];
    void client.heard((message) => void taskBefore.push(message) as never);
    const task = way === "direct" ? await runAsTask(client) : (await client.call(request(way, AS_TASK))).answer;
    seen.set(way, { calls, task, taskBefore, names });
  }

  async function runAsTask(client: MemoryClient): Promise<Message> {
    const { result: created = {} } = await client.request("tools/call", { ...request("direct", AS_TASK), task: {} });
    const { taskId } = created["task"] as { taskId: string };
    return client.request("tasks/result", { taskId });
  }

  beforeAll(async () => {
    // Random levels of logs, and the time of day in resources.
    vi.spyOn(Math, "random").mockReturnValue(0.4);
    vi.spyOn(Date.prototype, "toLocaleTimeString").mockReturnValue("12:00:00");
    await Promise.all(WAYS.map(walk));
  }, 60_000);
  afterAll(async () => {
    vi.restoreAllMocks();
    for (const close of closing) await close();
  });

  const at = (way: Way, index: number): Seen => seen.get(way)?.calls[index] as Seen;
  const cases = EVERYTHING.map((call, index) => ({ title: caseName(call), name: call.name, index }));

  it("covers every tool that the server lists", () => {
    const called = new Set([...EVERYTHING, AS_TASK].map(({ name }) => name));
    expect(seen.get("direct")?.names.filter((name) => !called.has(name))).toEqual([]);
    expect(seen.get("direct")?.names.length).toBeGreaterThan(17);
  });
  it.each(cases)("$title, by a source: every byte on the wire", ({ index }) => {
    const [direct, nested] = [at("direct", index), at("source", index)];
    expectSame(direct, nested, [sessionOf("direct"), sessionOf("source")]);
    expect(bytes(nested.answer, sessionOf("source"))).toBe(bytes(direct.answer, sessionOf("direct")));
  });
  it.each(cases.filter(({ name }) => name !== "no-such-tool"))("$title, by a script", ({ name, index }) => {
    const [direct, nested] = [at("direct", index), at("script", index)];
    expectSame(direct, nested, [sessionOf("direct"), sessionOf("script")]);
    expect(bytes(replyOf(nested.answer), sessionOf("script"))).toBe(
      bytes(expectedReply(name, direct.answer), sessionOf("direct")),
    );
  });
  it("reaches no tool of no name by a script", () => {
    const index = EVERYTHING.findIndex(({ name }) => name === "no-such-tool");
    expect(at("script", index).records).toEqual([]);
    expect(replyOf(at("script", index).answer).result).toMatchObject({ isError: true });
  });
  it("a tool that demands a task gives its result, and asks the user the same", () => {
    const [direct, source, script] = WAYS.map((way) => seen.get(way));
    expect(bytes(source?.task.result)).toBe(bytes(direct?.task.result));
    expect(replyOf(script?.task ?? {})).toEqual(expectedReply(AS_TASK.name, direct?.task ?? {}));
    const asked = (messages: Message[] = []) =>
      messages.filter(({ method }) => method === "elicitation/create").map(({ params }) => bytes(params));
    expect(asked(direct?.taskBefore)).toHaveLength(1);
    expect(asked(source?.taskBefore)).toEqual(asked(direct?.taskBefore));
    expect(asked(script?.taskBefore)).toEqual(asked(direct?.taskBefore));
  });
});

// --- Everything a call can carry, on every kind of server ---------------------------------------------------------------

type ServerKind = keyof typeof SERVERS;
const PEERS: { title: string; kind: ServerKind; modern: boolean }[] = [
  { title: "SDK 1, McpServer", kind: "SDK 1, McpServer", modern: false },
  { title: "SDK 1, Server", kind: "SDK 1, Server", modern: false },
  { title: "SDK 2, McpServer, 2025-11-25", kind: "SDK 2, McpServer", modern: false },
  { title: "SDK 2, Server, 2025-11-25", kind: "SDK 2, Server", modern: false },
  { title: "SDK 2, McpServer, 2026-07-28", kind: "SDK 2, McpServer", modern: true },
  { title: "SDK 2, Server, 2026-07-28", kind: "SDK 2, Server", modern: true },
];

async function connectSink(kind: ServerKind, modern: boolean, way: Way): Promise<Peer> {
  if (!modern) {
    const server = SERVERS[kind]() as unknown as Server;
    const records = prepare(server, way);
    const pair = kind.startsWith("SDK 1") ? InMemoryTransport.createLinkedPair() : InMemoryV2.createLinkedPair();
    return { client: await connectInMemory(server, pair as never, "the-session"), records };
  }
  // A server for each request.
  const records: Recorded[] = [];
  const handler = createMcpHandler(
    () => {
      const server = SERVERS[kind]();
      const own = prepare(server as never, way);
      own.push = (...entries) => records.push(...entries);
      return server as never;
    },
    { onerror: () => {} },
  );
  return { client: new HttpClient((incoming) => handler.fetch(incoming, { authInfo })), records };
}

describe.each(PEERS)("a nested call is the direct call on $title", ({ kind, modern }) => {
  const peers = {} as Record<Way, Peer>;
  beforeAll(async () => {
    for (const way of WAYS) peers[way] = await connectSink(kind, modern, way);
  });
  afterAll(async () => {
    for (const way of WAYS) await peers[way].client.close();
  });

  /** Nobody but us checks the arguments for a low-level server: what does not fit does not reach it from a script. */
  const isRefused = ({ name, args }: Call): boolean =>
    kind.endsWith(", Server") && name === "defaults" && (typeof args["a"] !== "number" || args["b"] === null);

  const titled = (calls: readonly Call[]) => calls.map((call) => ({ title: caseName(call), call }));

  it.each(titled(SINK_CASES))("$title, by a source: every byte on the wire", async ({ call }) => {
    const [direct, source] = [await see(peers.direct, "direct", call), await see(peers.source, "source", call)];
    expectSame(direct, source);
    expect(JSON.stringify(source.answer)).toBe(JSON.stringify(direct.answer));
  });
  it.each(titled(SINK_CASES.filter((call) => !isRefused(call))))("$title, by a script", async ({ call }) => {
    const [direct, script] = [await see(peers.direct, "direct", call), await see(peers.script, "script", call)];
    expectSame(direct, script);
    expect(replyOf(script.answer)).toEqual(expectedReply(call.name, direct.answer));
  });
  it.each(titled(SINK_CASES.filter(isRefused)))(
    "$title, by a script, is refused before the server",
    async ({ call }) => {
      const script = await see(peers.script, "script", call);
      expect(script.records).toEqual([]);
      expect(markOf(script)).toMatchObject({ kind: "validation" });
    },
  );
  it.each(["source", "script"] as const)("slow, cancelled by the client, by a %s", async (nestedWay) => {
    const ends: string[] = [];
    for (const way of ["direct", nestedWay] as const) {
      const controller = new AbortController();
      slow.started = () => setImmediate(() => controller.abort("enough"));
      const ended = new Promise((resolve) => (slow.ended = resolve));
      await peers[way].client.call(request(way, { name: "slow", args: {} }), { signal: controller.signal });
      ends.push(String(await ended));
    }
    expect(ends[1]).toBe(ends[0]);
  });
});
