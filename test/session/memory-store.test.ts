import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ConfigurationError, LimitError } from "../../src/errors.js";
import { memoryStore, sharedMemoryStore } from "../../src/session/memory-store.js";

const bytes = (length: number): Uint8Array => new Uint8Array(length);

afterEach(() => {
  vi.useRealTimers();
});

describe("memoryStore", () => {
  it("drops what was not used for the longest time when it is full", async () => {
    const store = memoryStore({ maxBytes: 4_000 });
    for (const key of ["a", "b", "c"]) await store.put(key, bytes(1_000));
    await store.get("a");
    await store.put("d", bytes(1_000));
    const kept: string[] = [];
    for await (const key of store.list("")) kept.push(key);
    expect(kept.sort()).toEqual(["a", "c", "d"]);
  });

  it("counts what was replaced or deleted no more", async () => {
    const store = memoryStore({ maxBytes: 4_000 });
    await store.put("kept", bytes(1_000));
    for (let round = 0; round < 20; round++) await store.put("a", bytes(1_000));
    for (let round = 0; round < 20; round++) {
      await store.put(`b${round}`, bytes(1_000));
      await store.delete(`b${round}`);
    }
    expect(await store.get("kept")).toBeDefined();
  });

  it("drops what has expired before anything that has not", async () => {
    vi.useFakeTimers();
    const store = memoryStore({ maxBytes: 4_000 });
    await store.put("old", bytes(1_000));
    await store.put("expired", bytes(1_000), { ttlMs: 50 });
    await store.put("young", bytes(1_000));
    vi.setSystemTime(Date.now() + 60);
    await store.put("new", bytes(1_000));
    expect(await store.get("old")).toBeDefined();
    expect(await store.get("young")).toBeDefined();
  });

  it("counts entries without bytes too", async () => {
    const store = memoryStore({ maxBytes: 10_000 });
    for (let index = 0; index < 1_000; index++) await store.put(`k${index}`, bytes(0));
    let count = 0;
    for await (const _ of store.list("")) count++;
    expect(count).toBeLessThan(40);
  });

  it("refuses what is larger than the whole store, and keeps the rest", async () => {
    const store = memoryStore({ maxBytes: 2_000 });
    await store.put("a", bytes(100));
    await expect(store.put("b", bytes(2_000))).rejects.toThrow(LimitError);
    await expect(store.put("a", bytes(2_000))).rejects.toThrow("the store holds 2000 (memoryStore: maxBytes)");
    expect((await store.get("a"))?.bytes).toHaveLength(100);
  });

  it.each([[{ maxBytes: 0 }], [{ maxBytes: 1.5 }], [{ maxBytes: "1" }], [{ maxByte: 1 }]])(
    "refuses the options %j",
    (options) => {
      expect(() => memoryStore(options as never)).toThrow(ConfigurationError);
    },
  );

  it.each([[""], ["x".repeat(513)], ["a\ud800"], [undefined]])("refuses the key %j", async (key) => {
    await expect(memoryStore().put(key as string, bytes(1))).rejects.toThrow(ConfigurationError);
    await expect(memoryStore().get(key as string)).rejects.toThrow("1 to 512 characters");
  });

  it.each([
    [{ ttlMs: 0 }],
    [{ ttlMs: -1 }],
    [{ ttlMs: NaN }],
    [{ ttlMs: Infinity }],
    [{ expected: null }],
    [{ expected: "" }],
  ])("refuses to put with %j", async (options) => {
    await expect(memoryStore().put("a", bytes(1), options as never)).rejects.toThrow(ConfigurationError);
  });

  it("is one per process for those who name none, and another one for each who makes one", () => {
    expect(sharedMemoryStore()).toBe(sharedMemoryStore());
    expect(memoryStore()).not.toBe(memoryStore());
  });
});

describe("the timer of memoryStore", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });

  it("gives memory back when entries expire, and then is gone", async () => {
    const store = memoryStore();
    for (let index = 0; index < 50; index++) await store.put(`k${index}`, bytes(10), { ttlMs: 1_000 + index * 10 });
    await store.put("kept", bytes(10));
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(2_000);
    expect(vi.getTimerCount()).toBe(0);
    const keys: string[] = [];
    for await (const key of store.list("")) keys.push(key);
    expect(keys).toEqual(["kept"]);
  });

  it("copes with lifetimes longer than a timer can wait", async () => {
    const store = memoryStore();
    await store.put("a", bytes(10), { ttlMs: 2 ** 40 });
    vi.advanceTimersByTime(1_000);
    expect(vi.getTimerCount()).toBe(1);
    expect(await store.get("a")).toBeDefined();
  });
});
