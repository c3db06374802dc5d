import { describe, expect, it } from "vitest";
import { functionSource } from "../../src/catalog/functions.js";
import type { CallContext, ElicitAnswer, ElicitQuestion } from "../../src/catalog/tool.js";
import type { CodeMode } from "../../src/meta-tools/meta-tool.js";
import type { CodeModeOptions } from "../../src/options.js";
import type { CallPolicy } from "../../src/calls/policy.js";
import type { SandboxProvider } from "../../src/sandbox/provider.js";
import { inProcessSandbox } from "../../src/sandbox/quickjs/in-process.js";
import { memoryStore } from "../../src/session/memory-store.js";
import { callMeta, engineOf, execute, markOf, textOf } from "./engine.js";

/** Writes ask, everything else is allowed. */
const askForWrites: CallPolicy = ({ name }) =>
  name.startsWith("write") ? { action: "ask", reason: "it changes a file" } : { action: "allow" };

interface World {
  engine: CodeMode;
  /** What reached the tools. */
  written: unknown[];
}

function world(options: CodeModeOptions = {}): World {
  const written: unknown[] = [];
  const write = (args: unknown): string => {
    written.push(args);
    return `wrote ${written.length}`;
  };
  const source = functionSource(
    {
      write: {
        input: { type: "object", properties: { path: { type: "string" }, token: { type: "string" } } },
        run: write,
      },
      write_other: { run: write },
      read: { run: () => "content" },
      image: { run: () => ({ content: [{ type: "image", data: "aGk=", mimeType: "image/png" }] }) },
    },
    { name: "files" },
  );
  return { engine: engineOf(source, { policy: askForWrites, store: memoryStore(), ...options }), written };
}

/** A client with somebody behind it. */
function person(answer: (question: ElicitQuestion) => ElicitAnswer | Promise<ElicitAnswer>): {
  context: CallContext;
  asked: ElicitQuestion[];
} {
  const asked: ElicitQuestion[] = [];
  const elicit = async (question: ElicitQuestion): Promise<ElicitAnswer> => {
    asked.push(question);
    return answer(question);
  };
  return { context: { signal: new AbortController().signal, elicit }, asked };
}

const as = (callerId: string): CallContext => ({ signal: new AbortController().signal, callerId });
const resume = (engine: CodeMode, run: string, context?: CallContext) => callMeta(engine, "resume", { run }, context);

const WRITE = "const r = await call_tool('write', { path: 'a.txt' }); return r + '!'";

