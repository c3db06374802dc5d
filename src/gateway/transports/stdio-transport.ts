import { spawn, type ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import type { StdioTarget } from "../resolved-upstream.js";
import { adopt, signalGroup } from "./child-processes.js";
import { MessageLines } from "./message-lines.js";

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** The last of stderr is part of the error when a server fails. */
const STDERR_TAIL_BYTES = 64 * 1024;
/** After its stdin has ended, and again after SIGTERM. */
const GRACE_MS = 1_000;
/** Output that is still in the pipe when a process ends. */
const DRAIN_MS = 200;

/**
 * An MCP transport to a child process. In place of the SDK's own: that one keeps a line without an end for ever, does
 * not reach what a child has started (`npx`), knows no exit code, and takes up to 4 s to close.
 */
export class StdioTransport {
  onmessage?: (message: never) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  /** Lines on stdout that are no messages. */
  onnoise?: (line: string) => void;
  readonly #target: StdioTarget;
  #child: Child | undefined;
  #stderr = Buffer.alloc(0);
  #end: string | undefined;
  #ended: Promise<void> | undefined;
  #isClosed = false;

  constructor(target: StdioTarget) {
    this.#target = target;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** How the process ended, with the last it wrote to stderr; undefined while it runs. */
  get end(): string | undefined {
    if (this.#end === undefined) return undefined;
    const tail = this.stderrTail.trim().split("\n").slice(-8).join("\n");
    return tail === "" ? this.#end : `${this.#end}; it wrote: ${tail}`;
  }

  get stderrTail(): string {
    return this.#stderr.toString("utf8");
  }

  /** @throws what `spawn` fails with: no such program, no such folder. */
  start(): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error("the transport was closed"));
    const { command, args, env, cwd } = this.#target;
    const child: Child = spawn(command, [...args], {
      env: { ...env },
      ...(cwd === undefined ? {} : { cwd }),
      stdio: ["pipe", "pipe", "pipe"],
      windowsHide: true,
      // A group of its own, which can be ended as a whole.
      detached: process.platform !== "win32",
    });
    this.#child = child;
    this.#read(child);
    this.#ended = this.#watchEnd(child);
    return new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("spawn", () => {
        adopt(child);
        resolve();
      });
    });
  }

  #read(child: Child): void {
    const lines = new MessageLines({
      onMessage: (message) => this.onmessage?.(message as never),
      onNoise: (line) => this.onnoise?.(line),
    });
    child.stdout.on("data", (chunk: Buffer) => {
      try {
        lines.add(chunk);
      } catch (error) {
        this.onerror?.(error as Error);
        signalGroup(child, "SIGKILL");
      }
    });
    child.stderr.on("data", (chunk: Buffer) => {
      const all = Buffer.concat([this.#stderr, chunk.subarray(-STDERR_TAIL_BYTES)]);
      this.#stderr = all.subarray(-STDERR_TAIL_BYTES);
    });
    // A process that is gone: its end says so.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on("error", () => {});
  }

  #watchEnd(child: Child): Promise<void> {
    return new Promise((resolve) => {
      let isOver = false;
      const over = (): void => {
        if (isOver) return;
        isOver = true;
        // What it started must not stay behind.
        signalGroup(child, "SIGKILL");
        resolve();
        this.onclose?.();
      };
      child.once("error", (error) => {
        this.#end = error.message;
        over();
      });
      child.once("exit", (code, signal) => {
        this.#end = code === null ? `the process was ended by ${signal}` : `the process ended with code ${code}`;
        // A grandchild may hold the pipes open: "close" alone could stay away.
        setTimeout(over, DRAIN_MS).unref();
      });
      child.once("close", over);
    });
  }

  /** @throws when the process has ended. */
  send(message: object): Promise<void> {
    const stdin = this.#child?.stdin;
    if (stdin === undefined || !stdin.writable || this.#end !== undefined) {
      return Promise.reject(new Error(this.#end ?? "the process is not running"));
    }
    return new Promise((resolve) => {
      if (stdin.write(`${JSON.stringify(message)}\n`)) resolve();
      else stdin.once("drain", resolve).once("close", resolve);
    });
  }

  /** Ends the process: its stdin, then SIGTERM, then SIGKILL. Resolves when it is gone. */
  async close(): Promise<void> {
    const child = this.#child;
    const isFirst = !this.#isClosed;
    this.#isClosed = true;
    if (child === undefined || this.#ended === undefined) return;
    if (isFirst) {
      child.stdin.end();
      const timers = [
        setTimeout(() => signalGroup(child, "SIGTERM"), GRACE_MS),
        setTimeout(() => signalGroup(child, "SIGKILL"), 2 * GRACE_MS),
      ];
      void this.#ended.then(() => timers.forEach(clearTimeout));
    }
    await this.#ended;
  }
}
