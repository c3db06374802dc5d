import { createHash, randomBytes } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { open, unlink } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { SandboxError } from "../errors.js";

/** A lock in hand. */
export interface HeldLock {
  /**
   * Call it right before the change that the lock protects.
   *
   * @throws {SandboxError} when the lock was held for so long that others may have taken it.
   */
  assertHeld(): void;
}

interface Holder {
  id: string;
  /** Undefined when the file says nothing useful: its writer died, or is at it. */
  pid: number | undefined;
  place: string | undefined;
  /** Milliseconds since 1970. */
  since: number;
}

/** What is done under a lock takes milliseconds; a holder that needs longer gives up by itself. */
const MAX_HELD_MS = 20_000;
/** Then others take the lock of a holder whose end they cannot see (another machine). Well after it gave up. */
const STALE_MS = 60_000;
/** A lock file without content: between the two system calls of its writer, or its writer died there. */
const UNWRITTEN_MS = 5_000;
const MAX_WAIT_MS = 90_000;

/** Turns of this process: the file is for other processes, and polling it against ourselves would be slow. */
const turns = new Map<string, Promise<unknown>>();

/**
 * Runs `task` while no other process of any machine on the same directory runs one under the same path. The lock is a
 * file; that of a process that died is taken over.
 *
 * @throws {SandboxError} when the lock does not come free.
 */
export async function withFileLock<T>(path: string, task: (lock: HeldLock) => Promise<T>): Promise<T> {
  const before = turns.get(path);
  const turn = (before ?? Promise.resolve()).then(() => locked(path, task));
  const settled = turn.catch(() => {});
  turns.set(path, settled);
  try {
    return await turn;
  } finally {
    if (turns.get(path) === settled) turns.delete(path);
  }
}

async function locked<T>(path: string, task: (lock: HeldLock) => Promise<T>): Promise<T> {
  const id = await acquire(path);
  const [since, wallSince] = [performance.now(), Date.now()];
  try {
    return await task({
      assertHeld() {
        // Both clocks: one stands still while a machine sleeps, the other one can be set.
        const held = Math.max(performance.now() - since, Date.now() - wallSince);
        if (held > MAX_HELD_MS)
          throw new SandboxError(`The file store was held up for ${Math.round(held)} ms: try again.`);
      },
    });
  } finally {
    await release(path, id);
  }
}

async function acquire(path: string): Promise<string> {
  const deadline = Date.now() + MAX_WAIT_MS;
  while (Date.now() < deadline) {
    const id = await tryAcquire(path);
    if (id !== undefined) return id;
    await pause(1 + Math.random() * 6);
  }
  throw new SandboxError(`The file store is locked: ${path} did not come free within ${MAX_WAIT_MS} ms.`);
}

/** The id of the lock, or undefined: somebody holds it. One that nobody can hold any more is removed for the next try. */
async function tryAcquire(path: string): Promise<string | undefined> {
  const id = randomBytes(16).toString("hex");
  try {
    const file = await open(path, "wx", 0o600);
    try {
      await file.writeFile(JSON.stringify({ id, pid: process.pid, place: placeOfThisProcess() }));
    } finally {
      await file.close();
    }
    return id;
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
    await removeStaleLock(path);
    return undefined;
  }
}

async function release(path: string, id: string): Promise<void> {
  if ((await holderOf(path))?.id === id) await unlink(path).catch(ignoreMissing);
}

/**
 * Removes the lock of a holder that is gone.
 *
 * Two processes may see the same stale lock, and the slower one must not remove the fresh lock that the quicker one's
 * removal made room for. So a removal takes a lock of its own, named after the dead holder, and looks again: while it is
 * held nobody else can remove that holder's lock. It is stale-proof in the same way.
 */
export async function removeStaleLock(path: string): Promise<void> {
  const holder = await holderOf(path);
  if (holder === undefined || !isGone(holder)) return;
  const removal = createHash("sha256").update(`${path}\n${holder.id}`).digest("hex");
  const removalPath = join(dirname(path), `${removal}.lock`);
  const id = await tryAcquire(removalPath);
  if (id === undefined) return;
  try {
    if ((await holderOf(path))?.id === holder.id) await unlink(path).catch(ignoreMissing);
  } finally {
    await release(removalPath, id);
  }
}

/** Content and time of one and the same file: of two files they could make a fresh lock look stale. */
async function holderOf(path: string): Promise<Holder | undefined> {
  try {
    const file = await open(path, "r");
    try {
      const { mtimeMs, ino } = await file.stat();
      return { ...parseHolder(await file.readFile("utf8"), `${ino}-${mtimeMs}`), since: mtimeMs };
    } finally {
      await file.close();
    }
  } catch (error) {
    ignoreMissing(error);
    return undefined;
  }
}

function parseHolder(text: string, fallbackId: string): Omit<Holder, "since"> {
  try {
    const { id, pid, place } = JSON.parse(text) as Record<string, unknown>;
    if (typeof id === "string" && typeof place === "string" && Number.isSafeInteger(pid)) {
      return { id, pid: pid as number, place };
    }
  } catch {
    // Not written to its end.
  }
  return { id: fallbackId, pid: undefined, place: undefined };
}

function isGone({ pid, place, since }: Holder): boolean {
  const age = Date.now() - since;
  if (age > STALE_MS) return true;
  if (pid === undefined) return age > UNWRITTEN_MS;
  return place === placeOfThisProcess() && !isAlive(pid);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It exists and belongs to another user.
    return hasCode(error, "EPERM");
  }
}

let place: string | undefined;

/**
 * Where a process id means this very process: machine, boot, and on Linux the namespace of ids, since two containers can
 * share a directory and a host name, and then each would take the other's processes for dead.
 */
function placeOfThisProcess(): string {
  return (place ??= [hostname(), tryRead(bootId), tryRead(() => readlinkSync("/proc/self/ns/pid"))].join(" "));
}

const bootId = (): string => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();

function tryRead(read: () => string): string {
  try {
    return read();
  } catch {
    return "-";
  }
}

/** True for an error of the file system with this code. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === code;
}

/** Swallows that a file is gone already. */
export function ignoreMissing(error: unknown): void {
  if (!hasCode(error, "ENOENT")) throw error;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
