import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { inProcessSandbox } from "../../src/sandbox/quickjs/in-process.js";
import { quickJsSandbox } from "../../src/sandbox/quickjs/provider.js";
import {
  suspend,
  type CallAnswer,
  type SandboxProvider,
  type SandboxResult,
  type SandboxRunOptions,
} from "../../src/sandbox/provider.js";

type Suspended = Extract<SandboxResult, { status: "suspended" }>;

const worker = quickJsSandbox({ maxWorkers: 2 });
const other = quickJsSandbox({ maxWorkers: 2 });
const inProcess = inProcessSandbox();
afterAll(async () => {
  await worker.close?.();
  await other.close?.();
});

/** A function that always waits for somebody outside. */
const waiting = {
  ask: (question: unknown) => {
    throw suspend({ question });
  },
};

async function paused(sandbox: SandboxProvider, code: string, options: SandboxRunOptions = {}): Promise<Suspended> {
  const result = await sandbox.run(code, { externalFunctions: waiting, ...options });
  if (result.status !== "suspended") throw new Error(`not paused: ${JSON.stringify(result)}`);
  return result;
}

const resume = async (
  sandbox: SandboxProvider,
  { snapshot, pending }: Suspended,
  answer: (args: unknown[]) => unknown,
  options: SandboxRunOptions = {},
): Promise<SandboxResult> =>
  (sandbox.resume as NonNullable<SandboxProvider["resume"]>)(
    snapshot,
    pending.map(({ id, args }): CallAnswer => ({ id, value: answer(args) })),
    { externalFunctions: waiting, ...options },
  );

/** Answers each question with its own text in capitals, in a new run each time, until the script ends. */
async function toTheEnd(
  code: string,
  sandboxes: readonly SandboxProvider[],
  options: SandboxRunOptions = {},
): Promise<{ result: SandboxResult; pauses: number }> {
  let result = await (sandboxes[0] as SandboxProvider).run(code, { externalFunctions: waiting, ...options });
  let pauses = 0;
  while (result.status === "suspended") {
    result = await resume(
      sandboxes[++pauses % sandboxes.length] as SandboxProvider,
      result,
      ([question]) => String(question).toUpperCase(),
      options,
    );
  }
  return { result, pauses };
}

/** The same script, never paused. */
async function unpaused(code: string): Promise<unknown> {
  const result = await inProcess.run(code, {
    externalFunctions: { ask: (question: unknown) => String(question).toUpperCase() },
  });
  return result.status === "completed" ? result.value : result;
}

const scripts: Record<string, string> = {
  "closures and loops":
    "let s = ''; for (const q of ['a', 'b', 'c']) { const add = (x) => s += x; add(await ask(q)); } return s",
  "Promise.all": "return (await Promise.all(['a', 'b', 'c'].map((q) => ask(q)))).join()",
  "a race and a later answer":
    "const late = ask('late'); const first = await Promise.race([late, ask('x')]); return [first, await late].join()",
  generators:
    "function* g() { let i = 0; while (true) yield i++ } const it = g(); it.next(); const a = await ask('a'); const b = it.next().value; await ask('b'); return [a, b, it.next().value].join()",
  "async iteration":
    "async function* g() { for (const q of ['a', 'b']) yield ask(q) } const out = []; for await (const x of g()) out.push(x); return out.join()",
  "private fields and getters":
    "class P { #n = 1; static s = 's'; get n() { return this.#n } async up() { this.#n += (await ask('q')).length; return this } } const p = await new P().up(); return p.n + P.s",
  "proxies and reflection":
    "const log = []; const p = new Proxy({ a: 1 }, { get(t, k) { log.push(String(k)); return Reflect.get(t, k) } }); p.a; await ask('q'); p.a; return log.join()",
  "weak maps and symbols":
    "const key = {}, sym = Symbol('s'); const w = new WeakMap([[key, 1]]); const o = { [sym]: 2 }; await ask('q'); return w.get(key) + o[sym] + (Symbol.for('x') === Symbol.for('x'))",
  "maps in order":
    "const m = new Map([['z', 1], ['a', 2]]); m.delete('z'); m.set('z', 3); await ask('q'); m.set('b', 4); return [...m].join(';')",
  "typed arrays and dates":
    "const t = Float64Array.of(1.5, NaN), d = new Date(5); await ask('q'); t[0]++; return [t.join(), d.getTime()].join()",
  "regular expressions with state":
    "const r = /a./g, text = 'abacad'; r.exec(text); await ask('q'); return [r.exec(text)[0], r.lastIndex].join()",
  "timers in flight":
    "const out = []; setTimeout(() => out.push('t'), 20); out.push(await ask('q')); await sleep(30); return out.join()",
  "errors and finally":
    "let s = ''; try { try { await ask('q'); throw new Error('x') } finally { s += await ask('f') } } catch (e) { s += e.message } return s",
  "destructuring and big values":
    "const rows = Array.from({ length: 5000 }, (_, i) => ({ id: i, name: 'row ' + i })); const [{ id }, ...rest] = rows; const q = await ask('q'); return [id, rest.length, q, rest.at(-1).name].join()",
  "BigInt and tagged templates":
    "const tag = (s, ...v) => s.raw.join('|') + v.join(); const n = 2n ** 70n; const q = await ask('q'); return tag`a${q}b${n + 1n}`",
  "many calls in the guest's own queue":
    "const all = await Promise.all(Array.from({ length: 150 }, (_, i) => ask('q' + i))); return all.length + all.at(-1)",
};

