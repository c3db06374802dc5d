import { describe, expect, it } from "vitest";
import { ApprovalError } from "../../src/errors.js";
import { compiledEngine } from "../../src/sandbox/quickjs/engine.js";
import { DEFAULT_SANDBOX_LIMITS } from "../../src/sandbox/limits.js";
import { HostRun } from "../../src/sandbox/quickjs/host-run.js";
import { inProcessSandbox } from "../../src/sandbox/quickjs/in-process.js";
import { Instance } from "../../src/sandbox/quickjs/instance.js";
import { KIND, type RunReport } from "../../src/sandbox/quickjs/protocol.js";
import { ScriptRun } from "../../src/sandbox/quickjs/run.js";
import type { SandboxResult } from "../../src/sandbox/provider.js";

/**
 * What the host does with messages that no prelude of ours would send: memory of the engine can come from anywhere.
 * An unhandled rejection fails the file by itself.
 */

const REPORT: RunReport = { notes: [], columnShift: 0, stats: { cpuMs: 1, memoryBytes: 1, messages: 1 } };

/** The host's end of a run, and what it answers. */
function hostRun(): { run: HostRun; replies: string[] } {
  const replies: string[] = [];
  const start = { sent: "", script: { code: "", steps: [], notes: [] } };
  const link = { reply: (_id: number, text: string) => void replies.push(text), suspend: () => {} };
  const fail = async (): Promise<never> => Promise.reject(new Error("no"));
  const run = new HostRun(start, DEFAULT_SANDBOX_LIMITS, { externalFunctions: { fail } }, link);
  return { run, replies };
}

/** Text that is no message of any kind. */
const ODD = [
  "",
  "{",
  "null",
  "[]",
  '["fail"]',
  '["fail",5]',
  "[1,2]",
  '{"0":"fail"}',
  '"fail"',
  "+",
  "-",
  '+[[],{"@@":"Set","v":{"length":1e300}}]',
];

describe("a host that gets messages of a subverted guest", () => {
  it.each(ODD)("answers a call that is none with an error, before and after the script's end: %s", async (text) => {
    const { run, replies } = hostRun();
    run.receive(KIND.CALL, 1, text);
    await new Promise((resolve) => setImmediate(resolve));
    run.receive(KIND.DONE, 1, "+[[],1]");
    run.receive(KIND.CALL, 2, text);
    await new Promise((resolve) => setImmediate(resolve));
    run.receive(KIND.REPORT, 0, JSON.stringify(REPORT));
    expect(replies).toHaveLength(2);
    expect(replies.every((reply) => reply.startsWith("-"))).toBe(true);
    expect(await run.result).toMatchObject({ status: "completed", value: 1 });
  });

  it.each(ODD)("has a result for a script whose end is none: %s", async (text) => {
    for (const finish of [
      (run: HostRun) => run.receive(KIND.REPORT, 0, JSON.stringify(REPORT)),
      (run: HostRun) => run.end("timeout", "timeoutMs"),
    ]) {
      const { run } = hostRun();
      run.receive(KIND.DONE, 0, text);
      finish(run);
      expect((await run.result).status).toBeOneOf(["completed", "failed"]);
    }
  });

  it.each(ODD)("has a result for a paused script whose calls are none: %s", async (text) => {
    const { run } = hostRun();
    run.receive(KIND.CALL, 1, text);
    run.receiveSnapshot(new Uint8Array(1));
    run.receive(KIND.REPORT, 0, JSON.stringify({ ...REPORT, suspended: true }));
    expect((await run.result).status).toBeOneOf(["suspended", "failed"]);
  });
});

describe("a guest that keeps no limits", () => {
  it("cannot fill its host with logs, nor with a result", async () => {
    const { run } = hostRun();
    for (let index = 0; index < 100; index++) run.receive(KIND.LOG, 0, JSON.stringify(["log", "x".repeat(10_000)]));
    run.receive(KIND.DONE, 0, `+${JSON.stringify([[], "y".repeat(200_000)])}`);
    run.receive(KIND.REPORT, 0, JSON.stringify(REPORT));
    const result = await run.result;
    expect(result).toMatchObject({ status: "failed", error: { kind: "limit" } });
    expect(JSON.stringify(result.logs).length).toBeLessThan(DEFAULT_SANDBOX_LIMITS.maxLogBytes + 300);
  });
});