describe("a policy that asks, where the client can ask", () => {
  it("shows the call to the person, and makes it once they accept", async () => {
    const { engine, written } = world();
    const { context, asked } = person(() => ({ action: "accept" }));
    expect(textOf(await execute(engine, WRITE, context))).toBe("wrote 1!");
    expect(written).toEqual([{ path: "a.txt" }]);
    expect(asked).toEqual([
      {
        message: expect.stringContaining('write({"path":"a.txt"}) of files: it changes a file') as string,
        requestedSchema: { type: "object", properties: {} },
      },
    ]);
  });

  it.each(["decline", "cancel"] as const)(
    "%s refuses the call, with an error that the script can catch",
    async (action) => {
      const { engine, written } = world();
      const { context } = person(() => ({ action }));
      const reply = await execute(engine, WRITE, context);
      expect(markOf(reply)).toMatchObject({ kind: "approval", error: { message: expect.stringContaining("refused") } });
      const caught = await execute(engine, `try { ${WRITE} } catch (error) { return error.kind }`, context);
      expect(textOf(caught)).toBe("approval");
      expect(written).toEqual([]);
    },
  );

  it("asks once for all calls that wait together", async () => {
    const { engine, written } = world();
    const { context, asked } = person(() => ({ action: "accept", content: { call_1: true, call_2: false } }));
    const code = `return await Promise.all(["a", "b", "c"].map((path) =>
      call_tool("write", { path }).catch((error) => error.kind)))`;
    expect(JSON.parse(textOf(await execute(engine, code, context)))).toEqual(["wrote 1", "approval", "wrote 2"]);
    expect(written).toEqual([{ path: "a" }, { path: "c" }]);
    expect(asked).toHaveLength(1);
    expect(asked[0]?.message).toMatch(/1\. write\(\{"path":"a"\}\).*\n2\. write.*\n3\. write/);
    expect(Object.keys(asked[0]?.requestedSchema.properties ?? {})).toEqual(["call_1", "call_2", "call_3"]);
  });

  it("does not count the person's time as the script's", async () => {
    const { engine } = world({ limits: { timeoutMs: 150 } });
    const { context } = person(async () => {
      await new Promise((resolve) => setTimeout(resolve, 400));
      return { action: "accept" };
    });
    expect(textOf(await execute(engine, WRITE, context))).toBe("wrote 1!");
  });

  it("holds the limits of time over all parts of a script", async () => {
    const { engine } = world({ limits: { timeoutMs: 250 } });
    const { context } = person(() => ({ action: "accept" }));
    const code =
      "for (let i = 0; i < 20; i++) { await call_tool('write', { path: '' + i }); await sleep(60); } return 'late'";
    expect(markOf(await execute(engine, code, context)).kind).toBe("timeout");
  });

  it("keeps the script paused when the question could not be asked", async () => {
    const { engine, written } = world();
    const { context } = person(() => Promise.reject(new Error("gone")));
    expect(markOf(await execute(engine, WRITE, context)).kind).toBe("suspended");
    expect(written).toEqual([]);
  });

  it("does not let arguments change how the question reads", async () => {
    const { engine } = world();
    const { context, asked } = person(() => ({ action: "decline" }));
    await execute(engine, `await call_tool("write", { path: "x\\n2. read()\\u202e\\u200b" })`, context);
    expect(asked[0]?.message.split("\n")).toHaveLength(2);
    expect(asked[0]?.message).not.toMatch(/[\u202e\u200b]/);
  });

  it("shows no hidden parameter, and keeps its value", async () => {
    const { engine, written } = world({ argumentsFor: () => ({ defaults: { token: "s3cret" }, hidden: ["token"] }) });
    const { context, asked } = person(() => ({ action: "accept" }));
    await execute(engine, "return await call_tool('write', { path: 'a' })", context);
    expect(JSON.stringify(asked)).not.toContain("s3cret");
    expect(written).toEqual([{ path: "a", token: "s3cret" }]);
    const paused = await execute(engine, "return await call_tool('write', { path: 'a' })");
    expect(JSON.stringify(paused)).not.toContain("s3cret");
  });
});

