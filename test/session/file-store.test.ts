import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { ConfigurationError } from "../../src/errors.js";
import { fileStore } from "../../src/session/file-store.js";
import { SealError } from "../../src/session/seal.js";
import { StoreConflictError, type SessionStore } from "../../src/session/store.js";
import { StoreProcess } from "./store-process.js";

const SECRET = "the first secret of the store";
const root = mkdtempSync(join(tmpdir(), "file-store-"));
let program: string;
let directory: string;
let count = 0;
const processes: StoreProcess[] = [];

beforeAll(async () => {
  program = await StoreProcess.program(root);
});
afterEach(async () => {
  await Promise.all(processes.splice(0).map((child) => child.kill()));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A store in a directory of its own. */
function fresh(secret: string | readonly string[] = SECRET): SessionStore {
  directory = join(root, `store-${++count}`);
  return fileStore({ directory, secret });
}

async function startProcess(): Promise<StoreProcess> {
  const child = await StoreProcess.start(program, directory, SECRET);
  processes.push(child);
  return child;
}

const filesIn = (extension: string): string[] => readdirSync(directory).filter((file) => file.endsWith(extension));

function onlyEntry(): string {
  const [file, ...others] = filesIn(".entry");
  if (file === undefined || others.length > 0) throw new Error(`one entry expected, found ${others.length + 1}`);
  return join(directory, file);
}

const text = (value: string): Uint8Array => Buffer.from(value);
const textOf = async (store: SessionStore, key: string): Promise<string | undefined> => {
  const entry = await store.get(key);
  return entry === undefined ? undefined : Buffer.from(entry.bytes).toString();
};

describe("fileStore on the disk", () => {
  it("shows neither keys nor bytes, and only the owner can read it", async () => {
    const store = fresh();
    await store.put("session/alice@example.org", text("her private variables"));
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    for (const file of readdirSync(directory)) {
      expect(statSync(join(directory, file)).mode & 0o777).toBe(0o600);
      const content = readFileSync(join(directory, file)).toString("latin1");
      expect(file + content).not.toMatch(/alice|private|session|secret/);
    }
  });

  it("gives the same key another file name in another directory, so that names can be compared nowhere", async () => {
    await fresh().put("run/1", text("a"));
    const [first] = filesIn(".entry");
    await fresh().put("run/1", text("a"));
    expect(filesIn(".entry")).not.toEqual([first]);
  });

  it("leaves nothing but the entries behind: no lock, no temporary file", async () => {
    const store = fresh();
    await Promise.all(Array.from({ length: 20 }, (_, index) => store.put(`key ${index % 4}`, text(String(index)))));
    await store.delete("key 0");
    expect(readdirSync(directory).filter((file) => !file.endsWith(".entry"))).toEqual(["store.names"]);
    expect(filesIn(".entry")).toHaveLength(3);
  });

  it("removes what has expired, what a dead process had begun, and no other file", async () => {
    const store = fresh();
    await store.put("short", text("x"), { ttlMs: 1 });
    await store.put("long", text("x"), { ttlMs: 60_000 });
    const old = new Date(Date.now() - 7_200_000);
    for (const file of ["left.entry.0123.tmp", "recent.entry.0123.tmp", "readme"])
      writeFileSync(join(directory, file), "x");
    utimesSync(join(directory, "left.entry.0123.tmp"), old, old);
    await expect.poll(async () => textOf(store, "short")).toBeUndefined();
    for await (const key of store.list("")) expect(key).toBe("long");
    expect(filesIn(".entry")).toHaveLength(1);
    expect(filesIn(".tmp")).toEqual(["recent.entry.0123.tmp"]);
    expect(filesIn("readme")).toHaveLength(1);
  });
});

describe("fileStore refuses", () => {
  it.each([
    ["a byte of the content", -1],
    ["a byte of the date", 16],
    ["a byte of the revision", 5],
  ])("%s that was changed", async (_what, at) => {
    const store = fresh();
    await store.put("a", text("content"), { ttlMs: 60_000 });
    const bytes = readFileSync(onlyEntry());
    const index = at < 0 ? bytes.length + at : at;
    bytes[index] = (bytes[index] ?? 0) ^ 1;
    // A date far in the future must not expire before it is checked.
    writeFileSync(onlyEntry(), bytes);
    await expect(store.get("a")).rejects.toThrow(SealError);
  });

  it("a file in the place of another one", async () => {
    const store = fresh();
    await store.put("a", text("of a"));
    const ofA = onlyEntry();
    const copy = readFileSync(ofA);
    await store.put("b", text("of b"));
    const ofB = join(directory, filesIn(".entry").find((file) => join(directory, file) !== ofA) ?? "");
    writeFileSync(ofB, copy);
    await expect(store.get("b")).rejects.toThrow(/was changed, or was made for another purpose/);
    expect(await textOf(store, "a")).toBe("of a");
  });

  it("a file that is no record, and replaces it when told to", async () => {
    const store = fresh();
    await store.put("a", text("content"));
    writeFileSync(onlyEntry(), "");
    await expect(store.get("a")).rejects.toThrow(SealError);
    await expect(store.put("a", text("new"), { expected: "absent" })).rejects.toThrow(StoreConflictError);
    await store.put("a", text("new"));
    expect(await textOf(store, "a")).toBe("new");
  });

  it("a directory of another secret, with no word of either secret", async () => {
    await fresh().put("a", text("content"));
    const other = fileStore({ directory, secret: "quite another secret text" });
    const error: unknown = await other.get("a").catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(SealError);
    expect(String(error)).toContain("made with another secret");
    expect(String(error)).not.toMatch(/first secret|quite/);
    await expect(other.put("a", text("x"))).rejects.toThrow(SealError);
  });

  it.each([
    [{ directory: "/tmp/x" }, "secret is missing"],
    [{ directory: "/tmp/x", secret: "short" }, "at least 16 characters"],
    [{ directory: "/tmp/x", secret: [] }, "at least 16 characters"],
    [{ directory: "", secret: SECRET }, "directory must be a path"],
    [{ directory: "/tmp/x", secret: SECRET, secrets: [] }, 'unknown option "secrets". Did you mean secret?'],
  ])("options like %j", (options, message) => {
    expect(() => fileStore(options as never)).toThrow(ConfigurationError);
    expect(() => fileStore(options as never)).toThrow(message);
  });
});

describe("fileStore changes its secret", () => {
  it("without losing an entry: the first encrypts, all decrypt", async () => {
    const [old, recent] = ["the old secret of the store", "the recent secret of the store"];
    await fresh(old).put("a", text("from before"));
    const both = fileStore({ directory, secret: [recent, old] });
    expect(await textOf(both, "a")).toBe("from before");
    await both.put("b", text("from now"));
    const rotated = fileStore({ directory, secret: [recent] });
    expect(await textOf(rotated, "b")).toBe("from now");
    await expect(rotated.get("a")).rejects.toThrow(/with a secret that is no longer given/);
    const keys: string[] = [];
    for await (const key of rotated.list("")) keys.push(key);
    expect(keys).toEqual(["b"]);
    await rotated.put("a", text("again"));
    expect(await textOf(rotated, "a")).toBe("again");
  });
});

describe("fileStore between processes", () => {
  interface Claimed {
    won: string[];
    errors: string[];
  }

  async function claim(key: string, expected: string, children: readonly StoreProcess[]): Promise<Claimed> {
    const orders = children.map((child, index) =>
      child.tell({ do: "claim", key, expected, times: index < 2 ? 13 : 12 }),
    );
    const answers = (await Promise.all(orders)) as Claimed[];
    return { won: answers.flatMap(({ won }) => won), errors: answers.flatMap(({ errors }) => errors) };
  }

  it("lets exactly one of 50 claims from 4 processes win, every time", async () => {
    const store = fresh();
    const children = await Promise.all([startProcess(), startProcess(), startProcess(), startProcess()]);
    for (let round = 0; round < 8; round++) {
      const key = `run/${round}`;
      const expected = round % 2 === 0 ? "absent" : await store.put(key, text("unclaimed"));
      const { won, errors } = await claim(key, expected, children);
      expect(errors).toEqual([]);
      expect(won).toHaveLength(1);
      expect(await textOf(store, key)).toBe(won[0]);
    }
    expect(filesIn(".lock")).toEqual([]);
  });

  it("agrees on one directory although all of them make it at the same time", async () => {
    fresh();
    const children = await Promise.all([startProcess(), startProcess(), startProcess(), startProcess()]);
    const { won } = await claim("a", "absent", children);
    expect(won).toHaveLength(1);
    expect(filesIn(".entry")).toHaveLength(1);
  });

  it("takes over the lock of a process that was killed, also when four see it at once", async () => {
    const store = fresh();
    await store.put("a", text("before"));
    const lock = onlyEntry().replace(/entry$/, "lock");
    const dead = await startProcess();
    const children = await Promise.all([startProcess(), startProcess(), startProcess(), startProcess()]);
    for (let round = 0; round < 3; round++) {
      const { revision } = (await store.get("a")) ?? { revision: "absent" };
      if (round === 0) await dead.tell({ do: "hold", lock });
      else renameSync(join(directory, "kept"), lock);
      // The same dead holder each time.
      if (round < 2) writeFileSync(join(directory, "kept"), readFileSync(lock));
      await dead.kill();
      const { won, errors } = await claim("a", revision, children);
      expect(errors).toEqual([]);
      expect(won).toHaveLength(1);
      expect(filesIn(".lock")).toEqual([]);
    }
  });

  it("never waits for a lock that was not written to its end and is old", async () => {
    const store = fresh();
    await store.put("a", text("before"));
    const lock = onlyEntry().replace(/entry$/, "lock");
    writeFileSync(lock, "{");
    const old = new Date(Date.now() - 6_000);
    utimesSync(lock, old, old);
    await store.put("a", text("after"));
    expect(await textOf(store, "a")).toBe("after");
  });

  it("keeps an entry whole when its writer is killed in the middle", async () => {
    const store = fresh();
    await store.put("a", Buffer.alloc(400_000, 1));
    for (let round = 0; round < 4; round++) {
      const writer = await startProcess();
      await writer.tell({ do: "write forever", key: "a", bytes: 400_000 });
      const before = (await store.get("a"))?.revision;
      await expect.poll(async () => (await store.get("a"))?.revision, { interval: 1 }).not.toBe(before);
      await writer.kill();
      const bytes = Buffer.from((await store.get("a"))?.bytes ?? []);
      expect(bytes.equals(Buffer.alloc(400_000, bytes[0]))).toBe(true);
    }
    await store.put("a", text("still writable"));
    expect(await textOf(store, "a")).toBe("still writable");
  });
});
