import { StoreConflictError, type SessionStore } from "../session/store.js";
import { BrokenPromise, expectSame, expectThat } from "./conformance-bench.js";

/** One promise of a store, in words, and how to find out. */
export interface StoreCheck {
  /** The promise, as a sentence about the store. */
  name: string;
  /** Throws when the promise is broken. All its keys begin with `prefix`. */
  verify(store: SessionStore, prefix: string): Promise<void>;
}

const MINUTE_MS = 60_000;

/** Every check, in the order in which they make sense. */
export const STORE_CHECKS: readonly StoreCheck[] = [
  {
    name: "gives back the bytes that were put, all 256 values of them",
    async verify(store, prefix) {
      const bytes = Uint8Array.from({ length: 1024 }, (_, index) => index % 256);
      await store.put(`${prefix}a`, bytes);
      await expectBytes(store, `${prefix}a`, bytes);
    },
  },
  {
    name: "keeps no bytes as well as some megabytes",
    async verify(store, prefix) {
      const large = new Uint8Array(3 * 1024 * 1024).fill(7);
      await store.put(`${prefix}empty`, new Uint8Array());
      await store.put(`${prefix}large`, large);
      await expectBytes(store, `${prefix}empty`, new Uint8Array());
      await expectBytes(store, `${prefix}large`, large);
    },
  },
  {
    name: "has nothing under a key that was never put",
    verify: (store, prefix) => expectAbsent(store, `${prefix}never`),
  },
  {
    name: "keeps its own copy of the bytes, both ways",
    async verify(store, prefix) {
      const given = Uint8Array.of(1, 2, 3);
      await store.put(`${prefix}a`, given);
      given.fill(0);
      (await store.get(`${prefix}a`))?.bytes.fill(9);
      await expectBytes(store, `${prefix}a`, Uint8Array.of(1, 2, 3));
    },
  },
  {
    name: "keeps keys apart that differ in a single character, whatever it is",
    async verify(store, prefix) {
      const endings = [
        "a",
        "A",
        "a ",
        "a/",
        "a/b",
        "a\\b",
        "../a",
        "a\u0000",
        "a%2F",
        "é",
        "e\u0301",
        "😀",
        "__proto__",
        "*",
        "a\n",
      ];
      for (const [index, ending] of endings.entries()) await store.put(prefix + ending, Uint8Array.of(index));
      for (const [index, ending] of endings.entries()) await expectBytes(store, prefix + ending, Uint8Array.of(index));
      expectSame(await keysOf(store, prefix), endings.map((ending) => prefix + ending).sort(), "the list of keys");
    },
  },
  {
    name: "takes keys of 512 characters",
    async verify(store, prefix) {
      const key = prefix.padEnd(512, "€");
      await store.put(key, Uint8Array.of(1));
      await expectBytes(store, key, Uint8Array.of(1));
      expectSame(await keysOf(store, prefix), [key], "the list of keys");
    },
  },
  {
    name: "gives a new revision with every put, the one that get shows, and never an old one again",
    async verify(store, prefix) {
      const key = `${prefix}a`;
      const seen = new Set<string>();
      for (let round = 0; round < 5; round++) {
        const revision = await store.put(key, Uint8Array.of(1));
        expectThat(
          typeof revision === "string" && revision !== "" && revision !== "absent",
          'a revision is a text, never "absent"',
        );
        expectSame((await store.get(key))?.revision, revision, "the revision that get shows");
        expectThat(!seen.has(revision), "a revision should never come back, not even after a delete");
        seen.add(revision);
        if (round % 2 === 1) await store.delete(key);
      }
    },
  },
  {
    name: "replaces an entry when its revision stands there, and leaves it alone otherwise",
    async verify(store, prefix) {
      const key = `${prefix}a`;
      const first = await store.put(key, Uint8Array.of(1));
      const second = await store.put(key, Uint8Array.of(2), { expected: first });
      await expectConflict(store.put(key, Uint8Array.of(3), { expected: first }));
      await expectBytes(store, key, Uint8Array.of(2));
      await store.put(key, Uint8Array.of(4), { expected: second });
      await expectBytes(store, key, Uint8Array.of(4));
    },
  },
  {
    name: 'takes "absent" only while nothing is there, and a revision only while something is',
    async verify(store, prefix) {
      const key = `${prefix}a`;
      const revision = await store.put(key, Uint8Array.of(1), { expected: "absent" });
      await expectConflict(store.put(key, Uint8Array.of(2), { expected: "absent" }));
      await store.delete(key);
      await expectConflict(store.put(key, Uint8Array.of(3), { expected: revision }));
      await expectAbsent(store, key);
      await store.put(key, Uint8Array.of(4), { expected: "absent" });
      await expectBytes(store, key, Uint8Array.of(4));
    },
  },
  {
    name: "deletes by revision only while it stands there; without one nothing to delete is no error",
    async verify(store, prefix) {
      const key = `${prefix}a`;
      const first = await store.put(key, Uint8Array.of(1));
      const second = await store.put(key, Uint8Array.of(2));
      await expectConflict(store.delete(key, { expected: first }));
      await expectBytes(store, key, Uint8Array.of(2));
      await store.delete(key, { expected: second });
      await expectAbsent(store, key);
      await expectConflict(store.delete(key, { expected: second }));
      await store.delete(key);
    },
  },
  {
    name: "lets one of 50 concurrent claims of an absent key win",
    verify: (store, prefix) => expectOneWinner(store, `${prefix}a`, "absent"),
  },
  {
    name: "lets one of 50 concurrent claims of a revision win",
    async verify(store, prefix) {
      const revision = await store.put(`${prefix}a`, Uint8Array.of(255));
      await expectOneWinner(store, `${prefix}a`, revision);
    },
  },
  {
    name: "loses no update when 8 writers count to 40 by compare-and-set",
    async verify(store, prefix) {
      const key = `${prefix}count`;
      await store.put(key, Uint8Array.of(0));
      await Promise.all(Array.from({ length: 8 }, () => count(store, key, 5)));
      await expectBytes(store, key, Uint8Array.of(40));
    },
  },
  {
    name: "says when an entry expires, and lets it expire",
    async verify(store, prefix) {
      const [key, kept] = [`${prefix}a`, `${prefix}kept`];
      await store.put(kept, Uint8Array.of(1), { ttlMs: MINUTE_MS });
      const expiresAt = (await store.get(kept))?.expiresAt ?? 0;
      expectThat(
        Math.abs(expiresAt - Date.now() - MINUTE_MS) < 10_000,
        "expiresAt should be ttlMs from now, in milliseconds since 1970",
      );
      const revision = await store.put(key, Uint8Array.of(2), { ttlMs: 40 });
      await untilAbsent(store, key);
      expectSame(await keysOf(store, prefix), [kept], "the list of keys");
      await expectConflict(store.put(key, Uint8Array.of(3), { expected: revision }));
      await store.put(key, Uint8Array.of(4), { expected: "absent" });
      await expectBytes(store, key, Uint8Array.of(4));
    },
  },
  {
    name: "forgets an old lifetime when an entry is put without one",
    async verify(store, prefix) {
      const [key, short] = [`${prefix}a`, `${prefix}short`];
      await store.put(key, Uint8Array.of(1), { ttlMs: 40 });
      await store.put(key, Uint8Array.of(2));
      await store.put(short, Uint8Array.of(1), { ttlMs: 60 });
      await untilAbsent(store, short);
      await expectBytes(store, key, Uint8Array.of(2));
      expectSame((await store.get(key))?.expiresAt, undefined, "expiresAt of an entry without a lifetime");
    },
  },
  {
    name: "lists the keys of a prefix and no others",
    async verify(store, prefix) {
      for (const key of ["run/1", "run/2", "runner", "artifact/1"]) await store.put(prefix + key, Uint8Array.of(1));
      expectSame(await keysOf(store, `${prefix}run/`), [`${prefix}run/1`, `${prefix}run/2`], "the list of keys");
      await store.delete(`${prefix}run/1`);
      expectSame(await keysOf(store, `${prefix}run/`), [`${prefix}run/2`], "the list of keys");
      expectSame(await keysOf(store, `${prefix}nothing/`), [], "the list of keys");
    },
  },
  {
    name: "lets a caller get and put while it lists, and meets each key once",
    async verify(store, prefix) {
      for (let index = 0; index < 5; index++) await store.put(`${prefix}${index}`, Uint8Array.of(1));
      const listed: string[] = [];
      for await (const key of store.list(prefix)) {
        listed.push(key);
        expectThat(listed.length <= 5, "each key should be listed once");
        const entry = await store.get(key);
        await store.put(key, Uint8Array.of(2), { expected: entry?.revision ?? "absent" });
      }
      expectSame(listed.length, 5, "the number of listed keys");
    },
  },
  {
    name: "lets a caller delete and stop while it lists",
    async verify(store, prefix) {
      for (let index = 0; index < 10; index++) await store.put(`${prefix}${index}`, Uint8Array.of(1));
      let listed = 0;
      for await (const key of store.list(prefix)) {
        await store.delete(key);
        if (++listed === 5) break;
      }
      expectSame((await keysOf(store, prefix)).length, 5, "the number of keys that are left");
    },
  },
];

