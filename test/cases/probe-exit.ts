import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Json } from "./case.js";
import { World } from "./world.js";

/** Argument that makes the runner the child of {@link exitMs}. */
export const CHILD_FLAG = "--probe-child";

const CLOSED = "closed";
/** A process that has not ended by then is killed: it does not exit by itself. */
const KILL_AFTER_MS = 10_000;

/** Runs a script in a process of its own, closes server and client, and measures how long the process then lives. */
export async function exitMs(script: string, config: Json): Promise<number> {
  const self = fileURLToPath(import.meta.url);
  const child = spawn(process.execPath, [self, CHILD_FLAG, JSON.stringify({ script, config })], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const killer = setTimeout(() => child.kill("SIGKILL"), KILL_AFTER_MS);
  let closedAt: number | undefined;
  child.stdout.on("data", (chunk: Buffer) => {
    if (chunk.toString().includes(CLOSED)) closedAt = performance.now();
  });
  const [code] = (await once(child, "exit")) as [number | null];
  clearTimeout(killer);
  return closedAt === undefined || code !== 0 ? Number.POSITIVE_INFINITY : performance.now() - closedAt;
}

/** The child: one run, then close, then nothing. */
export async function runProbeChild(argument: string): Promise<void> {
  const { script, config } = JSON.parse(argument) as { script: string; config: Json };
  const world = new World({ tools: [], config });
  const reply = await world.execute(script);
  if (reply.isError) throw new Error(reply.summary);
  await world.close();
  process.stdout.write(`${CLOSED}\n`);
}
