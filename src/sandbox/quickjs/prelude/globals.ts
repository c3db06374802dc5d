import { NewPromise, NewTypeError } from "../../values/intrinsics.js";
import { installClock } from "./clock.js";
import { installClone } from "./clone.js";
import { installConsole } from "./console.js";
import { defineFunction } from "./define.js";
import { installDomException } from "./dom-exception.js";
import { installRandom } from "./random.js";
import { installTimers } from "./timers.js";

/** What a script finds beyond the language itself, but for web.ts. */
export function installGlobals(): void {
  removeRiskyGlobals();
  installRandom();
  installConsole();
  installTimers();
  installClock();
  installDomException();
  installClone();
  defineFunction("queueMicrotask", queueMicrotask);
}

const resolved = NewPromise.resolve();

function queueMicrotask(callback: () => void): void {
  if (typeof callback !== "function") throw new NewTypeError("queueMicrotask needs a function");
  void later(callback);
}

async function later(callback: () => void): Promise<void> {
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
