import { afterAll, describe, expect, it } from "vitest";
import { ApprovalError } from "../../src/errors.js";
import { quickJsSandbox } from "../../src/sandbox/quickjs/provider.js";
import {
  attackFunctions,
  attackOptions,
  hostPrototypes,
  kindOf,
  KNOWN_KINDS,
  loadAttacks,
  misfit,
  PROBE,
} from "./attack-bench.mjs";

/** One attack of each class, as `npm run test:attacks` runs all of them: with the bounds of a busy machine. */

const attacks = loadAttacks();
const CLASSES = ["time", "memory", "stack", "escape", "forging", "state", "results"];
/** Deadline, grace and kill, and what other processes may take. */
const MOST_MS = 2_000;

const sandbox = quickJsSandbox({ maxWorkers: 1 });
const functions = attackFunctions(() => new ApprovalError("not allowed", { details: { tool: "wipe" } }));
afterAll(() => sandbox.close?.());

const probe = async (): Promise<unknown> => {
  const result = await sandbox.run(PROBE, { externalFunctions: functions });
  return result.status === "completed" ? result.value : result;
};

describe("the attack corpus", () => {
  it("has hundreds of attacks of every class, each with an id and kinds of its own", () => {
    expect(attacks.length).toBeGreaterThanOrEqual(300);
    expect(new Set(attacks.map(({ id }) => id)).size).toBe(attacks.length);
    expect(new Set(attacks.map(({ code }) => code)).size).toBe(attacks.length);
    expect([...new Set(attacks.map((attack) => attack.class))]).toEqual(CLASSES);
    const unknown = attacks.filter(({ kinds }) => kinds.length === 0 || kinds.some((kind) => !KNOWN_KINDS.has(kind)));
    expect(unknown).toEqual([]);
  });

  it.each(CLASSES)("is withstood: the first attack of class %s", async (name) => {
    const attack = attacks.find((each) => each.class === name);
    if (attack === undefined) throw new Error(`no attack of class ${name}`);
    const [sound, prototypes, started] = [await probe(), hostPrototypes(), performance.now()];
    const result = await sandbox.run(attack.code, attackOptions(attack, functions));
    expect(performance.now() - started).toBeLessThan(MOST_MS);
    expect(misfit(attack, result)).toBeUndefined();
    expect(await probe()).toEqual(sound);
    expect(hostPrototypes()).toBe(prototypes);
  });
});

describe("the judge of attacks", () => {
  it("finds an attack that ended otherwise, and a run that is not sound", async () => {
    const attack = { id: "x", class: "x", code: "1", kinds: ["timeout"] };
    const result = await sandbox.run(attack.code, {});
    expect(kindOf(result)).toBe("completed");
    expect(misfit(attack, result)).toContain("should be timeout");
    expect(misfit({ ...attack, kinds: ["completed"], value: 2 }, result)).toContain("should be 2");
    const changed = await sandbox.run(`Object.freeze(Math.abs);${PROBE}`, { externalFunctions: functions });
    expect(changed).toMatchObject({ status: "completed" });
    expect((changed as { value: unknown }).value).not.toEqual(await probe());
  });
});
