import { createHmac, randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { mkdir, open, readdir, readFile, rename, stat, unlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ConfigurationError } from "../errors.js";
import { nearestNames } from "../nearest.js";
import { hasCode, ignoreMissing, removeStaleLock, withFileLock } from "./file-lock.js";
import {
  HEAD_BYTES,
  malformedRecord,
  readBytes,
  readHead,
  readKey,
  writeRecord,
  type RecordHead,
} from "./file-record.js";
import { type Sealer, sealerFor } from "./seal.js";
import {
  checkExpected,
  checkFound,
  checkKey,
  checkPut,
  type PutOptions,
  type SessionStore,
  type StoredEntry,
} from "./store.js";

/** Options of {@link fileStore}. */
export interface FileStoreOptions {
  /** Where the files lie. Made with mode 0700 when it is missing. Must not be shared with anything else. */
  directory: string;
  /** At least 16 characters. Several: the first one encrypts, all decrypt. */
  secret: string | readonly string[];
}

const KNOWN = ["directory", "secret"];
const ENTRY = ".entry";
const LOCK = ".lock";
const TEMPORARY = ".tmp";
/** Holds the key of the file names, sealed. */
const NAMES_FILE = "store.names";
const NAMES_PURPOSE = "file store names";
const NAME_KEY_BYTES = 32;
/** Expired entries are looked for at most this often, in milliseconds, and whenever keys are listed. */
const SWEEP_MS = 600_000;
/** A temporary file this old was left by a process that died. */
const ABANDONED_MS = 3_600_000;
/** Never follows a link that somebody put in the place of a file. */
const READ_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0);

/**
 * A {@link SessionStore} in a directory, for any number of processes of one machine: files of mode 0600, encrypted with
 * AES-256-GCM, whose names and dates tell nothing about keys. Writes are atomic and survive a crash; compare-and-set
 * holds across processes. What somebody else changed, moved or renamed does not open.
 *
 * @throws {ConfigurationError} for an unknown option, no directory, or a secret that is missing or too short.
 *
 * @example
 * const store = fileStore({ directory: "/var/lib/my-server/runs", secret: process.env.STORE_SECRET ?? "" });
 */
export function fileStore(options: FileStoreOptions): SessionStore {
  for (const key of Object.keys(options)) if (!KNOWN.includes(key)) throw unknownOption(key);
  const { directory, secret } = options;
  if (typeof directory !== "string" || directory === "") {
    throw new ConfigurationError("fileStore: directory must be a path.");
  }
  // A random key would make files that nobody can ever read.
  if (secret === undefined) throw new ConfigurationError("fileStore: secret is missing: files are always encrypted.");
  return new FileStore(resolve(directory), sealerFor(secret));
}

class FileStore implements SessionStore {
  readonly #directory: string;
  readonly #sealer: Sealer;
  #nameKey: Promise<Buffer> | undefined;
  #sweptAt = 0;

  constructor(directory: string, sealer: Sealer) {
    this.#directory = directory;
    this.#sealer = sealer;
  }