async function expectBytes(store: SessionStore, key: string, wanted: Uint8Array): Promise<void> {
  const found = await store.get(key);
  if (found === undefined) throw new BrokenPromise("the entry should be there, and is not");
  expectThat(found.bytes instanceof Uint8Array, "bytes should be a Uint8Array");
  expectThat(
    Buffer.compare(found.bytes, wanted) === 0,
    `the entry should hold ${wanted.length} bytes as put; it holds ${found.bytes.length}, or others`,
  );
}

async function expectAbsent(store: SessionStore, key: string): Promise<void> {
  expectSame(await store.get(key), undefined, "the entry");
}

async function expectConflict(attempt: Promise<unknown>): Promise<void> {
  try {
    await attempt;
  } catch (error) {
    expectThat(
      StoreConflictError.isInstance(error),
      "it should reject with StoreConflictError, not with another error",
    );
    return;
  }
  throw new BrokenPromise("it should reject with StoreConflictError, and succeeded");
}

async function expectOneWinner(store: SessionStore, key: string, expected: string): Promise<void> {
  const claims = Array.from({ length: 50 }, (_, index) => store.put(key, Uint8Array.of(index), { expected }));
  const settled = await Promise.allSettled(claims);
  const winners = settled.flatMap(({ status }, index) => (status === "fulfilled" ? [index] : []));
  for (const claim of settled) {
    if (claim.status === "rejected") await expectConflict(Promise.reject(claim.reason as Error));
  }
  expectSame(winners.length, 1, "the number of claims that won");
  await expectBytes(store, key, Uint8Array.from(winners));
}

async function count(store: SessionStore, key: string, times: number): Promise<void> {
  for (let done = 0; done < times;) {
    const entry = await store.get(key);
    if (entry === undefined) throw new BrokenPromise("the entry should be there, and is not");
    try {
      await store.put(key, Uint8Array.of((entry.bytes[0] ?? 0) + 1), { expected: entry.revision });
      done++;
    } catch (error) {
      if (!StoreConflictError.isInstance(error)) throw error;
    }
  }
}

/** Nothing tells of an expiry, so it is asked for. */
async function untilAbsent(store: SessionStore, key: string): Promise<void> {
  const deadline = Date.now() + 5_000;
  while ((await store.get(key)) !== undefined) {
    expectThat(Date.now() < deadline, "an entry should be gone after ttlMs; it was still there 5 s later");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function keysOf(store: SessionStore, prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const key of store.list(prefix)) keys.push(key);
  return keys.sort();
}