describe("a paused script", () => {
  it.each(Object.entries(scripts))("goes on to the same result in other workers: %s", async (_name, code) => {
    const { result, pauses } = await toTheEnd(code, [worker, other]);
    expect(result).toMatchObject({ status: "completed", value: await unpaused(code) });
    expect(pauses).toBeGreaterThan(0);
  });

  it("can be moved between a worker and the thread of the host", async () => {
    const { result } = await toTheEnd(scripts["closures and loops"] as string, [worker, inProcess]);
    expect(result).toMatchObject({ status: "completed", value: "ABC" });
  });

  it("says what it waits for, and takes a few kilobytes", async () => {
    const { pending, snapshot } = await paused(worker, "const x = await ask('why?'); return x + 1");
    expect(pending).toEqual([{ id: 1, name: "ask", args: ["why?"], reason: { question: "why?" } }]);
    expect(snapshot.length).toBeLessThan(16 * 1024);
  });

  it("waits until its other calls were answered", async () => {
    let answerSlow: (value: string) => void = () => {};
    const slow = () => new Promise<string>((resolve) => (answerSlow = resolve));
    const run = worker.run("const [a, b] = await Promise.all([ask('q'), slow()]); return a + b", {
      externalFunctions: { ...waiting, slow },
    });
    setTimeout(() => answerSlow("S"), 30);
    const result = (await run) as Suspended;
    expect(result).toMatchObject({ status: "suspended", pending: [{ name: "ask" }] });
    expect(await resume(worker, result, () => "A", { externalFunctions: { ...waiting, slow } })).toMatchObject({
      value: "AS",
    });
  });

  it("gets errors as answers too", async () => {
    const { pending, snapshot } = await paused(
      worker,
      "try { await ask('q') } catch (e) { return [e.kind, e.message].join() }",
    );
    const id = pending[0]?.id as number;
    const result = await worker.resume?.(snapshot, [{ id, error: { kind: "approval", message: "No." } }], {
      externalFunctions: waiting,
    });
    expect(result).toMatchObject({ status: "completed", value: "approval,No." });
  });

  it("has fresh randomness and the time of now", async () => {
    const code = "Math.random(); const t = Date.now(); await ask('q'); return [Math.random(), Date.now() - t]";
    const first = await paused(worker, code);
    await new Promise((resolve) => setTimeout(resolve, 60));
    const values = await Promise.all(
      [1, 2].map(async () => ((await resume(worker, first, () => 1)) as { value: [number, number] }).value),
    );
    expect(values[0]?.[0]).not.toBe(values[1]?.[0]);
    expect(values[0]?.[1]).toBeGreaterThanOrEqual(50);
  });

  it("keeps its limits: time, memory and result are those of the resuming run", async () => {
    const first = await paused(worker, "await ask('q'); for (;;);");
    expect(await resume(worker, first, () => 1, { limits: { timeoutMs: 150 } })).toMatchObject({
      status: "failed",
      error: { kind: "timeout" },
    });
    const big = await paused(
      worker,
      "const b = [...Array(24)].map((_, i) => Uint8Array.from({ length: 1e6 }).fill(i)); await ask('q'); return b.length",
    );
    expect(await resume(worker, big, () => 1, { limits: { memoryBytes: 20 << 20 } })).toMatchObject({
      status: "failed",
      error: { kind: "sandbox", message: expect.stringContaining("memoryBytes") },
    });
    expect(await resume(worker, big, () => 1)).toMatchObject({ status: "completed", value: 24 });
  });

  it("leaves nothing in the memory of the worker that it was resumed in", async () => {
    const one = quickJsSandbox({ maxWorkers: 1, minWorkers: 1 });
    const first = await paused(one, "globalThis.evil = 'CANARY'; Array.prototype.evil = 1; await ask('q'); return 1");
    await resume(one, first, () => 1);
    expect(await one.run("return typeof evil + typeof [].evil", {})).toMatchObject({ value: "undefinedundefined" });
    await one.close?.();
  });

  it("can be paused from outside while it waits for calls", async () => {
    const pause = new AbortController();
    const never = () => new Promise(() => {});
    const run = worker.run("return await never('x')", { externalFunctions: { never }, pause: pause.signal });
    setTimeout(() => pause.abort(), 30);
    const result = (await run) as Suspended;
    expect(result).toMatchObject({ status: "suspended", pending: [{ name: "never", args: ["x"], reason: "pause" }] });
    expect(await resume(worker, result, () => "now")).toMatchObject({ value: "now" });
  });

  it("goes on in another process", async () => {
    const { snapshot, pending } = await paused(
      worker,
      "const seen = new Map([['k', 1]]); const x = await ask('q'); return [x, seen.get('k')].join()",
    );
    const folder = mkdtempSync(join(tmpdir(), "suspend-"));
    const file = join(folder, "snapshot");
    writeFileSync(file, snapshot);
    const program = `
      import { readFileSync } from "node:fs";
      import { quickJsSandbox } from ${JSON.stringify(new URL("../../dist/sandbox.js", import.meta.url).href)};
      const sandbox = quickJsSandbox();
      const result = await sandbox.resume(readFileSync(process.argv[1]), [{ id: ${pending[0]?.id}, value: "there" }], { externalFunctions: { ask: () => 1 } });
      console.log(JSON.stringify(result.value ?? result));
      await sandbox.close();`;
    const out = execFileSync(process.execPath, ["--input-type=module", "-e", program, file]).toString();
    rmSync(folder, { recursive: true });
    expect(JSON.parse(out)).toBe("there,1");
  });
});

