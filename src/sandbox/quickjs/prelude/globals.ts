import { defineProperty, imul, NewPromise } from "../../values/intrinsics.js";
import { installConsole } from "./console.js";
import { WORD, words } from "./host.js";
import { installTimers } from "./timers.js";

/** Everything a script finds beyond the language itself. */
export function installGlobals(): void {
  removeRiskyGlobals();
  seedRandom();
  installConsole();
  installTimers();
  global("queueMicrotask", queueMicrotask);
}

const resolved = NewPromise.resolve();

async function queueMicrotask(callback: () => void): Promise<void> {
  await resolved;
  callback();
}

/** Nobody needs them in a script, and most known engine bugs sit there. */
function removeRiskyGlobals(): void {
  const scope = globalThis as Record<string, unknown>;
  delete scope["SharedArrayBuffer"];
  delete scope["FinalizationRegistry"];
  delete scope["WeakRef"];
}

/** The engine's own random state is part of the base image, so it would repeat in every run: mulberry32 over a seed of the host instead. */
function seedRandom(): void {
  const random = (): number => {
    const state = ((words[WORD.SEED] as number) + 0x6d2b79f5) >>> 0;
    words[WORD.SEED] = state;
    let mixed = imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  defineProperty(Math, "random", { value: random, writable: true, configurable: true });
}

function global(name: string, value: (...args: never[]) => unknown): void {
  defineProperty(value, "name", { value: name, configurable: true });
  defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
}