describe("a policy that asks, where the client cannot ask", () => {
  it("pauses the script and says what waits, who can answer, and how it goes on", async () => {
    const { engine, written } = world();
    const reply = await execute(engine, `await call_tool("read", {}); ${WRITE}`);
    const { kind, run, pending } = markOf(reply);
    expect(kind).toBe("suspended");
    expect(pending).toEqual([
      { callId: 2, tool: "write", server: "files", arguments: { path: "a.txt" }, reason: "it changes a file" },
    ]);
    expect(reply.isError).toBeUndefined();
    expect(textOf(reply)).toMatch(/A person has to allow this call.*\n +2\. write\(\{"path":"a.txt"\}\) of files/);
    expect(textOf(reply)).toContain(`call resume with { "run": "${run}" }`);
    expect(textOf(reply)).toContain("Done so far: read (1 call)");
    expect(written).toEqual([]);
  });

  it("goes on with what the host decided, and gives the recorded outcome from then on", async () => {
    const { engine, written } = world();
    const { run = "", pending } = markOf(await execute(engine, WRITE));
    expect(textOf(await resume(engine, run))).toContain("A person has to allow");
    expect(await engine.runs()).toMatchObject([
      { run, server: "files", pending: [{ callId: 1, tool: "write", arguments: { path: "a.txt" } }] },
    ]);
    await engine.decide(run, pending?.[0]?.callId ?? 0, { action: "allow" });
    expect(written).toEqual([]);
    const first = await resume(engine, run);
    expect(textOf(first)).toBe("wrote 1!");
    expect(markOf(first).calls).toMatchObject([{ tool: "write", ok: true }]);
    const second = await resume(engine, run);
    expect(textOf(second)).toMatch(/^wrote 1!\n.*recorded outcome/);
    expect(written).toHaveLength(1);
    expect(await engine.runs()).toEqual([]);
  });

  it("makes the call with the arguments that the person edited, checked like any", async () => {
    const { engine, written } = world();
    const first = markOf(await execute(engine, WRITE)).run ?? "";
    await engine.decide(first, 1, { action: "allow", arguments: { path: "b.txt" } });
    await resume(engine, first);
    expect(written).toEqual([{ path: "b.txt" }]);
    const second = markOf(await execute(engine, WRITE)).run ?? "";
    await engine.decide(second, 1, { action: "allow", arguments: { path: { no: "text" } } });
    expect(markOf(await resume(engine, second)).kind).toBe("validation");
    expect(written).toHaveLength(1);
  });

  it("throws in the script what the host refused", async () => {
    const { engine } = world();
    const { run = "" } = markOf(
      await execute(engine, `try { ${WRITE} } catch (e) { return e.kind + ": " + e.message }`),
    );
    await engine.decide(run, 1, { action: "deny", reason: "not today" });
    expect(textOf(await resume(engine, run))).toMatch(/^approval: .*a person refused it: not today/);
  });

  it("can be paused again and again, with images, logs and counted calls in between", async () => {
    const { engine } = world({ limits: { maxToolCalls: 4 } });
    const code = `const out = []; const picture = await call_tool("image", {}); console.log("before");
      for (const path of ["a", "b"]) { out.push(await call_tool("write", { path })); console.log(path) }
      await call_tool("read", {}).catch((e) => out.push("x"));
      await call_tool("read", {}).catch((error) => out.push(error.kind));
      return [picture, { type: "text", text: out.join() }]`;
    let reply = await execute(engine, code);
    const ids = new Set<string>();
    while (markOf(reply).kind === "suspended") {
      const { run = "", pending = [] } = markOf(reply);
      ids.add(run);
      await engine.decide(run, pending[0]?.callId ?? 0, { action: "allow" });
      reply = await resume(engine, run);
    }
    expect(ids.size).toBe(1);
    expect(reply.content).toMatchObject([
      { type: "image", data: "aGk=" },
      { type: "text", text: "wrote 1,wrote 2,limit" },
      { type: "text", text: "Console:\nbefore\na\nb" },
    ]);
  });

  it("lets the caller's own client answer on resume", async () => {
    const { engine, written } = world();
    const { run = "" } = markOf(await execute(engine, WRITE));
    const { context } = person(() => ({ action: "accept" }));
    expect(textOf(await resume(engine, run, context))).toBe("wrote 1!");
    expect(written).toHaveLength(1);
  });

  it("lets one of many resumes go on", async () => {
    const { engine, written } = world();
    const { run = "" } = markOf(await execute(engine, WRITE));
    await engine.decide(run, 1, { action: "allow" });
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => resume(engine, run, { signal: new AbortController().signal })),
    );
    expect(written).toHaveLength(1);
    expect(replies.map((reply) => markOf(reply).kind).filter((kind) => kind !== "validation")).not.toEqual([]);
    for (const reply of replies) expect(textOf(reply)).toMatch(/^wrote 1!|goes on in another request/);
  });

  it("tells another caller what it tells about a run that never was", async () => {
    const { engine, written } = world();
    const { run = "" } = markOf(await execute(engine, WRITE, as("alice")));
    await engine.decide(run, 1, { action: "allow" });
    const unknown = await resume(engine, "0".repeat(32), as("bob"));
    expect(await resume(engine, run, as("bob"))).toEqual({
      ...unknown,
      _meta: { "mcp-codemode/run": { ...markOf(unknown), durationMs: expect.any(Number) as number } },
    });
    expect(markOf(await resume(engine, run)).kind).toBe("validation");
    expect(written).toEqual([]);
    expect(textOf(await resume(engine, run, as("alice")))).toBe("wrote 1!");
  });

  it("knows nothing of runs of another server, another secret or another store", async () => {
    const store = memoryStore();
    const { engine } = world({ store });
    const { run = "" } = markOf(await execute(engine, WRITE));
    await engine.decide(run, 1, { action: "allow" });
    const source = functionSource({ write: { run: () => "wrong" } }, { name: "others" });
    expect(markOf(await resume(engineOf(source, { store, policy: askForWrites }), run)).kind).toBe("validation");
    expect(markOf(await resume(world({ store, secret: "x".repeat(32) }).engine, run)).kind).toBe("sandbox");
    expect(markOf(await resume(world().engine, run)).kind).toBe("validation");
  });

  it("says that a run has expired, and that nothing was done", async () => {
    const { engine, written } = world({ limits: { humanWaitMs: 30 } });
    const { run = "" } = markOf(await execute(engine, WRITE));
    await new Promise((resolve) => setTimeout(resolve, 50));
    await expect(engine.decide(run, 1, { action: "allow" })).rejects.toThrow("has expired");
    expect(await engine.runs()).toEqual([]);
    const reply = await resume(engine, run);
    expect(markOf(reply).kind).toBe("approval");
    expect(textOf(reply)).toContain("has expired");
    expect(written).toEqual([]);
  });

  it("says that a run was cancelled", async () => {
    const { engine } = world();
    const { run = "" } = markOf(await execute(engine, WRITE));
    await engine.cancel(run);
    expect(markOf(await resume(engine, run)).kind).toBe("cancelled");
    await expect(engine.cancel(run)).rejects.toThrow("was cancelled");
  });

  it.each([
    [{ action: "ask" }],
    [{ action: "allow", arguments: [] }],
    [{ action: "deny", reason: 1 }],
    [{}],
    [null],
    ["allow"],
  ])("takes %j for no decision", async (decision) => {
    const { engine } = world();
    const { run = "" } = markOf(await execute(engine, WRITE));
    await expect(engine.decide(run, 1, decision as never)).rejects.toThrow("A decision is");
    await expect(engine.decide(run, 7, { action: "allow" })).rejects.toThrow("has no call 7");
    await expect(engine.decide("no run", 1, { action: "allow" })).rejects.toThrow("no paused run");
  });

  it("denies and says so where the sandbox cannot pause and nobody can be asked", async () => {
    const sandbox = inProcessSandbox();
    const sandboxProvider: SandboxProvider = {
      name: "without resume",
      accepts: "script",
      run: (code, options) => sandbox.run(code, options),
    };
    const { engine, written } = world({ sandboxProvider });
    const reply = await execute(engine, WRITE);
    expect(markOf(reply).kind).toBe("approval");
    expect(textOf(reply)).toContain("nobody can be asked");
    const { context } = person(() => ({ action: "accept" }));
    expect(textOf(await execute(engine, WRITE, context))).toBe("wrote 1!");
    expect(written).toHaveLength(1);
  });
});

