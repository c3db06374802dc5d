import { formatLine } from "../../values/format.js";
import { apply, create, defineProperty, indexOf, now, slice, stringify, toText } from "../../values/intrinsics.js";
import { KIND } from "../protocol.js";
import { countMessage } from "./bridge.js";
import { config } from "./config.js";
import { tableText } from "./console-table.js";
import { defineGlobal, nameFunction } from "./define.js";
import { host } from "./host.js";

let written = 0;
let full = false;
/** What `console.group` puts before each line. */
let indent = "";
const counts = create(null) as Record<string, number>;
const started = create(null) as Record<string, number>;

/** Output of an earlier run in this memory does not count. */
export function resetConsole(): void {
  written = 0;
  full = false;
  indent = "";
}

function write(level: string, args: readonly unknown[], count: number): void {
  if (!full) writeText(level, formatLine(args, count, config.maxLogBytes - written));
}

function writeText(level: string, text: string): void {
  if (full) return;
  const line = indent === "" ? text : indented(text);
  written += line.length + 1;
  full = written > config.maxLogBytes || !countMessage();
  const shown = full ? "[log limit of " + config.maxLogBytes + " bytes reached: further output is dropped]" : line;
  host(KIND.LOG, 0, '["' + level + '",' + stringify(shown) + "]");
}

function indented(text: string): string {
  let lines = "";
  let from = 0;
  for (let at = indexOf(text, "\n"); at >= 0; at = indexOf(text, "\n", from)) {
    lines += indent + slice(text, from, at + 1);
    from = at + 1;
  }
  return lines + indent + slice(text, from);
}

const labelOf = (label: unknown): string => (label === undefined ? "default" : toText(label));

function group(...args: unknown[]): void {
  if (args.length > 0) write("log", args, args.length);
  indent += "  ";
}

function count(label: unknown): void {
  const name = labelOf(label);
  counts[name] = (counts[name] ?? 0) + 1;
  writeText("log", name + ": " + counts[name]);
}

function logTime(label: unknown, args: readonly unknown[]): void {
  const name = labelOf(label);
  const since = started[name];
  if (since === undefined) return writeText("warn", "There is no timer " + name + " for console.time");
  const left = config.maxLogBytes - written;
  const rest = args.length > 0 ? " " + formatLine(args, args.length, left < 0 ? 0 : left) : "";
  writeText("log", name + ": " + (now() - since) + "ms" + rest);
}

function assert(condition: unknown, ...args: unknown[]): void {
  if (condition) return;
  const text = formatLine(args, args.length, config.maxLogBytes - written);
  writeText("error", text === "" ? "Assertion failed" : "Assertion failed: " + text);
}

function trace(...args: unknown[]): void {
  const text = formatLine(args, args.length, config.maxLogBytes - written);
  writeText("debug", text === "" ? "Trace" : "Trace: " + text);
}

/** `console` as in Node: formatting, groups, counters, timers, tables. All output is captured. */
export function installConsole(): void {
  const console = {};
  const method = (name: string, value: (...args: never[]) => void): void => {
    nameFunction(value, name);
    defineProperty(console, name, { value, writable: true, configurable: true, enumerable: true });
  };
  const levels = ["log", "info", "debug", "warn", "error"];
  for (let index = 0; index < levels.length; index++) {
    const level = levels[index] as string;
    method(level, (...args: unknown[]) => write(level, args, args.length));
  }
  method("trace", trace);
  method("dir", (value: unknown) => write("log", [value], 1));
  method("dirxml", (...args: unknown[]) => write("log", args, args.length));
  method("table", (value: unknown, columns?: unknown) =>
    writeText("log", tableText(value, columns, config.maxLogBytes - written)),
  );
  method("assert", assert);
  method("group", group);
  method("groupCollapsed", (...args: unknown[]) => apply(group, undefined, args));
  method("groupEnd", () => {
    indent = slice(indent, 2);
  });
  method("count", count);
  method("countReset", (label: unknown) => {
    counts[labelOf(label)] = 0;
  });
  method("time", (label: unknown) => {
    started[labelOf(label)] = now();
  });
  method("timeLog", (label: unknown, ...args: unknown[]) => logTime(label, args));
  method("timeEnd", (label: unknown) => {
    logTime(label, []);
    delete started[labelOf(label)];
  });
  method("clear", () => {});
  defineGlobal("console", console);
}
