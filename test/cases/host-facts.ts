import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";
import { fileURLToPath } from "node:url";

/** How often the heartbeat beats, unless a probe says otherwise. */
const HEARTBEAT_MS = 10;

/** Files of this package and its dependencies may be read: they are its code. */
export const ROOT = fileURLToPath(new URL(".", import.meta.resolve("mcp-codemode/package.json")));

/** Counted for the whole process, since nobody owns a failure that nobody handled. */
const failures = { unhandledRejections: 0, uncaughtExceptions: 0 };

/** Counts unhandled failures from now on, instead of dying of the first. */
export function watchProcess(): void {
  process.on("unhandledRejection", () => failures.unhandledRejections++);
  process.on("uncaughtException", () => failures.uncaughtExceptions++);
}

/** What happened to the process between two moments. */
export interface Measured {
  ms: number;
  unhandledRejections: number;
  uncaughtExceptions: number;
  /** The longest that the event loop came late to a beat. */
  maxEventLoopBlockMs: number;
  /** Growth of the resident set: at its peak, and what stays at the end. */
  peakRssGrowthMb: number;
  finalRssGrowthMb: number;
  networkRequests: number;
  /** Files outside of this package that were opened. */
  fileReads: string[];
  objectPrototypeUnchanged: boolean;
  /** What was written to stdout and stderr. */
  output: string;
  /** What was written to stdout alone. */
  stdout: string;
  /** Ports of workers that keep the process alive: each stands for a running engine. */
  liveEngines: number;
  activeTimers: number;
}

/** Watches the process while a case runs. */
export class HostWatch {
  readonly #start = performance.now();
  readonly #before = { ...failures };
  readonly #rss = process.memoryUsage.rss();
  readonly #prototypes = prototypeText();
  readonly #timers = active("Timeout");
  readonly #heartbeat: NodeJS.Timeout;
  readonly #interval: number;
  readonly #undo: (() => void)[] = [];
  readonly #fileReads: string[] = [];
  #networkRequests = 0;
  #output = "";
  #stdout = "";
  #lastBeat = performance.now();
  #longestBlock = 0;
  #peakRss = this.#rss;

  constructor(heartbeatMs = HEARTBEAT_MS) {
    this.#interval = heartbeatMs;
    this.#heartbeat = setInterval(() => this.#beat(), heartbeatMs).unref();
    this.#watchNetwork();
    this.#watchFiles();
    this.#watchOutput();
  }

  #beat(): void {
    const now = performance.now();
    this.#longestBlock = Math.max(this.#longestBlock, now - this.#lastBeat - this.#interval);
    this.#lastBeat = now;
    this.#peakRss = Math.max(this.#peakRss, process.memoryUsage.rss());
  }

  #watchNetwork(): void {
    const counted = <T extends (...args: never[]) => unknown>(inner: T): T =>
      function (this: unknown, ...args: never[]) {
        watch.#networkRequests++;
        return inner.apply(this, args);
      } as T;
    // oxlint-disable-next-line unicorn/no-this-assignment, typescript/no-this-alias -- the replaced method has a `this` of its own
    const watch = this;
    this.#replace(net.Socket.prototype, "connect", counted);
    this.#replace(globalThis, "fetch", counted);
  }

  #watchFiles(): void {
    const noted = <T extends (...args: never[]) => unknown>(inner: T): T =>
      ((...args: never[]) => {
        const path = pathOf(args[0]);
        if (path !== undefined && !path.startsWith(ROOT)) this.#fileReads.push(path);
        return inner(...args);
      }) as T;
    for (const name of ["open", "openSync", "readFile", "readFileSync", "createReadStream"] as const) {
      this.#replace(fs, name, noted);
    }
    for (const name of ["open", "readFile"] as const) this.#replace(fs.promises, name, noted);
    syncBuiltinESMExports();
    this.#undo.push(syncBuiltinESMExports);
  }

  #watchOutput(): void {
    for (const stream of [process.stdout, process.stderr]) {
      this.#replace(stream, "write", (inner) => (...args: [never]) => {
        this.#output += String(args[0]);
        if (stream === process.stdout) this.#stdout += String(args[0]);
        return Reflect.apply(inner, stream, args) as boolean;
      });
    }
  }

  #replace<T extends object, K extends keyof T>(
    target: T,
    key: K,
    make: (inner: T[K] & ((...args: never[]) => unknown)) => unknown,
  ): void {
    const inner = target[key];
    target[key] = make(inner as never) as T[K];
    this.#undo.unshift(() => (target[key] = inner));
  }

  /** The facts so far. */
  measure(): Measured {
    this.#beat();
    const mb = (bytes: number): number => (bytes - this.#rss) / 1e6;
    return {
      ms: performance.now() - this.#start,
      unhandledRejections: failures.unhandledRejections - this.#before.unhandledRejections,
      uncaughtExceptions: failures.uncaughtExceptions - this.#before.uncaughtExceptions,
      maxEventLoopBlockMs: this.#longestBlock,
      peakRssGrowthMb: mb(this.#peakRss),
      finalRssGrowthMb: mb(process.memoryUsage.rss()),
      networkRequests: this.#networkRequests,
      fileReads: [...this.#fileReads],
      objectPrototypeUnchanged: prototypeText() === this.#prototypes,
      output: this.#output,
      stdout: this.#stdout,
      liveEngines: active("MessagePort"),
      activeTimers: Math.max(0, active("Timeout") - this.#timers),
    };
  }

  stop(): void {
    clearInterval(this.#heartbeat);
    for (const undo of this.#undo) undo();
    this.#undo.length = 0;
  }
}

/** Resources of this kind that keep the process alive. */
const active = (kind: string): number => process.getActiveResourcesInfo().filter((name) => name === kind).length;

/**
 * Programs that this process has started and that still run. By `ps`, since Node's own count takes in the process of the
 * bundler that made this runner.
 */
export function childProcesses(): string[] {
  const all = execFileSync("ps", ["-A", "-o", "ppid=,pid=,args="], { encoding: "utf8" });
  return all
    .split("\n")
    .filter((line) => line.trim().startsWith(`${process.pid} `))
    .filter((line) => !/esbuild|\bps -A/.test(line));
}

const prototypeText = (): string =>
  [Object, Array, Function, String, Promise, Error, Map]
    .map(({ prototype }) => `${Reflect.ownKeys(prototype).map(String).join()} ${Object.isFrozen(prototype)}`)
    .join("\n");

function pathOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (value instanceof URL) return fileURLToPath(value);
  return Buffer.isBuffer(value) ? value.toString() : undefined;
}
