import { beforeAll, describe, expect, it } from "vitest";
import { compiledEngine } from "../../src/sandbox/quickjs/engine.js";
import { Instance } from "../../src/sandbox/quickjs/instance.js";
import { KIND, type RunRequest } from "../../src/sandbox/quickjs/protocol.js";
import { ScriptRun } from "../../src/sandbox/quickjs/run.js";

const CANARY = "CANARY-7f3a-secret";
const engine = compiledEngine();
let instance: Instance;

beforeAll(async () => {
  instance = await Instance.create({ engine, memoryBytes: 32 << 20, maxStackBytes: 64 * 1024 });
  instance.configure(request("").config);
});

function request(code: string): RunRequest {
  const config = JSON.stringify({
    functions: ["ask"],
    maxLogBytes: 1000,
    maxResultBytes: 32_768,
    maxArgumentBytes: 1 << 20,
    maxBridgeMessages: 1000,
    truncate: false,
  });
  const limits = {
    timeoutMs: 2_000,
    cpuMs: null,
    memoryBytes: 32 << 20,
    maxStackBytes: 64 * 1024,
    maxBridgeMessages: 1000,
  };
  return { code, config, inputs: null, from: null, openCalls: [], keepSnapshot: false, seed: [1, 2, 3, 4], ...limits };
}

interface Said {
  kind: number;
  id: number;
  text: string;
}

function run(code: string): { said: Said[]; script: ScriptRun } {
  const said: Said[] = [];
  const script = new ScriptRun(instance, request(code), {
    send: (kind, id, bytes, at, length) =>
      said.push({ kind, id, text: Buffer.from(bytes.buffer, bytes.byteOffset + at, length).toString() }),
    cancelled: () => false,
    computing: () => {},
  });
  script.start();
  return { said, script };
}

function occurrences(text: string): number {
  const memory = Buffer.from(instance.memory.buffer);
  let count = 0;
  for (const encoding of ["utf8", "utf16le"] as const) {
    const key = Buffer.from(text, encoding);
    for (let at = memory.indexOf(key); at >= 0; at = memory.indexOf(key, at + 1)) count++;
  }
  return count;
}

describe("an instance", () => {
  it.each<[string, string]>([
    [
      "strings, wide strings and buffers",
      `globalThis.a = "${CANARY}"; const w = "${CANARY}\\u20ac"; const c = []; for (let i = 0; i < 500; i++) c.push("${CANARY}" + i, Uint8Array.from("${CANARY}", (x) => x.charCodeAt(0))); 1`,
    ],
    ["a deep stack", `const f = (n) => { const l = "${CANARY}" + n; return n ? f(n - 1) + l.length : 0 }; f(200)`],
    ["prototypes and calls", `Array.prototype.evil = "${CANARY}"; ask("${CANARY}"); 1`],
    ["much memory, dropped", `{ const c = []; for (let i = 0; i < 3000; i++) c.push("${CANARY}".repeat(200) + i) } 1`],
    ["all memory", `const c = []; for (;;) c.push("${CANARY}".repeat(5000) + c.length)`],
    ["a stack overflow", `const f = (x) => f(x + "${CANARY}".length) + 1; f(0)`],
    ["a syntax error", `const x = "${CANARY}"; let y = ;`],
  ])("forgets every byte of a run: %s", (_name, code) => {
    const pristine = Buffer.from(instance.memory.buffer.slice(0));
    run(code);
    const before = occurrences(CANARY);
    instance.reset();
    expect(before).toBeGreaterThan(0);
    expect(occurrences(CANARY)).toBe(0);
    // Not only the canary: the whole memory is as it was (and zero where it has grown).
    const after = Buffer.from(instance.memory.buffer);
    expect(after.subarray(0, pristine.length).equals(pristine)).toBe(true);
    expect(after.subarray(pristine.length).every((byte) => byte === 0)).toBe(true);
  });

  it("has the same base image in every thread, so that memory of one can be restored in another", async () => {
    const other = await Instance.create({ engine, memoryBytes: 32 << 20, maxStackBytes: 64 * 1024 });
    other.configure(request("").config);
    other.reset();
    instance.reset();
    expect(
      Buffer.from(other.memory.buffer)
        .subarray(0, 16 << 20)
        .equals(Buffer.from(instance.memory.buffer).subarray(0, 16 << 20)),
    ).toBe(true);
  });

  it("cannot grow past its cap", () => {
    run("const c = []; for (;;) c.push(new ArrayBuffer(65536))");
    expect(instance.memorySize).toBeLessThanOrEqual(32 << 20);
    instance.reset();
  });

  it("settles a call once: a second answer and an unknown id are ignored", () => {
    const { said, script } = run("const a = await ask(1); const b = await ask(2); return [a, b].join()");
    const answer = (id: number, text: string) => {
      const bytes = Buffer.from(text);
      script.settle(id, bytes, 0, bytes.length);
    };
    answer(99, '+"unknown"');
    answer(1, '+"one"');
    answer(1, '+"again"');
    answer(2, '+"two"');
    expect(said.filter(({ kind }) => kind === KIND.DONE).map(({ text }) => text)).toEqual(['+[[],"one,two"]']);
    instance.reset();
  });

  it("takes no answer after its end", () => {
    const { said, script } = run("return 1");
    expect(script.over).toBe(true);
    const bytes = Buffer.from('+"late"');
    script.settle(1, bytes, 0, bytes.length);
    expect(said).toHaveLength(1);
    instance.reset();
  });
});

describe("timers", () => {
  it("fire in the order of their times and can be cleared", async () => {
    const { said, script } = run(
      "const seen = []; const t = setTimeout(() => seen.push('never'), 5); setTimeout(() => seen.push('b'), 12); setTimeout((x) => seen.push(x), 4, 'a'); clearTimeout(t); await sleep(20); return seen.join()",
    );
    while (!script.over) {
      await new Promise((resolve) => setTimeout(resolve, script.waitMs()));
      script.tick();
    }
    expect(said.at(-1)?.text).toBe('+[[],"a,b"]');
    instance.reset();
  });
});
