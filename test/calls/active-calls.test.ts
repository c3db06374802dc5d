import { describe, expect, it } from "vitest";
import { ActiveCalls } from "../../src/calls/active-calls.js";
import { deriveContext, type CallContext } from "../../src/catalog/tool.js";
import { CancelledError } from "../../src/errors.js";

const never = (): Promise<never> => new Promise(() => {});
const contextOf = (signal = new AbortController().signal): CallContext => ({ signal, callerId: "ada" });

describe("a call under way", () => {
  it("gets the caller's context with a signal of its own, also when the context is derived again", async () => {
    const caller = contextOf();
    const calls = new ActiveCalls(caller, 1000);
    const seen = await calls.run("look", async (context) => {
      const derived = deriveContext(context, {});
      return {
        callerId: derived.callerId,
        own: derived.signal !== caller.signal,
        same: derived.signal === context.signal,
      };
    });
    expect(seen).toEqual({ callerId: "ada", own: true, same: true });
    calls.end();
  });

  it("fails when it takes too long, and its signal is aborted; a faster one goes on", async () => {
    const calls = new ActiveCalls(contextOf(), 30);
    let signal: AbortSignal | undefined;
    const slow = calls.run("slow", (context) => {
      ({ signal } = context);
      return never();
    });
    await expect(slow).rejects.toMatchObject({ kind: "timeout", message: expect.stringContaining("30 ms") as string });
    expect(signal?.aborted).toBe(true);
    expect(await calls.run("fast", async () => 1)).toBe(1);
    calls.end();
  });

  it("has its whole time, whatever the time of the call before was", async () => {
    const calls = new ActiveCalls(contextOf(), 60);
    const first = calls.run("first", never).catch((error: unknown) => error);
    await new Promise((resolve) => setTimeout(resolve, 30));
    const started = performance.now();
    const second = calls.run("second", never).catch(() => performance.now() - started);
    expect(await first).toMatchObject({ kind: "timeout" });
    expect(await second).toBeGreaterThan(55);
    calls.end();
  });

  it("is aborted when the caller gives up", async () => {
    const controller = new AbortController();
    const calls = new ActiveCalls(contextOf(controller.signal), 1000);
    let signal: AbortSignal | undefined;
    const call = calls.run("slow", (context) => {
      ({ signal } = context);
      return never();
    });
    controller.abort();
    await expect(call).rejects.toBeInstanceOf(CancelledError);
    expect(signal?.aborted).toBe(true);
    await expect(calls.run("late", async () => 1)).rejects.toMatchObject({ kind: "cancelled" });
  });

  it("leaves no listener on the caller's signal after the end of the run", () => {
    const controller = new AbortController();
    let listeners = 0;
    const { signal } = controller;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = ((...args: Parameters<typeof add>) => (listeners++, add(...args))) as typeof add;
    signal.removeEventListener = ((...args: Parameters<typeof remove>) => (
      listeners--,
      remove(...args)
    )) as typeof remove;
    const calls = new ActiveCalls(contextOf(signal), 1000);
    for (let call = 0; call < 20; call++) calls.run("slow", never).catch(() => {});
    expect(listeners).toBe(1);
    calls.end();
    expect(listeners).toBe(0);
  });

  it("takes a source that throws at once for one that rejects", async () => {
    const calls = new ActiveCalls(contextOf(), 1000);
    const call = calls.run("bad", () => {
      throw new Error("at once");
    });
    await expect(call).rejects.toThrow("at once");
    calls.end();
  });
});