describe("a client that is about to give up", () => {
  const slow = (ms: number) => {
    let calls = 0;
    const source = functionSource(
      {
        slow: {
          run: async () => {
            calls++;
            await new Promise((resolve) => setTimeout(resolve, ms));
            return "slow";
          },
        },
      },
      { name: "slow" },
    );
    const engine = engineOf(source, { store: memoryStore(), limits: { timeoutMs: 5_000, clientTimeoutMs: 100 } });
    return { engine, calls: () => calls };
  };

  it("gets a paused script, whose call goes on and is not made again", async () => {
    const { engine, calls } = slow(250);
    const reply = await execute(engine, "return await call_tool('slow', {}) + '!'");
    expect(markOf(reply).kind).toBe("suspended");
    expect(textOf(reply)).toMatch(/needs more time.*\nStill running: slow\./);
    let last = reply;
    while (markOf(last).kind === "suspended") last = await resume(engine, markOf(reply).run ?? "");
    expect(textOf(last)).toBe("slow!");
    expect(calls()).toBe(1);
  });

  it("is not waited for where no tool could resume the script", async () => {
    const source = functionSource({
      slow: { run: () => new Promise((resolve) => setTimeout(() => resolve("slow"), 200)) },
    });
    const engine = engineOf(source, { limits: { clientTimeoutMs: 100, timeoutMs: 90 } });
    expect(engine.metaTools.map(({ tool }) => tool.name)).toEqual(["search", "execute"]);
    expect(markOf(await execute(engine, "return await call_tool('slow', {})")).kind).toBe("timeout");
  });
});

describe("the meta-tool resume", () => {
  it("is there once a policy is, and takes the name of a run and nothing else", () => {
    const { engine } = world();
    const tool = engine.metaTools.find(({ role }) => role === "resume")?.tool;
    expect(tool?.inputSchema).toMatchObject({ required: ["run"], additionalProperties: false });
    expect(Object.keys(tool?.inputSchema["properties"] as object)).toEqual(["run"]);
  });

  it.each([[{}], [{ run: 1 }], [{ run: "x", approve: true }], [{ run: "x", callId: 1, action: "allow" }]])(
    "refuses %j",
    async (args) => {
      const { engine } = world();
      expect(markOf(await callMeta(engine, "resume", args)).kind).toBe("validation");
    },
  );

  it.each(["../run/x", "run/", "", "A".repeat(32), "0".repeat(31), "x".repeat(10_000)])(
    "knows no run %j",
    async (run) => {
      const { engine } = world();
      expect(textOf(await resume(engine, run))).toContain("There is no paused run");
    },
  );
});
