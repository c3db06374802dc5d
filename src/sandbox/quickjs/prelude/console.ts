import { formatLine } from "../../values/format.js";
import { defineProperty, stringify } from "../../values/intrinsics.js";
import { KIND } from "../protocol.js";
import { countMessage } from "./bridge.js";
import { config } from "./config.js";
import { host } from "./host.js";

const SILENT = ["group", "groupEnd", "time", "timeEnd", "timeLog", "count", "clear"];

let written = 0;
let full = false;

/** Output of an earlier run in this memory does not count. */
export function resetConsole(): void {
  written = 0;
  full = false;
}

function write(level: string, args: readonly unknown[], count: number): void {
  if (full) return;
  const left = config.maxLogBytes - written;
  const text = formatLine(args, count, left);
  written += text.length + 1;
  full = written > config.maxLogBytes || !countMessage();
  host(
    KIND.LOG,
    0,
    '["' +
      level +
      '",' +
      stringify(full ? "[log limit of " + config.maxLogBytes + " bytes reached: further output is dropped]" : text) +
      "]",
  );
}

/** `console` with Node's methods that write; the others do nothing. All output is captured. */
export function installConsole(): void {
  const console = {} as Record<string, (...args: unknown[]) => void>;
  method(console, "log", (...args) => write("log", args, args.length));
  method(console, "info", (...args) => write("info", args, args.length));
  method(console, "debug", (...args) => write("debug", args, args.length));
  method(console, "trace", (...args) => write("debug", args, args.length));
  method(console, "warn", (...args) => write("warn", args, args.length));
  method(console, "error", (...args) => write("error", args, args.length));
  method(console, "dir", (value) => write("log", [value], 1));
  method(console, "table", (value) => write("log", [value], 1));
  method(console, "assert", (condition, ...args) => {
    if (!condition) write("error", args.length > 0 ? args : ["Assertion failed"], args.length || 1);
  });
  for (let index = 0; index < SILENT.length; index++) method(console, SILENT[index] as string, () => {});
  defineProperty(globalThis, "console", { value: console, writable: true, configurable: true, enumerable: false });
}

function method(console: object, name: string, value: (...args: unknown[]) => void): void {
  defineProperty(value, "name", { value: name, configurable: true });
  defineProperty(console, name, { value, writable: true, configurable: true, enumerable: true });
}
