import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  AlwaysOffSampler,
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createCodeMode } from "../../src/create-code-mode.js";
import { executeTool } from "../../src/meta-tools/execute.js";
import type { CodeMode } from "../../src/meta-tools/meta-tool.js";
import { schemaTool } from "../../src/meta-tools/schema.js";
import { searchTool } from "../../src/meta-tools/search.js";
import { inProcessSandbox } from "../../src/sandbox/quickjs/in-process.js";
import type { CodeModeEvent } from "../../src/telemetry/events.js";
import { Telemetry } from "../../src/telemetry/telemetry.js";
import { fakeSource } from "../../src/testing.js";

const sandboxProvider = inProcessSandbox();
const SECRETS = /PAYLOAD|DESCRIBED|QUERIED/;

/** Every text that must not be seen is in it: in arguments, results, errors, descriptions and the code. */
const source = fakeSource({
  read: { description: "DESCRIBED", annotations: { readOnlyHint: true }, handler: ({ id }) => ({ PAYLOAD: id }) },
  fail: () => {
    throw new Error("PAYLOAD in an error");
  },
  traced: () =>
    trace.getTracer("host").startActiveSpan("inside", (span) => {
      span.end();
      return "ok";
    }),
});

const SCRIPT = `
  const PAYLOAD = await call_tool("read", { id: "PAYLOAD" });
  try { await call_tool("fail", { why: "PAYLOAD" }); } catch {}
  try { await call_tool("PAYLOAD-name", {}); } catch {}
  await get_schema("read");
  console.log("PAYLOAD");
  return "PAYLOAD";
`;

function engineWith(onEvent?: (event: CodeModeEvent) => void): CodeMode {
  const metaTools = [searchTool(), schemaTool(), executeTool()];
  return createCodeMode(source, { sandboxProvider, metaTools, ...(onEvent === undefined ? {} : { onEvent }) });
}

describe("events", () => {
  let events: CodeModeEvent[];
  beforeEach(() => {
    events = [];
  });
  const engine = (): CodeMode => engineWith((event) => events.push(event));

  it("tell of a run and of each of its calls, in numbers", async () => {
    await engine().execute({ code: SCRIPT }, { callerId: "ada" });
    const run = events.at(-1)?.type === "execute" ? (events.at(-1) as { run: string }).run : "";
    expect(run).toMatch(/^[0-9a-f-]{36}$/);
    const call = { type: "call", run, callerId: "ada", durationMs: expect.any(Number) as number };
    expect(events).toEqual([
      { ...call, tool: "read", server: "fake", readOnly: true, outcome: "ok", argumentBytes: 16, resultBytes: 21 },
      {
        ...call,
        tool: "fail",
        server: "fake",
        readOnly: false,
        outcome: "error",
        kind: "tool",
        argumentBytes: 17,
        resultBytes: 0,
      },
      {
        ...call,
        tool: undefined,
        server: undefined,
        readOnly: false,
        outcome: "error",
        kind: "tool",
        argumentBytes: 0,
        resultBytes: 0,
      },
      {
        ...call,
        tool: "get_schema",
        server: undefined,
        readOnly: true,
        outcome: "ok",
        argumentBytes: 0,
        resultBytes: 0,
      },
      {
        type: "execute",
        run,
        outcome: "ok",
        codeBytes: Buffer.byteLength(SCRIPT),
        resultBytes: 9,
        logBytes: 7,
        calls: 4,
        failedCalls: 2,
        truncated: false,
        callerId: "ada",
        durationMs: expect.any(Number) as number,
      },
    ]);
  });

  it("tell of a search and of a request for schemas, in numbers", async () => {
    const one = engine();
    const context = { signal: new AbortController().signal, authInfo: { clientId: "ada" } };
    const call = async (index: number, args: Record<string, unknown>): Promise<string> => {
      const { content } = (await one.metaTools[index]?.call(args, context)) ?? { content: [] };
      return content.map((block) => (block.type === "text" ? block.text : "")).join("");
    };
    const found = await call(0, { query: "read" });
    const schemas = await call(1, { tools: ["read", "fail"] });
    await one.search({ limit: 0 }, context);
    const common = { durationMs: expect.any(Number) as number, callerId: 'client:["ada"]' };
    expect(events).toEqual([
      { ...common, type: "search", outcome: "ok", results: 1, tools: 3, resultBytes: Buffer.byteLength(found) },
      { ...common, type: "schema", outcome: "ok", names: 2, resultBytes: Buffer.byteLength(schemas) },
      { ...common, type: "search", outcome: "error", kind: "validation", results: 0, tools: 0, resultBytes: 0 },
    ]);
  });

  it("hold nothing that a script, a tool or a description said", async () => {
    const one = engine();
    await one.metaTools[1]?.call({ tools: ["PAYLOAD"] }, { signal: new AbortController().signal });
    await one.execute({ code: SCRIPT });
    await one.execute({ code: "throw new Error('PAYLOAD')" });
    await one.execute({ code: "PAYLOAD +" });
    await one.search({ query: "QUERIED" });
    expect(events.length).toBeGreaterThan(6);
    expect(JSON.stringify(events)).not.toMatch(SECRETS);
  });

  it("give the kind of what went wrong", async () => {
    const one = engine();
    for (const code of ["throw 1", "1 +", "await call_tool('fail', {})"]) await one.execute({ code });
    const kinds = events.flatMap((event) => (event.type === "execute" ? [[event.outcome, event.kind]] : []));
    expect(kinds).toEqual([
      ["error", "runtime"],
      ["error", "syntax"],
      ["error", "tool"],
    ]);
  });

  it("tell runs apart that go on at the same time", async () => {
    const one = engine();
    const code = 'await call_tool("read", {}); await call_tool("read", {}); return 1';
    await Promise.all([one.execute({ code }), one.execute({ code })]);
    const runs = new Map<string, number>();
    for (const event of events) if (event.type === "call") runs.set(event.run, (runs.get(event.run) ?? 0) + 1);
    expect([...runs.values()]).toEqual([2, 2]);
  });

  it("change nothing when their listener throws or rejects, and warn once", async () => {
    const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    for (const failing of [
      () => {
        throw new Error("no disk");
      },
      () => Promise.reject(new Error("no disk")),
    ]) {
      warn.mockClear();
      const outcome = await engineWith(failing as () => void).execute({ code: SCRIPT });
      expect(outcome).toMatchObject({ status: "completed", value: "PAYLOAD" });
      expect(warn).toHaveBeenCalledTimes(1);
    }
    warn.mockRestore();
  });
});

