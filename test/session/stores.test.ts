import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { fileStore } from "../../src/session/file-store.js";
import { memoryStore } from "../../src/session/memory-store.js";
import type { SessionStore } from "../../src/session/store.js";
import { storeConformance, type ConformanceResult } from "../../src/testing.js";

const root = mkdtempSync(join(tmpdir(), "stores-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const STORES: readonly { kind: string; make: () => SessionStore }[] = [
  { kind: "memoryStore", make: () => memoryStore() },
  { kind: "fileStore", make: () => fileStore({ directory: join(root, "one"), secret: "a secret of some length" }) },
];

async function conformance(store: SessionStore): Promise<ConformanceResult[]> {
  const results: ConformanceResult[] = [];
  for await (const result of storeConformance(store)) results.push(result);
  return results;
}

describe.each(STORES)("$kind", ({ make }) => {
  it("keeps every promise of a store", async () => {
    const store = make();
    const results = await conformance(store);
    expect(results.filter(({ ok }) => !ok)).toEqual([]);
    expect(results.length).toBeGreaterThan(15);
    for await (const key of store.list("")) expect.fail(`the suite left ${key} behind`);
  });
});

const failing = (results: readonly ConformanceResult[]): string[] =>
  results.filter(({ ok }) => !ok).map(({ name }) => name);

/** A store with one method that is wrong in one way. */
const broken = (change: (store: SessionStore) => Partial<SessionStore>): SessionStore => {
  const store = memoryStore();
  const bound: SessionStore = {
    get: (key) => store.get(key),
    put: (key, bytes, options) => store.put(key, bytes, options),
    delete: (key, options) => store.delete(key, options),
    list: (prefix) => store.list(prefix),
  };
  return { ...bound, ...change(store) };
};

describe("storeConformance finds a store", () => {
  it("that checks and writes in two steps", async () => {
    const store = broken((inner) => ({
      async put(key, bytes, { expected, ...rest } = {}) {
        const found = (await inner.get(key))?.revision ?? "absent";
        await new Promise((resolve) => setImmediate(resolve));
        if (expected !== undefined && expected !== found) await inner.put(key, bytes, { expected: "never" });
        return inner.put(key, bytes, rest);
      },
    }));
    expect(failing(await conformance(store))).toEqual([
      "lets one of 50 concurrent claims of an absent key win",
      "lets one of 50 concurrent claims of a revision win",
      "loses no update when 8 writers count to 40 by compare-and-set",
    ]);
  });

  it("that ignores ttlMs", async () => {
    const store = broken((inner) => ({
      put: (key, bytes, { ttlMs: _ttlMs, ...rest } = {}) => inner.put(key, bytes, rest),
    }));
    const only = failing(
      await (async () => {
        const results: ConformanceResult[] = [];
        for await (const result of storeConformance(store, { only: (name) => name.includes("expire") }))
          results.push(result);
        return results;
      })(),
    );
    expect(only).toEqual(["says when an entry expires, and lets it expire"]);
  });

  it("that folds the case of keys", async () => {
    const store = broken((inner) => ({
      get: (key) => inner.get(key.toLowerCase()),
      put: (key, bytes, options) => inner.put(key.toLowerCase(), bytes, options),
    }));
    expect(failing(await conformance(store))).toContain(
      "keeps keys apart that differ in a single character, whatever it is",
    );
  });

  it("that rejects conflicts with an error of its own", async () => {
    const store = broken((inner) => ({
      put: (key, bytes, options) =>
        inner.put(key, bytes, options).catch(() => {
          throw new Error("412");
        }),
    }));
    const [first] = (await conformance(store)).filter(({ ok }) => !ok);
    expect(first?.reason).toContain("should reject with StoreConflictError");
  });
});