  async get(key: string): Promise<StoredEntry | undefined> {
    const name = await this.#nameOf(key);
    const record = await this.#read(name);
    if (record === undefined) return undefined;
    const head = readHead(record);
    if (head === undefined) throw malformedRecord();
    if (hasExpired(head)) return undefined;
    const bytes = readBytes(this.#sealer, name, record, head);
    const { revision, expiresAt } = head;
    return { bytes, revision, ...(expiresAt === undefined ? {} : { expiresAt }) };
  }

  async put(key: string, bytes: Uint8Array, options: PutOptions = {}): Promise<string> {
    checkPut(bytes, options);
    const name = await this.#nameOf(key);
    const revision = randomBytes(12).toString("hex");
    const expiresAt = options.ttlMs === undefined ? undefined : Date.now() + options.ttlMs;
    // Before the lock is taken: encrypting a large entry must hold up nobody.
    const record = writeRecord(this.#sealer, name, { key, bytes, revision, expiresAt });
    await withFileLock(this.#path(name, LOCK), async (lock) => {
      checkFound(options.expected, await this.#revisionOf(name));
      await this.#replace(this.#path(name, ENTRY), record, () => lock.assertHeld());
    });
    this.#sweepSometimes();
    return revision;
  }

  async delete(key: string, { expected }: { expected?: string } = {}): Promise<void> {
    checkExpected(expected);
    const name = await this.#nameOf(key);
    await withFileLock(this.#path(name, LOCK), async (lock) => {
      checkFound(expected, await this.#revisionOf(name));
      lock.assertHeld();
      await unlink(this.#path(name, ENTRY)).catch(ignoreMissing);
    });
  }

  async *list(prefix: string): AsyncGenerator<string, void, undefined> {
    await this.#names();
    await this.#sweep();
    for (const file of await readdir(this.#directory)) {
      const key = file.endsWith(ENTRY) ? await this.#keyOf(file.slice(0, -ENTRY.length)) : undefined;
      if (key?.startsWith(prefix) === true) yield key;
    }
  }

  #path(name: string, extension: string): string {
    return join(this.#directory, name + extension);
  }

  async #nameOf(key: string): Promise<string> {
    checkKey(key);
    return createHmac("sha256", await this.#names())
      .update(key)
      .digest("hex");
  }

  async #read(name: string, bytes?: number): Promise<Buffer | undefined> {
    try {
      const file = await open(this.#path(name, ENTRY), READ_FLAGS);
      try {
        if (bytes === undefined) return await file.readFile();
        const buffer = Buffer.alloc(bytes);
        return buffer.subarray(0, (await file.read(buffer, 0, bytes, 0)).bytesRead);
      } finally {
        await file.close();
      }
    } catch (error) {
      ignoreMissing(error);
      return undefined;
    }
  }

  /** Undefined: nothing stands there, or it has expired. What is no record at all matches no expectation. */
  async #revisionOf(name: string): Promise<string | undefined> {
    const record = await this.#read(name, HEAD_BYTES);
    if (record === undefined) return undefined;
    const head = readHead(record);
    if (head === undefined) return "damaged";
    return hasExpired(head) ? undefined : head.revision;
  }

  /** Undefined for what cannot be read: one file of another secret must not hide all others. */
  async #keyOf(name: string): Promise<string | undefined> {
    const head = readHead((await this.#read(name, HEAD_BYTES)) ?? Buffer.alloc(0));
    if (head === undefined || hasExpired(head)) return undefined;
    const start = await this.#read(name, HEAD_BYTES + head.keyBytes);
    try {
      return start === undefined ? undefined : readKey(this.#sealer, name, start, head);
    } catch {
      return undefined;
    }
  }

  /** The old file or the new one, whole, whatever happens in between. */
  async #replace(path: string, content: Buffer, lastCheck: () => void): Promise<void> {
    const temporary = `${path}.${randomBytes(8).toString("hex")}${TEMPORARY}`;
    try {
      const file = await open(temporary, "wx", 0o600);
      try {
        await file.writeFile(content);
        // Otherwise a power failure after the rename can leave an empty file: a claim that nobody holds.
        await file.datasync();
      } finally {
        await file.close();
      }
      lastCheck();
      await rename(temporary, path);
    } catch (error) {
      await unlink(temporary).catch(ignoreMissing);
      throw error;
    }
  }

  /** The key of the file names: random, one per directory, sealed beside the entries. It outlives every secret. */
  #names(): Promise<Buffer> {
    this.#nameKey ??= this.#readOrMakeNames().catch((error: unknown) => {
      this.#nameKey = undefined;
      throw error;
    });
    return this.#nameKey;
  }

  async #readOrMakeNames(): Promise<Buffer> {
    const path = join(this.#directory, NAMES_FILE);
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    const known = await readIfThere(path);
    if (known !== undefined && this.#sealer.isCurrent(known)) return this.#openNames(known);
    return withFileLock(path + LOCK, async (lock) => {
      const stored = await readIfThere(path);
      const names = stored === undefined ? randomBytes(NAME_KEY_BYTES) : this.#openNames(stored);
      // Also when an older secret opened it: that one may be gone next time.
      await this.#replace(path, Buffer.from(this.#sealer.seal(NAMES_PURPOSE, names)), () => lock.assertHeld());
      return names;
    });
  }

  #openNames(sealed: Uint8Array): Buffer {
    return Buffer.from(this.#sealer.open(NAMES_PURPOSE, sealed));
  }

  #sweepSometimes(): void {
    if (Date.now() - this.#sweptAt < SWEEP_MS) return;
    // Nobody waits for it, and what it could not remove now it finds again.
    this.#sweep().catch(() => {});
  }

  async #sweep(): Promise<void> {
    this.#sweptAt = Date.now();
    for (const file of await readdir(this.#directory)) {
      if (file.endsWith(ENTRY)) await this.#removeExpired(file.slice(0, -ENTRY.length));
      else if (file.endsWith(LOCK)) await removeStaleLock(join(this.#directory, file));
      else if (file.endsWith(TEMPORARY)) await removeAbandoned(join(this.#directory, file));
    }
  }

  async #removeExpired(name: string): Promise<void> {
    const isExpired = async (): Promise<boolean> => {
      const head = readHead((await this.#read(name, HEAD_BYTES)) ?? Buffer.alloc(0));
      return head !== undefined && hasExpired(head);
    };
    if (!(await isExpired())) return;
    await withFileLock(this.#path(name, LOCK), async (lock) => {
      // Somebody may have written it anew in the meantime.
      if (!(await isExpired())) return;
      lock.assertHeld();
      await unlink(this.#path(name, ENTRY)).catch(ignoreMissing);
    });
  }
}

const hasExpired = ({ expiresAt }: RecordHead): boolean => expiresAt !== undefined && expiresAt <= Date.now();

async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

async function removeAbandoned(path: string): Promise<void> {
  const found = await stat(path).catch(ignoreMissing);
  if (found !== undefined && Date.now() - found.mtimeMs > ABANDONED_MS) await unlink(path).catch(ignoreMissing);
}

function unknownOption(key: string): ConfigurationError {
  const [nearest] = nearestNames(key, KNOWN, 1);
  const hint = nearest === undefined ? `Known: ${KNOWN.join(", ")}.` : `Did you mean ${nearest}?`;
  return new ConfigurationError(`fileStore: unknown option "${key}". ${hint}`);
}
