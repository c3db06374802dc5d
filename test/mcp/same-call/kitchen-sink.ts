import { McpServer as McpServerV1 } from "@modelcontextprotocol/sdk/server/mcp.js";
import { Server as ServerV1 } from "@modelcontextprotocol/sdk/server/index.js";
import {
  CallToolRequestSchema,
  CreateMessageResultSchema,
  ElicitResultSchema,
  ListToolsRequestSchema,
  McpError,
  UrlElicitationRequiredError as UrlErrorV1,
} from "@modelcontextprotocol/sdk/types.js";
import {
  McpServer as McpServerV2,
  ProtocolError,
  Server as ServerV2,
  UrlElicitationRequiredError as UrlErrorV2,
} from "@modelcontextprotocol/server";
import { z } from "zod";

/** What a tool can do besides answering, whatever the SDK. */
export interface Reach {
  signal: AbortSignal;
  progress: (progress: number) => Promise<void>;
  log: (data: string) => Promise<void>;
  sample: () => Promise<string>;
  elicit: () => Promise<string>;
  protocolError: (code: number, message: string, data?: unknown) => Error;
  urlNeeded: () => Error;
}

interface SinkTool {
  input?: z.ZodObject;
  output?: z.ZodObject;
  run: (args: Record<string, unknown>, reach: Reach) => unknown;
  /** The arguments of each case. @default [{}] */
  cases?: Record<string, unknown>[];
}

const text = (value: string, more: object = {}) => ({ type: "text" as const, text: value, ...more });
const image = { type: "image" as const, data: "iVBORw0KGgo=", mimeType: "image/png" };
const audio = { type: "audio" as const, data: "UklGRg==", mimeType: "audio/wav" };
const blob = { type: "resource" as const, resource: { uri: "res://b", mimeType: "application/x", blob: "AAEC" } };
const readme = { type: "resource" as const, resource: { uri: "res://t", mimeType: "text/plain", text: "read me" } };
const link = {
  type: "resource_link" as const,
  uri: "res://l",
  name: "link",
  description: "A link",
  mimeType: "text/x",
};
const annotations = { audience: ["user" as const], priority: 0.5 };

/** Set by `slow` when it runs, and what it saw of its end. */
export const slow: { started: () => void; ended: ((reason: unknown) => void) | undefined } = {
  started: () => {},
  ended: undefined,
};

/** A tool for everything that a call can carry. */
export const SINK: Record<string, SinkTool> = {
  structured: {
    output: z.object({ n: z.number(), list: z.array(z.string()), nothing: z.null() }),
    run: () => ({
      content: [text("for people")],
      structuredContent: { n: -0.5, list: ["ü", "\u2028"], nothing: null },
    }),
  },
  structured_with_image: {
    output: z.object({ ok: z.boolean() }),
    run: () => ({ content: [image, text("x")], structuredContent: { ok: true }, _meta: { "x.test/cost": 3 } }),
  },
  wrong_output: { output: z.object({ n: z.number() }), run: () => ({ content: [], structuredContent: { n: "x" } }) },
  no_output: { output: z.object({ n: z.number() }), run: () => ({ content: [text("no structure")] }) },
  plain: { run: () => ({ content: [text('{"looks":"like JSON"}')] }) },
  nothing: { run: () => ({ content: [] }) },
  several: { run: () => ({ content: [text("one"), text("two\n"), text("")] }) },
  annotated: { run: () => ({ content: [text("for the user", { annotations, _meta: { a: 1 } })] }) },
  annotated_image: {
    run: () => ({ content: [text("with", { annotations }), { ...image, annotations, _meta: { b: 2 } }] }),
  },
  image: { run: () => ({ content: [image] }) },
  sound: { run: () => ({ content: [audio] }) },
  text_resource: { run: () => ({ content: [readme] }) },
  blob_resource: { run: () => ({ content: [blob] }) },
  linked: { run: () => ({ content: [link] }) },
  mixture: { run: () => ({ content: [text("first"), image, audio, link, readme, blob, text("last")] }) },
  marked: { run: () => ({ content: [text("x")], _meta: { "x.test/trace": ["a"] } }) },
  defaults: {
    input: z.object({ a: z.number(), b: z.number().default(5), c: z.string().optional() }),
    run: (args) => ({ content: [text(JSON.stringify(args))] }),
    cases: [{ a: 1 }, { a: 1, b: 2, c: "three" }, { a: 1, extra: true }, {}, { a: "one" }, { a: 1, b: null }],
  },
  steps: {
    run: async (_, { progress }) => {
      for (const step of [1, 2, 3]) await progress(step);
      return { content: [text("done")] };
    },
  },
  logs: {
    run: async (_, { log }) => {
      await log("one line");
      await log("another");
      return { content: [text("logged")] };
    },
  },
  samples: { run: async (_, { sample }) => ({ content: [text(await sample())] }) },
  asks: { run: async (_, { elicit }) => ({ content: [text(await elicit())] }) },
  throws: {
    run: () => {
      throw new Error("it broke\non two lines");
    },
  },
  throws_text: {
    run: () => {
      // oxlint-disable-next-line typescript/only-throw-error
      throw "only text";
    },
  },
  throws_protocol_error: {
    run: (_, { protocolError }) => {
      throw protocolError(-32001, "not found", { id: 7 });
    },
  },
  throws_url: {
    run: (_, { urlNeeded }) => {
      throw urlNeeded();
    },
  },
  fails: { run: () => ({ content: [text("no such row")], isError: true }) },
  fails_with_structure: { run: () => ({ content: [text("bad")], structuredContent: { code: 9 }, isError: true }) },
  slow: {
    run: (_, { signal }) =>
      new Promise((_resolve, reject) => {
        slow.started();
        signal.addEventListener("abort", () => {
          slow.ended?.(signal.reason);
          reject(new Error("aborted"));
        });
      }),
  },
};

