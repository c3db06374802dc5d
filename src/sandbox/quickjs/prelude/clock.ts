import { defineProperty, now } from "../../values/intrinsics.js";
import { defineGlobal } from "./define.js";
import { RUN_START, times } from "./host.js";

/** Milliseconds since the run began. */
export const runTime = (): number => now() - (times[RUN_START] as number);

/** `performance.now()`, whose zero is the start of the run. */
export function installClock(): void {
  const performance = {};
  defineProperty(performance, "now", { value: runTime, writable: true, configurable: true, enumerable: true });
  const timeOrigin = (): number => times[RUN_START] as number;
  defineProperty(performance, "timeOrigin", { get: timeOrigin, configurable: true, enumerable: true });
  defineGlobal("performance", performance);
}
