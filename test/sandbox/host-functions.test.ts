import { afterAll, describe, expect, it } from "vitest";
import { LimitError } from "../../src/errors.js";
import { suspend } from "../../src/sandbox/provider.js";
import { quickJsSandbox } from "../../src/sandbox/quickjs/provider.js";

const sandbox = quickJsSandbox({ limits: { timeoutMs: 3_000 } });
afterAll(() => sandbox.close?.());

const value = async (code: string, externalFunctions: Record<string, () => unknown>): Promise<unknown> => {
  const result = await sandbox.run(code, { externalFunctions });
  return result.status === "completed" ? result.value : result;
};

describe("an external function", () => {
  it("may throw an error whose details are no JSON", async () => {
    const cyclic: { self?: unknown } = {};
    cyclic.self = cyclic;
    const fail = () => {
      throw new LimitError("too much", { details: { big: 10n, cyclic } });
    };
    expect(await value("try { await fail() } catch (e) { return [e.name, e.kind, e.message].join() }", { fail })).toBe(
      "LimitError,limit,too much",
    );
  });

  it("may throw what is no error, or an error that throws when it is read", async () => {
    const trap = (): never => {
      throw new Error("trap");
    };
    const odd = [
      null,
      "text",
      { message: 5 },
      new Proxy({}, { get: trap }),
      new Proxy({}, { get: trap, has: trap, getPrototypeOf: trap, getOwnPropertyDescriptor: trap, ownKeys: trap }),
      Object.assign(new LimitError("odd"), {
        name: Symbol("s"),
        message: 5n,
        details: {
          get a(): never {
            return trap();
          },
        },
      }),
    ];
    for (const thrown of odd) {
      const fail = () => {
        // oxlint-disable-next-line typescript/only-throw-error -- tools throw what they like
        throw thrown;
      };
      expect(
        await value(
          "try { await fail(); return 'no error' } catch (e) { return e instanceof Error && e.message.length > 0 }",
          { fail },
        ),
      ).toBe(true);
    }
  });

  it("may give a value that cannot be sent: the script gets an error", async () => {
    const give = () => ({
      get x() {
        throw new Error("getter");
      },
    });
    expect(await value("try { await give() } catch (e) { return e.message }", { give })).toBe("getter");
  });

  it("gives rich values: Map, Set, Date, bytes, cycles", async () => {
    const cyclic: { self?: unknown } = {};
    cyclic.self = cyclic;
    const give = () => ({ m: new Map([[1, new Set(["a"])]]), d: new Date(5), b: Uint8Array.of(1, 2), big: 2n, cyclic });
    const code =
      "const v = await give(); return [v.m.get(1).has('a'), v.d.getTime(), v.b[1], v.big === 2n, v.cyclic.self === v.cyclic].join()";
    expect(await value(code, { give })).toBe("true,5,2,true,true");
  });

  it("does not show the script where it is: no stack, no path, no cause", async () => {
    const fail = () => {
      throw new Error("lookup failed", { cause: "password=hunter2" });
    };
    const seen = await value(
      "try { await fail() } catch (e) { return JSON.stringify([String(e), e.stack, Object.getOwnPropertyNames(e), String(e.cause)]) }",
      { fail },
    );
    expect(seen).toContain("lookup failed");
    expect(seen).not.toMatch(/hunter2|file:|node_modules|host-functions/);
  });

  it("is called with plain values that it may change without harm to the script", async () => {
    const take = (...args: unknown[]) => {
      (args[0] as { list: number[] }).list.push(9);
    };
    expect(await value("const o = { list: [1] }; await take(o); return o.list.length", { take })).toBe(1);
  });
});

describe("an answer to a paused script", () => {
  it("that cannot be sent is an error in the script, and the worker is free afterwards", async () => {
    const one = quickJsSandbox({ maxWorkers: 1, limits: { timeoutMs: 3_000 } });
    const ask = () => {
      throw suspend();
    };
    const code = "try { return await ask() } catch (e) { return e.message }";
    const paused = await one.run(code, { externalFunctions: { ask } });
    if (paused.status !== "suspended") throw new Error("not paused");
    const value = {
      get x() {
        throw new Error("getter");
      },
    };
    const started = performance.now();
    const result = await one.resume?.(paused.snapshot, [{ id: 1, value }], { externalFunctions: { ask } });
    expect(result).toMatchObject({ status: "completed", value: "getter" });
    expect(await one.run("return 1", {})).toMatchObject({ value: 1 });
    expect(performance.now() - started).toBeLessThan(2_000);
    await one.close?.();
  });
});