/** Every case that ends by itself. */
export const SINK_CASES = Object.entries(SINK)
  .filter(([name]) => name !== "slow")
  .flatMap(([name, { cases = [{}] }]) => cases.map((args) => ({ name, args })));

const capabilities = { tools: {}, logging: {} };
const info = { name: "sink", version: "1" };

interface ExtraV1 {
  signal: AbortSignal;
  sessionId?: string;
  _meta?: { progressToken?: string | number };
  sendNotification(notification: object): Promise<void>;
  sendRequest<T>(request: object, schema: T): Promise<Record<string, unknown>>;
}

function reachV1(extra: ExtraV1): Reach {
  const progressToken = extra._meta?.progressToken;
  return {
    signal: extra.signal,
    progress: (progress) =>
      extra.sendNotification({
        method: "notifications/progress",
        params: { progressToken, progress, total: 3, message: `step ${progress}` },
      }),
    log: (data) =>
      extra.sendNotification({ method: "notifications/message", params: { level: "info", logger: "l", data } }),
    async sample() {
      const messages = [{ role: "user", content: { type: "text", text: "hi" } }];
      const request = { method: "sampling/createMessage", params: { messages, maxTokens: 5 } };
      return JSON.stringify(await extra.sendRequest(request, CreateMessageResultSchema));
    },
    async elicit() {
      const requestedSchema = { type: "object", properties: { name: { type: "string" } } };
      const request = { method: "elicitation/create", params: { message: "who?", requestedSchema } };
      return JSON.stringify(await extra.sendRequest(request, ElicitResultSchema));
    },
    protocolError: (code, message, data) => new McpError(code, message, data),
    urlNeeded: () => new UrlErrorV1([{ mode: "url", message: "go", url: "https://x.test", elicitationId: "e1" }]),
  };
}

interface ContextV2 {
  mcpReq: {
    signal: AbortSignal;
    _meta?: { progressToken?: string | number };
    notify(notification: object): Promise<void>;
    log(level: string, data: unknown, logger?: string): Promise<void>;
    elicitInput(params: object): Promise<object>;
    requestSampling(params: object): Promise<object>;
  };
}

function reachV2({ mcpReq }: ContextV2): Reach {
  const progressToken = mcpReq._meta?.progressToken;
  return {
    signal: mcpReq.signal,
    progress: (progress) =>
      mcpReq.notify({
        method: "notifications/progress",
        params: { progressToken, progress, total: 3, message: `step ${progress}` },
      }),
    log: (data) => mcpReq.log("info", data, "l"),
    async sample() {
      const messages = [{ role: "user", content: { type: "text", text: "hi" } }];
      return JSON.stringify(await mcpReq.requestSampling({ messages, maxTokens: 5 }));
    },
    async elicit() {
      const requestedSchema = { type: "object", properties: { name: { type: "string" } } };
      return JSON.stringify(await mcpReq.elicitInput({ message: "who?", requestedSchema }));
    },
    protocolError: (code, message, data) => new ProtocolError(code, message, data),
    urlNeeded: () => new UrlErrorV2([{ mode: "url", message: "go", url: "https://x.test", elicitationId: "e1" }]),
  };
}

type Args = Record<string, unknown>;

/** The tools on an `McpServer`, or on a low-level `Server` that checks nothing. */
export const SERVERS = {
  "SDK 1, McpServer": () => {
    const server = new McpServerV1(info, { capabilities });
    for (const [name, { input = z.looseObject({}), output, run }] of Object.entries(SINK)) {
      const config = { inputSchema: input, ...(output && { outputSchema: output }) };
      server.registerTool(name, config as never, ((args: Args, extra: ExtraV1) => run(args, reachV1(extra))) as never);
    }
    return server;
  },
  "SDK 1, Server": () => {
    const server = new ServerV1(info, { capabilities });
    server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: listed() as never }));
    server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
      return (await SINK[params.name]?.run(params.arguments ?? {}, reachV1(extra as never))) as never;
    });
    return server;
  },
  "SDK 2, McpServer": () => {
    const server = new McpServerV2(info, { capabilities });
    for (const [name, { input = z.looseObject({}), output, run }] of Object.entries(SINK)) {
      const config = { inputSchema: input, ...(output && { outputSchema: output }) };
      server.registerTool(
        name,
        config as never,
        (async (args: Args, ctx: ContextV2) => run(args, reachV2(ctx))) as never,
      );
    }
    return server;
  },
  "SDK 2, Server": () => {
    const server = new ServerV2(info, { capabilities });
    server.setRequestHandler("tools/list", async () => ({ tools: listed() as never }));
    server.setRequestHandler("tools/call", async ({ params }, ctx) => {
      return (await SINK[params.name]?.run(params.arguments ?? {}, reachV2(ctx as never))) as never;
    });
    return server;
  },
} as const;

const listed = () =>
  Object.entries(SINK).map(([name, { input, output }]) => ({
    name,
    inputSchema: input === undefined ? { type: "object" } : z.toJSONSchema(input, { io: "input" }),
    ...(output && { outputSchema: z.toJSONSchema(output) }),
  }));