describe("a snapshot from somewhere", () => {
  const tryToResume = async (change: (bytes: Buffer) => Buffer): Promise<SandboxResult> => {
    const first = await paused(worker, "return await ask('q')");
    return resume(worker, { ...first, snapshot: change(Buffer.from(first.snapshot)) }, () => 1);
  };
  const header = (bytes: Buffer): Buffer => bytes.subarray(0, 84);

  it.each<[string, (bytes: Buffer) => Buffer]>([
    ["is empty", () => Buffer.alloc(0)],
    ["is cut", (bytes) => bytes.subarray(0, bytes.length - 10)],
    ["is of another format", (bytes) => (bytes.writeUInt16LE(99, 4), bytes)],
    ["is of another engine", (bytes) => (bytes.writeUInt8(bytes.readUInt8(8) ^ 1, 8), bytes)],
    ["is of another prelude", (bytes) => (bytes.writeUInt8(bytes.readUInt8(40) ^ 1, 40), bytes)],
    ["claims more memory than allowed", (bytes) => (bytes.writeUInt32LE(0xffffff00, 72), bytes)],
    ["claims more ranges than there are", (bytes) => (bytes.writeUInt32LE(bytes.readUInt32LE(76) + 1, 76), bytes)],
    ["inflates to a gigabyte", (bytes) => Buffer.concat([header(bytes), deflateRawSync(Buffer.alloc(1 << 30))])],
    ["writes outside of memory", (bytes) => withRanges(bytes, [[0xfffff000, 0xfffff100]])],
    ["writes where it may not", (bytes) => withRanges(bytes, [[1 << 20, (1 << 20) + 256]])],
    ["writes backwards", (bytes) => withRanges(bytes, [[512, 256]])],
    [
      "writes one place twice",
      (bytes) =>
        withRanges(bytes, [
          [256, 512],
          [256, 512],
        ]),
    ],
  ])("is refused with a clear error when it %s", async (_what, change) => {
    const started = performance.now();
    expect(await tryToResume(change)).toMatchObject({
      status: "failed",
      error: { kind: "sandbox", message: expect.stringMatching(/^The paused script cannot go on here: /) },
    });
    expect(performance.now() - started).toBeLessThan(3000);
    expect(await worker.run("return 1", {})).toMatchObject({ value: 1 });
  });

  it("cannot make an answer up: unknown ids settle nothing", async () => {
    const { snapshot } = await paused(worker, "return await ask('q')");
    const result = await worker.resume?.(snapshot, [{ id: 77, value: "forged" }], {
      externalFunctions: waiting,
      limits: { timeoutMs: 300 },
    });
    expect(result).toMatchObject({ status: "failed" });
  });

  it("with random memory in it ends, and the next run is sound", async () => {
    const first = await paused(worker, "return await ask('q')");
    for (let round = 0; round < 10; round++) {
      const snapshot = scrambled(Buffer.from(first.snapshot), round);
      const result = await resume(worker, { ...first, snapshot }, () => 1, {
        limits: { timeoutMs: 300, memoryBytes: 64 << 20 },
      });
      expect(result.status).toBeOneOf(["failed", "completed", "suspended"]);
      expect(await worker.run("return [2, 1].sort().join() + Object.keys(globalThis).length", {})).toMatchObject({
        status: "completed",
      });
    }
  });
});