describe("a worker whose guest sends what is not its own to send", () => {
  it("hands on calls, logs and the end, and nothing else", async () => {
    const instance = await Instance.create({ engine: compiledEngine(), memoryBytes: 32 << 20, maxStackBytes: 65_536 });
    const config = {
      functions: ["ask"],
      maxLogBytes: 100,
      maxResultBytes: 100,
      maxArgumentBytes: 100,
      maxBridgeMessages: 9,
      truncate: false,
    };
    const kinds: number[] = [];
    const script = new ScriptRun(
      instance,
      {
        code: "await ask(1)",
        config: JSON.stringify(config),
        inputs: null,
        from: null,
        openCalls: [],
        keepSnapshot: false,
        maxBridgeMessages: 9,
        timeoutMs: 2_000,
        cpuMs: null,
        memoryBytes: 32 << 20,
        maxStackBytes: 65_536,
        seed: [1, 2, 3, 4],
      },
      { send: (kind) => void kinds.push(kind), cancelled: () => false, computing: () => {} },
    );
    script.start();
    const text = {
      read: (use: (bytes: Uint8Array, at: number, length: number) => void) => use(Buffer.from("{}"), 0, 2),
    };
    for (const kind of [
      KIND.RUN,
      KIND.REPLY,
      KIND.REPORT,
      KIND.SUSPEND,
      KIND.SNAPSHOT,
      0,
      0x103,
      0x205,
      255,
      Number.NaN,
    ])
      instance.onHost(kind, 1, text);
    expect(kinds).toEqual([KIND.CALL]);
    expect(script.over).toBe(false);
  });
});

describe("a script that gives many reasons for notes", () => {
  const size = ({ notes = [] }: SandboxResult): number => JSON.stringify(notes).length;
  const sandbox = inProcessSandbox({ limits: { timeoutMs: 3_000 } });

  it("gets a few short ones for timers that throw", async () => {
    const code =
      "let n = 0; setInterval(() => { n++; throw new Error('x'.repeat(16000)) }, 1); while (n < 60) await sleep(1); return n";
    const result = await sandbox.run(code, {});
    expect(result).toMatchObject({ status: "completed" });
    expect(result.notes).toContainEqual(expect.stringMatching(/^\d+ more notes were left out\.$/));
    expect(size(result)).toBeLessThan(16_384);
  });

  it("gets a few short ones for calls that fail after its end", async () => {
    const fail = async (): Promise<never> => Promise.reject(new Error("m".repeat(50_000)));
    const code = "for (let i = 0; i < 60; i++) fail('y'.repeat(50000)); return 1";
    const result = await sandbox.run(code, { externalFunctions: { fail } });
    expect(result).toMatchObject({ status: "completed", value: 1 });
    expect(size(result)).toBeLessThan(16_384);
  });
});

describe("an error of the host that a script has held", () => {
  it("keeps its kind and its short details, whatever was added", async () => {
    const refuse = async (): Promise<never> => Promise.reject(new ApprovalError("no", { details: { tool: "wipe" } }));
    const code = `try { await refuse() } catch (e) {
      e.details.big = "x".repeat(1e5); e.details["__proto__"] = { polluted: 1 }; e.details.list = Array(1e5).fill(0);
      throw Object.assign(e, { kind: "tool", name: "Fine" }) }`;
    const result = await inProcessSandbox().run(code, { externalFunctions: { refuse } });
    expect(result).toMatchObject({ status: "failed", error: { kind: "approval", details: { tool: "wipe" } } });
    expect(JSON.stringify(result).length).toBeLessThan(20_000);
  });
});

describe("a deadline that passes while an error is read", () => {
  it("is a timeout, not a shortage of memory", async () => {
    const code = "setTimeout(() => { throw { get message() { for (;;); } } }, 1); await sleep(1000)";
    const result = await inProcessSandbox().run(code, { limits: { timeoutMs: 150 } });
    expect(result).toMatchObject({ status: "failed", error: { kind: "timeout" } });
  });
});

describe("a lack of memory that leaves none to describe it", () => {
  it.each([
    "const a = []; for (;;) a.push(function* () { yield a }())",
    "const s = 'ab'.repeat(5e6); for (;;) s.localeCompare('ab'.repeat(5e6 - 1))",
    "const a = []; for (;;) a.push({})",
  ])("is of kind memory all the same: %s", async (code) => {
    const result = await inProcessSandbox({ limits: { memoryBytes: 32 << 20 } }).run(code, {});
    expect(result).toMatchObject({ status: "failed", error: { kind: "memory" } });
  });
});