describe("spans", () => {
  const exporter = new InMemorySpanExporter();

  function register(sampler?: AlwaysOffSampler): void {
    const provider = new BasicTracerProvider({
      spanProcessors: [new SimpleSpanProcessor(exporter)],
      ...(sampler === undefined ? {} : { sampler }),
    });
    trace.setGlobalTracerProvider(provider);
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  }

  afterEach(() => {
    exporter.reset();
    trace.disable();
    context.disable();
  });

  const named = (name: string): ReadableSpan => {
    const found = exporter.getFinishedSpans().find((span) => span.name === name);
    if (found === undefined)
      throw new Error(
        `no span ${name} among ${exporter
          .getFinishedSpans()
          .map((span) => span.name)
          .join(", ")}`,
      );
    return found;
  };

  it("show a run inside the host's span, its calls inside of it, and the tool's own spans inside of those", async () => {
    register();
    const engine = engineWith();
    await trace.getTracer("host").startActiveSpan("request", async (span) => {
      await engine.execute({ code: 'return await call_tool("traced", {})' });
      span.end();
    });
    const [request, execute, call, inside] = ["request", "mcp-codemode.execute", "mcp-codemode.call", "inside"].map(
      named,
    );
    expect(execute?.parentSpanContext?.spanId).toBe(request?.spanContext().spanId);
    expect(call?.parentSpanContext?.spanId).toBe(execute?.spanContext().spanId);
    expect(inside?.parentSpanContext?.spanId).toBe(call?.spanContext().spanId);
  });

  it("carry names, counts and kinds, and an error's status without its text", async () => {
    register();
    await engineWith().execute({ code: 'await call_tool("fail", { why: "PAYLOAD" })' }, { callerId: "ada" });
    const call = named("mcp-codemode.call");
    expect(call.attributes).toEqual({
      "gen_ai.tool.name": "fail",
      "error.type": "tool",
      "mcp_codemode.outcome": "error",
      "mcp_codemode.server": "fake",
      "mcp_codemode.read_only": false,
      "mcp_codemode.argument_bytes": 17,
      "mcp_codemode.result_bytes": 0,
    });
    expect(call.status).toEqual({ code: 2 });
    expect(named("mcp-codemode.execute").attributes).toMatchObject({
      "mcp_codemode.calls": 1,
      "mcp_codemode.failed_calls": 1,
      "error.type": "tool",
    });
  });

  it("hold nothing that a script, a tool or a caller said", async () => {
    register();
    const engine = engineWith();
    await engine.execute({ code: SCRIPT }, { callerId: "PAYLOAD" });
    await engine.execute({ code: "throw new Error('PAYLOAD')" });
    await engine.search({ query: "QUERIED" });
    const spans = exporter
      .getFinishedSpans()
      .map(({ name, attributes, events, status, links }) => ({ name, attributes, events, status, links }));
    expect(spans).toHaveLength(7);
    expect(JSON.stringify(spans)).not.toMatch(SECRETS);
  });

  it("cost nothing where they are not sampled", async () => {
    register(new AlwaysOffSampler());
    const telemetry = new Telemetry();
    await telemetry.ready;
    expect(telemetry.observe("execute")).toBeUndefined();
  });

  it("do not exist without the API, and events do not need it", async () => {
    const events: CodeModeEvent[] = [];
    const absent = (): Promise<never> => Promise.reject(new Error("Cannot find package '@opentelemetry/api'"));
    const silent = new Telemetry(undefined, absent);
    const telling = new Telemetry((event) => events.push(event), absent);
    await Promise.all([silent.ready, telling.ready]);
    expect(silent.observe("search")).toBeUndefined();
    telling.observe("search")?.end({ outcome: "ok", results: 1, tools: 2, resultBytes: 3 });
    expect(events).toEqual([
      { type: "search", outcome: "ok", results: 1, tools: 2, resultBytes: 3, durationMs: expect.any(Number) as number },
    ]);
  });

  it("do not exist for something else that has the API's name", async () => {
    const telemetry = new Telemetry(undefined, () => Promise.resolve({ default: 1 }));
    await telemetry.ready;
    expect(telemetry.observe("search")).toBeUndefined();
  });
});
