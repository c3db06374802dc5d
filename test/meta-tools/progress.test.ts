import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CallContext, Progress } from "../../src/catalog/tool.js";
import { ValidationError } from "../../src/errors.js";
import { progressFunction, relayProgress, RunProgress } from "../../src/meta-tools/progress.js";
import { fakeSource } from "../../src/testing.js";
import { engineOf, execute, textOf } from "./engine.js";

let sent: Progress[];
let run: RunProgress;
const values = (): number[] => sent.map(({ progress }) => progress);

/** A context of a client that asked for progress. */
const listening = (onProgress: (progress: Progress) => void): CallContext => ({
  signal: new AbortController().signal,
  onProgress,
});

describe("the progress of a run", () => {
  beforeEach(() => {
    vi.useFakeTimers();
    sent = [];
    run = new RunProgress((progress) => sent.push(progress));
  });
  afterEach(() => {
    run.end();
    vi.useRealTimers();
  });

  it("tells how many calls are done, at most four times a second", () => {
    for (let call = 0; call < 100; call++) {
      run.called();
      vi.advanceTimersByTime(10);
    }
    expect(sent).toEqual([
      { progress: 25, message: "25 calls done" },
      { progress: 50, message: "50 calls done" },
      { progress: 75, message: "75 calls done" },
      { progress: 100, message: "100 calls done" },
    ]);
  });

  it("is silent for a run that ends right after its calls", () => {
    run.called();
    vi.advanceTimersByTime(249);
    run.end();
    vi.advanceTimersByTime(60_000);
    expect(sent).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("gives a sign of life after 15 s of silence, again and again, without moving the bar", () => {
    vi.advanceTimersByTime(14_999);
    expect(sent).toEqual([]);
    vi.advanceTimersByTime(45_001);
    expect(sent.map(({ message }) => message)).toEqual(Array.from({ length: 4 }, () => "still running, 0 calls done"));
    expect(values()).toEqual([...values()].sort((a, b) => a - b));
    expect(new Set(values()).size).toBe(4);
    expect(Math.max(...values())).toBeLessThan(0.01);
  });

  it("gives none while there is other progress", () => {
    for (let second = 1; second <= 60; second++) {
      vi.advanceTimersByTime(1_000);
      run.listener({ progress: second });
    }
    expect(sent).toHaveLength(60);
    vi.advanceTimersByTime(15_000);
    expect(sent).toHaveLength(61);
  });

  it("passes the progress of a call on as it is", () => {
    const nested = { progress: 1, total: 3, message: "step 1", more: { kept: true } };
    run.listener(nested);
    expect(sent[0]).toBe(nested);
  });

  it("rises whatever the calls say, together, one after the other, or backwards", () => {
    for (const progress of [1, 2, 3, 1, 2, 3, 10, 10, 5, 0, -4, 0.5]) run.listener({ progress, total: 10 });
    run.called();
    vi.advanceTimersByTime(20_000);
    run.listener({ progress: 1 });
    expect(sent).toHaveLength(15);
    for (let index = 1; index < sent.length; index++) {
      expect(values()[index]).toBeGreaterThan(values()[index - 1] ?? Infinity);
    }
    for (const { progress, total } of sent.slice(0, 12)) expect(progress).toBeLessThanOrEqual(total ?? 0);
  });

  it("does not fail over numbers without a next one", () => {
    for (const progress of [1e308, 1e308, Infinity, Number.NaN]) run.listener({ progress });
    expect(sent).toHaveLength(3);
  });

  it("is the script's own once the script reports: calls are not counted any more", () => {
    run.report({ progress: 1, total: 4, message: "first page" });
    run.called();
    run.listener({ progress: 99, total: 100 });
    vi.advanceTimersByTime(300);
    run.report({ progress: 2, total: 4 });
    expect(sent).toEqual([
      { progress: 1, total: 4, message: "first page" },
      { progress: 2, total: 4 },
    ]);
    vi.advanceTimersByTime(15_000);
    expect(sent.at(-1)).toEqual({ progress: 2 + 1 / 1024, total: 4, message: "still running, 1 call done" });
  });

  it("sends the first and the last of many reports, and few in between", () => {
    for (let done = 0; done <= 1_000; done++) {
      run.report({ progress: done, total: 1_000 });
      vi.advanceTimersByTime(1);
    }
    run.end();
    expect(sent.at(0)).toEqual({ progress: 0, total: 1_000 });
    expect(sent.at(-1)).toEqual({ progress: 1_000, total: 1_000 });
    expect(sent.length).toBeLessThanOrEqual(6);
  });

  it("ends with the run", () => {
    run.end();
    run.listener({ progress: 1 });
    run.report({ progress: 1 });
    run.called();
    vi.advanceTimersByTime(60_000);
    expect(sent).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("survives a client that is gone", () => {
    let tried = 0;
    const gone = new RunProgress(() => {
      tried++;
      throw new Error("closed");
    });
    gone.listener({ progress: 2 });
    gone.report({ progress: 3 });
    vi.advanceTimersByTime(30_000);
    gone.end();
    expect(tried).toBe(4);
  });

  it("changes nothing for listeners of others", () => {
    const listener = (): void => {};
    const nested = { progress: 1 };
    expect(relayProgress(listener, nested)).toEqual({ listener, progress: nested });
    expect(relayProgress(run.listener, nested)).toEqual({ listener: run.client, progress: nested });
  });

  it.each([[["1"]], [[Number.NaN]], [[1, "2"]], [[1, 2, 3]], [[]], [[{}]]])("of a script refuses %j", (args) => {
    const progress = progressFunction(run) as (...args: unknown[]) => void;
    expect(() => progress(...args)).toThrow(ValidationError);
    expect(() => progress(...args)).toThrow("progress(done, total, message)");
    expect(sent).toEqual([]);
  });

  it("cuts and cleans the message of a script", () => {
    const progress = progressFunction(run) as (...args: unknown[]) => void;
    progress(1, null, `a\u001b[31m\nb${"x".repeat(1_000)}`);
    expect(sent[0]?.message).toMatch(/^a[\x20-\x7e]*bx+/);
    expect(sent[0]?.message?.length).toBeLessThanOrEqual(201);
  });
});

describe("execute", () => {
  const source = fakeSource({ quick: () => "ok" });

  it("sends what a script reports to a client that listens", async () => {
    const seen: Progress[] = [];
    const code = 'progress(1, 2, "half"); await call_tool("quick", {}); await progress(2, 2); return "done"';
    expect(
      textOf(
        await execute(
          engineOf(source),
          code,
          listening((progress) => seen.push(progress)),
        ),
      ),
    ).toBe("done");
    expect(seen).toEqual([
      { progress: 1, total: 2, message: "half" },
      { progress: 2, total: 2 },
    ]);
  });

  it("lets a script report when nobody listens, and tells it what is wrong with a report", async () => {
    const engine = engineOf(source);
    expect(textOf(await execute(engine, "await progress(1, 2, 'x'); return 1"))).toBe("1");
    expect(textOf(await execute(engine, "try { await progress('x') } catch (e) { return e.message }"))).toContain(
      "done must be a number",
    );
  });

  it("counts no report as a call", async () => {
    const outcome = await engineOf(source, { limits: { maxToolCalls: 1 } }).execute({
      code: 'for (let i = 0; i < 9; i++) await progress(i); return await call_tool("quick", {})',
    });
    expect(outcome).toMatchObject({ status: "completed", value: "ok" });
    expect(outcome.calls).toHaveLength(1);
  });

  it("hands the progress of a tool to the client, rising over the calls", async () => {
    const seen: Progress[] = [];
    const source2 = {
      ...source,
      listTools: source.listTools.bind(source),
      callTool: async (_name: string, _args: object, { onProgress }: CallContext) => {
        for (const progress of [1, 2]) onProgress?.({ progress, total: 2 });
        return { content: [{ type: "text", text: "ok" }] };
      },
    };
    const code = 'await call_tool("quick", {}); await call_tool("quick", {}); return 1';
    await execute(
      engineOf(source2),
      code,
      listening((progress) => seen.push(progress)),
    );
    expect(seen).toEqual([
      { progress: 1, total: 2 },
      { progress: 2, total: 2 },
      { progress: 3, total: 4 },
      { progress: 4, total: 4 },
    ]);
  });
});
