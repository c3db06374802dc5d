import { randomBytes } from "node:crypto";
import { messageOf } from "../errors.js";
import type { SessionStore } from "../session/store.js";
import { withinMs } from "./conformance-bench.js";
import type { ConformanceOptions, ConformanceResult } from "./sandbox-conformance.js";
import { STORE_CHECKS, type StoreCheck } from "./store-checks.js";

/**
 * Checks every promise of {@link SessionStore} against a real store, one small check after the other: values, keys,
 * revisions, compare-and-set under contention, lifetimes and lists. Needs no test framework. All keys begin with a random
 * text and are removed at the end, so a store in use may be given. That compare-and-set holds across processes, which one
 * process cannot show, is for you to test.
 *
 * @example
 * for await (const { name, ok, reason } of storeConformance(myStore())) {
 *   test(name, () => assert.ok(ok, reason));
 * }
 */
export async function* storeConformance(
  store: SessionStore | (() => SessionStore),
  options: ConformanceOptions = {},
): AsyncGenerator<ConformanceResult, void, undefined> {
  const tested = typeof store === "function" ? store() : store;
  const prefix = `mcp-codemode-conformance/${randomBytes(8).toString("hex")}/`;
  try {
    for (const [index, check] of STORE_CHECKS.entries()) {
      if (options.only?.(check.name) === false) continue;
      yield await resultOf(check, tested, `${prefix}${index}/`, options.checkTimeoutMs ?? 30_000);
    }
  } finally {
    await removeAll(tested, prefix);
  }
}

async function resultOf(
  check: StoreCheck,
  store: SessionStore,
  prefix: string,
  timeoutMs: number,
): Promise<ConformanceResult> {
  const { name } = check;
  try {
    await withinMs(timeoutMs, check.verify(store, prefix));
    return { name, ok: true };
  } catch (error) {
    return { name, ok: false, reason: messageOf(error) };
  }
}

/** A store that cannot do this has failed checks that say so. */
async function removeAll(store: SessionStore, prefix: string): Promise<void> {
  try {
    for await (const key of store.list(prefix)) await store.delete(key);
  } catch {
    // See above.
  }
}
