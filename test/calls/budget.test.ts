import { describe, expect, it } from "vitest";
import { CallBudget } from "../../src/calls/budget.js";
import { DEFAULT_LIMITS } from "../../src/calls/limits.js";

const budgetOf = (limits: Partial<typeof DEFAULT_LIMITS>): CallBudget =>
  new CallBudget({ ...DEFAULT_LIMITS, ...limits });

/** Lets every promise job that is due run. */
const jobs = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("the number of calls", () => {
  it("is 50 by default, and the 51st says so", () => {
    const budget = budgetOf({});
    for (let call = 0; call < 50; call++) budget.countCall();
    expect(() => budget.countCall()).toThrow(/at most 50/);
    expect(() => budget.countCall()).toThrow(/at most 50/);
  });

  it("has no bound when the limit was removed", () => {
    const budget = budgetOf({ maxToolCalls: Number.POSITIVE_INFINITY });
    for (let call = 0; call < 1000; call++) budget.countCall();
    expect(() => budget.countCall()).not.toThrow();
  });
});

describe("turns", () => {
  it("are given at once while there is room, and then in the order of asking", async () => {
    const budget = budgetOf({ maxConcurrentCalls: 2 });
    expect(budget.enter(false)).toBeUndefined();
    expect(budget.enter(false)).toBeUndefined();
    const order: string[] = [];
    for (const name of ["third", "fourth"]) void budget.enter(false)?.then(() => order.push(name));
    await jobs();
    expect(order).toEqual([]);
    budget.leave();
    await jobs();
    expect(order).toEqual(["third"]);
    budget.leave();
    await jobs();
    expect(order).toEqual(["third", "fourth"]);
  });

  it("let a sequential call run alone, and nothing pass it in the queue", async () => {
    const budget = budgetOf({ maxConcurrentCalls: 8 });
    expect(budget.enter(false)).toBeUndefined();
    const order: string[] = [];
    void budget.enter(true)?.then(() => order.push("alone"));
    void budget.enter(false)?.then(() => order.push("after"));
    await jobs();
    expect(order).toEqual([]);
    budget.leave();
    await jobs();
    expect(order).toEqual(["alone"]);
    budget.leave();
    await jobs();
    expect(order).toEqual(["alone", "after"]);
  });

  it("are refused after the end, also to those who wait", async () => {
    const budget = budgetOf({ maxConcurrentCalls: 1 });
    expect(budget.enter(false)).toBeUndefined();
    const waiting = budget.enter(false);
    budget.close();
    await expect(waiting).rejects.toMatchObject({ kind: "cancelled" });
    await expect(budget.enter(false)).rejects.toMatchObject({ kind: "cancelled" });
  });
});

describe("bytes", () => {
  it("of arguments pass below and at the limit, and not above", () => {
    const check = (bytes: number) => (): void => budgetOf({ maxArgumentBytes: 100 }).checkArgumentBytes("send", bytes);
    expect(check(99)).not.toThrow();
    expect(check(100)).not.toThrow();
    expect(check(101)).toThrow(/'send'.*101 bytes.*at most 100.*maxArgumentBytes/);
  });

  it("of one result pass below and at the limit, and not above", () => {
    const check = (bytes: number) => (): void => budgetOf({ maxCallResultBytes: 100 }).countResultBytes("list", bytes);
    expect(check(99)).not.toThrow();
    expect(check(100)).not.toThrow();
    expect(check(101)).toThrow(/'list'.*101 bytes.*at most 100.*maxCallResultBytes/);
  });

  it("of all results together are counted over the calls", () => {
    const budget = budgetOf({ maxCallResultBytes: 100, maxTotalResultBytes: 200 });
    budget.countResultBytes("list", 100);
    budget.countResultBytes("list", 100);
    expect(() => budget.countResultBytes("list", 1)).toThrow(/201 bytes.*at most 200.*maxTotalResultBytes/);
  });
});
