import { apply, NewPromise, NewTypeError, now, toNumber } from "../../values/intrinsics.js";
import { defineFunction } from "./define.js";
import { newTable, NEXT_TIMER, times } from "./host.js";

/** Timers of one run at a time: each costs the worker a look at the list. */
const MOST_TIMERS = 1000;

interface Timer {
  id: number;
  due: number;
  /** Milliseconds between two turns; undefined: once. */
  every: number | undefined;
  run: () => void;
}

const timers = newTable<Timer>();
let count = 0;
let nextId = 0;

/** Timers of an earlier run in this memory never fire. */
export function resetTimers(): void {
  count = 0;
  schedule();
}

/** Timers that have not fired. */
export const openTimers = (): number => count;

/** Runs `run` after `delay` milliseconds, and again and again if it `repeats`. Gives the id. */
export function addTimer(run: () => void, delay: unknown, repeats: boolean): number {
  if (count >= MOST_TIMERS) throw new NewTypeError("A script may have at most " + MOST_TIMERS + " timers at a time");
  const number = toNumber(delay);
  const wait = number >= 1 ? number : 1; // as in Node: NaN and negative numbers are 1
  const id = ++nextId;
  timers[count++] = { id, due: now() + wait, every: repeats ? wait : undefined, run };
  schedule();
  return id;
}

function schedule(): void {
  let due = 0;
  for (let index = 0; index < count; index++) {
    const timer = timers[index] as Timer;
    if (due === 0 || timer.due < due) due = timer.due;
  }
  times[NEXT_TIMER] = due;
}

function clear(id: unknown): void {
  for (let index = 0; index < count; index++) {
    if ((timers[index] as Timer).id !== id) continue;
    timers[index] = timers[--count] as Timer;
    delete timers[count];
  }
  schedule();
}

/** Runs the timer that is due first, if one is due. One a turn: promises settle in between, as in Node. */
export function tick(): void {
  const time = now();
  let first: Timer | undefined;
  for (let index = 0; index < count; index++) {
    const timer = timers[index] as Timer;
    if (
      timer.due <= time &&
      (first === undefined || timer.due < first.due || (timer.due === first.due && timer.id < first.id))
    )
      first = timer;
  }
  if (first === undefined) return;
  if (first.every === undefined) clear(first.id);
  else first.due = time + first.every;
  schedule();
  first.run();
}

function start(callback: unknown, delay: unknown, args: unknown[], repeats: boolean): number {
  if (typeof callback !== "function") throw new NewTypeError("The callback of a timer must be a function");
  return addTimer(() => void apply(callback, undefined, args), delay, repeats);
}

/** setTimeout, setInterval, setImmediate, their clear functions, and `sleep(ms)`. */
export function installTimers(): void {
  defineFunction("setTimeout", (callback: unknown, delay: unknown, ...args: unknown[]) =>
    start(callback, delay, args, false),
  );
  defineFunction("setInterval", (callback: unknown, delay: unknown, ...args: unknown[]) =>
    start(callback, delay, args, true),
  );
  defineFunction("setImmediate", (callback: unknown, ...args: unknown[]) => start(callback, 0, args, false));
  defineFunction("clearTimeout", clear);
  defineFunction("clearInterval", clear);
  defineFunction("clearImmediate", clear);
  defineFunction("sleep", (ms: unknown) => new NewPromise<void>((resolve) => void addTimer(resolve, ms, false)));
}
