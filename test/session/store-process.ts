import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const SOURCE = fileURLToPath(new URL("../../src/session/", import.meta.url));

/** What a child can be told to do. It answers each with one message. */
export type Order =
  | { do: "claim"; key: string; times: number; expected: string }
  | { do: "hold"; lock: string }
  | { do: "write forever"; key: string; bytes: number };

/** Runs in the child: takes orders over the same directory. */
const CHILD = `
import { fileStore } from "./file-store.js";
import { withFileLock } from "./file-lock.js";
const store = fileStore({ directory: process.argv[2], secret: process.argv[3] });
process.on("message", async (order) => {
  if (order.do === "claim") {
    const claims = Array.from({ length: order.times }, (_, index) =>
      store.put(order.key, Buffer.from(process.pid + "/" + index), { expected: order.expected }));
    const settled = await Promise.allSettled(claims);
    process.send({
      won: settled.flatMap(({ status }, index) => (status === "fulfilled" ? [process.pid + "/" + index] : [])),
      errors: settled.flatMap(({ reason }) => (reason === undefined || reason.name === "StoreConflictError" ? [] : [String(reason)])),
    });
  }
  if (order.do === "hold") await withFileLock(order.lock, () => { process.send("held"); return new Promise(() => {}); });
  if (order.do === "write forever") {
    process.send("writing");
    for (let round = 0; ; round++) await store.put(order.key, Buffer.alloc(order.bytes, round));
  }
});
store.list("").next().then(() => process.send("ready"));
`;

/** A process of its own with a file store over `directory`. */
export class StoreProcess {
  private constructor(private readonly child: ChildProcess) {}

  /** The program, compiled from the sources into `folder`. */
  static async program(folder: string): Promise<string> {
    const outfile = join(folder, "store-process.mjs");
    await build({
      stdin: { contents: CHILD, resolveDir: SOURCE, loader: "js" },
      bundle: true,
      platform: "node",
      format: "esm",
      outfile,
    });
    return outfile;
  }

  static async start(program: string, directory: string, secret: string): Promise<StoreProcess> {
    const child = fork(program, [directory, secret], { execArgv: [] });
    await once(child, "message");
    return new StoreProcess(child);
  }

  async tell(order: Order): Promise<unknown> {
    const answer = once(this.child, "message");
    this.child.send(order);
    return ((await answer) as [unknown])[0];
  }

  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exit = once(this.child, "exit");
    this.child.kill("SIGKILL");
    await exit;
  }
}
