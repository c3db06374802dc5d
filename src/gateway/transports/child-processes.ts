import type { ChildProcess } from "node:child_process";

/** Every child of this process that an upstream runs in. */
const alive = new Set<ChildProcess>();
let isWatching = false;

/** Sees to it that a child does not outlive this process, however that ends (but for SIGKILL, where it sees its stdin end). */
export function adopt(child: ChildProcess): void {
  if (!isWatching) {
    isWatching = true;
    process.on("exit", () => {
      for (const each of alive) signalGroup(each, "SIGKILL");
    });
  }
  alive.add(child);
  child.once("exit", () => alive.delete(child));
}

/**
 * Signals a child and all that it started: `npx` runs the server as a child of its own. Children are leaders of a process
 * group, except on Windows.
 */
export function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  const { pid } = child;
  if (pid === undefined) return;
  try {
    if (process.platform === "win32") child.kill(signal);
    else process.kill(-pid, signal);
  } catch {
    // The group has ended already.
  }
}
