import { setTimeout as sleep } from "node:timers/promises";
import { ToolCallError } from "../errors.js";
import { type Check, expectKind, expectSame, expectThat } from "./conformance-bench.js";

/** A function that answers only once it was called `count` times: shows that calls run at the same time. */
function barrier(count: number): (value: number) => Promise<number> {
  const waiting: (() => void)[] = [];
  return async (value) => {
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      if (waiting.length === count) for (const release of waiting) release();
    });
    return value * 2;
  };
}

/** What a script may do with functions of the host. */
export const CALL_CHECKS: readonly Check[] = [
  {
    name: "calls a sync function of the host and awaits its answer",
    async verify(bench) {
      const add = (a: number, b: number): number => a + b;
      expectSame(await bench.value("return await add(2, 3)", { externalFunctions: { add } }), 5);
    },
  },
  {
    name: "calls an async function of the host",
    async verify(bench) {
      const later = async (value: unknown): Promise<unknown> => ({ got: value });
      expectSame(await bench.value("return await later([1])", { externalFunctions: { later } }), { got: [1] });
    },
  },
  {
    name: "gives the script a promise for every call",
    async verify(bench) {
      const code = "return typeof one().then";
      expectSame(await bench.value(code, { externalFunctions: { one: () => 1 } }), "function");
    },
  },
  {
    name: "gives nothing when a function of the host answers nothing",
    async verify(bench) {
      const code = "return (await nothing()) ?? null";
      expectSame(await bench.value(code, { externalFunctions: { nothing: () => undefined } }), null);
    },
  },
  {
    name: "lets a script catch what a function of the host throws",
    async verify(bench) {
      const fail = (): never => {
        throw new Error("row 7 is locked");
      };
      const code = `try { await fail() } catch (e) { return [e instanceof Error, e.message.includes("row 7 is locked")] }`;
      expectSame(await bench.value(code, { externalFunctions: { fail } }), [true, true]);
    },
  },
  {
    name: "lets a script catch what an async function of the host rejects with",
    async verify(bench) {
      const fail = async (): Promise<never> => Promise.reject(new Error("later and locked"));
      const code = `try { await fail() } catch (e) { return e.message.includes("later and locked") }`;
      expectSame(await bench.value(code, { externalFunctions: { fail } }), true);
    },
  },
  {
    name: "survives functions of the host that throw null, text or undefined",
    async verify(bench) {
      for (const thrown of [null, "text", undefined] as unknown[]) {
        const fail = async (): Promise<never> => Promise.reject(thrown as Error);
        const code = `try { await fail(); return "no error" } catch (e) { return "caught" }`;
        expectSame(await bench.value(code, { externalFunctions: { fail } }), "caught");
      }
    },
  },
  {
    name: "fails with the message of a host error that the script does not catch",
    async verify(bench) {
      const fail = (): never => {
        throw new ToolCallError("row 8 is locked");
      };
      const error = await bench.error("await fail()", { externalFunctions: { fail } });
      expectThat(error.message.includes("row 8 is locked"), `the message is lost: ${error.message}`);
      if (bench.accepts === "script") expectKind(error, "tool");
      else expectKind(error, "tool", "runtime");
    },
  },
  {
    name: "keeps the host's stack and paths out of errors",
    async verify(bench) {
      const fail = (): never => {
        const error = new Error("lookup failed", { cause: "password=hunter2" });
        error.stack = "Error: lookup failed\n    at /srv/app/secret/keys.ts:42";
        throw error;
      };
      const code = `try { await fail() } catch (e) { return [e.message, String(e.stack), String(e.cause), JSON.stringify(e)].join("\\n") }`;
      const text = String(await bench.value(code, { externalFunctions: { fail } }));
      expectThat(!text.includes("/srv/app"), "the error in the script holds a path of the host");
      expectThat(!text.includes("hunter2"), "the error in the script holds the cause of the host's error");
    },
  },
  {
    name: "runs calls of one script at the same time",
    async verify(bench) {
      const code = "return await Promise.all([1, 2, 3, 4, 5].map((n) => meet(n)))";
      expectSame(await bench.value(code, { externalFunctions: { meet: barrier(5) } }), [2, 4, 6, 8, 10]);
    },
  },
  {
    name: "gives each call its own answer when answers come in another order",
    async verify(bench) {
      const waiting: { value: string; answer: (value: string) => void }[] = [];
      const wait = (value: string): Promise<string> =>
        new Promise((answer) => {
          waiting.push({ value, answer });
          if (waiting.length === 3) for (const call of waiting.toReversed()) call.answer(`${call.value}!`);
        });
      const code = `return await Promise.all(["a", "b", "c"].map((t) => wait(t)))`;
      expectSame(await bench.value(code, { externalFunctions: { wait } }), ["a!", "b!", "c!"]);
    },
  },
  {
    name: "keeps one failing call from disturbing the others",
    async verify(bench) {
      const odd = async (n: number): Promise<number> => (n % 2 === 0 ? n : Promise.reject(new Error(`odd ${n}`)));
      const code = "return (await Promise.allSettled([1, 2, 3, 4].map((n) => odd(n)))).map((s) => s.status)";
      const statuses = ["rejected", "fulfilled", "rejected", "fulfilled"];
      expectSame(await bench.value(code, { externalFunctions: { odd } }), statuses);
    },
  },
  {
    name: "keeps two scripts that are started together apart",
    async verify(bench) {
      const both = barrier(2);
      // A sandbox may also run them one after the other: then nobody comes.
      const meet = (n: number): Promise<unknown> => Promise.race([both(n), sleep(200)]);
      const run = (n: number): Promise<unknown> =>
        bench.value("globalThis.mine = own; await meet(own); return [globalThis.mine, own]", {
          inputs: { own: n },
          externalFunctions: { meet },
        });
      expectSame(await Promise.all([run(1), run(2)]), [
        [1, 1],
        [2, 2],
      ]);
    },
  },
  {
    name: "keeps a late answer out of the next run",
    async verify(bench) {
      let answerLate: (value: string) => void = () => undefined;
      const late = (): Promise<string> => new Promise((resolve) => (answerLate = resolve));
      await bench.run("late(); return 1", { externalFunctions: { late }, limits: { timeoutMs: 500 } });
      const next = async (): Promise<string> => (answerLate("from the run before"), "mine");
      expectSame(await bench.value("return await next()", { externalFunctions: { next } }), "mine");
    },
  },
  {
    name: "calls a function of the host by names that objects inherit",
    async verify(bench) {
      const externalFunctions = { toString: () => "mine", hasOwnProperty: () => "own" };
      const code = "return [await toString(), await hasOwnProperty()]";
      expectSame(await bench.value(code, { externalFunctions }), ["mine", "own"]);
    },
  },
];