/** A well-formed snapshot with these ranges, full of zeros. */
function withRanges(bytes: Buffer, ranges: readonly (readonly [number, number])[]): Buffer {
  const head = Buffer.from(bytes.subarray(0, 84));
  head.writeUInt32LE(ranges.length, 76);
  head.writeUInt32LE(4, 80);
  const table = Buffer.from(Uint32Array.from(ranges.flat()).buffer);
  return Buffer.concat([
    head,
    deflateRawSync(Buffer.concat([table, Buffer.from("null"), Buffer.alloc(256 * ranges.length)])),
  ]);
}

/** A well-formed snapshot that fills a part of the heap with noise. */
function scrambled(bytes: Buffer, seed: number): Buffer {
  const head = Buffer.from(bytes.subarray(0, 84));
  const end = head.readUInt32LE(72);
  const start = (end - 4096 * (8 + seed)) & -256;
  head.writeUInt32LE(1, 76);
  head.writeUInt32LE(4, 80);
  const noise = Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 2654435761 * (seed + 1)) >>> 24));
  const table = Buffer.from(Uint32Array.from([start, start + 4096]).buffer);
  return Buffer.concat([head, deflateRawSync(Buffer.concat([table, Buffer.from("null"), noise]))]);
}

describe("the memory of a finished script", () => {
  const kept = async (code: string, from?: Uint8Array): Promise<SandboxResult & { snapshot: Uint8Array }> => {
    const result = await worker.run(code, {
      keepSnapshot: true,
      externalFunctions: waiting,
      ...(from === undefined ? {} : { from }),
    });
    if (result.snapshot === undefined) throw new Error(`no snapshot: ${JSON.stringify(result)}`);
    return result as SandboxResult & { snapshot: Uint8Array };
  };

  it("is where the next one starts: its globals are there", async () => {
    const first = await kept("globalThis.count = 1; globalThis.add = (n) => count += n; return count");
    const second = await kept("return add(5)", first.snapshot);
    expect(second).toMatchObject({ value: 6 });
    expect(await kept("return count", second.snapshot)).toMatchObject({ value: 6 });
  });

  it("is kept after a failure too", async () => {
    const failed = await kept("globalThis.x = 1; throw new Error('late')");
    expect(failed.status).toBe("failed");
    expect(await kept("return x", failed.snapshot)).toMatchObject({ value: 1 });
  });

  it("carries nothing of the run itself: results, timers, logs and calls are those of the new one", async () => {
    const first = await kept(
      "RESULT = 'old'; setTimeout(() => console.log('never'), 5); for (let i = 0; i < 2000; i++) console.log('x'.repeat(20)); undefined",
    );
    const second = await kept("console.log('new'); await sleep(20); undefined", first.snapshot);
    expect(second).toMatchObject({ status: "completed", value: undefined, logs: [{ text: "new" }] });
  });
});
