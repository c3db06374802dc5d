import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { ConfigurationError, LimitError, ValidationError } from "../../src/errors.js";
import { Artifacts, isArtifactUri, type ArtifactPage } from "../../src/session/artifacts.js";
import { fileStore } from "../../src/session/file-store.js";
import { memoryStore } from "../../src/session/memory-store.js";

const directory = mkdtempSync(join(tmpdir(), "artifacts-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
afterEach(() => {
  vi.useRealTimers();
});

const STORES = [
  { kind: "memoryStore", make: memoryStore },
  { kind: "fileStore", make: () => fileStore({ directory, secret: "a secret of some length" }) },
];

async function pagesOf(artifacts: Artifacts, uri: string, limit: number): Promise<ArtifactPage[]> {
  const pages: ArtifactPage[] = [];
  for (let offset: number | undefined = 0; offset !== undefined; offset = pages.at(-1)?.nextOffset) {
    pages.push(await artifacts.read(uri, "alice", { offset, limit }));
  }
  return pages;
}

describe.each(STORES)("artifacts in $kind", ({ make }) => {
  it("come back whole, as text or as bytes, with their type", async () => {
    const artifacts = new Artifacts({ store: make() });
    const text = await artifacts.keep({ callerKey: "alice", text: "héllo", mimeType: "application/json" });
    expect(text).toEqual({ uri: expect.stringMatching(/^codemode:\/\/artifact\/[0-9a-f]{32}$/) as string, bytes: 6 });
    expect(isArtifactUri(text.uri)).toBe(true);
    expect(await artifacts.read(text.uri, "alice")).toEqual({
      mimeType: "application/json",
      offset: 0,
      totalBytes: 6,
      text: "héllo",
    });
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    const binary = await artifacts.keep({ callerKey: "alice", bytes });
    expect(await artifacts.read(binary.uri, "alice")).toEqual({
      mimeType: "application/octet-stream",
      offset: 0,
      totalBytes: 256,
      bytes,
    });
  });

  it("are nothing to another caller, who is told the same as for one that never was", async () => {
    const artifacts = new Artifacts({ store: make() });
    const { uri } = await artifacts.keep({ callerKey: "alice", text: "private" });
    const never = `codemode://artifact/${"0".repeat(32)}`;
    const refusalOf = async (asked: string): Promise<string> => {
      const error: unknown = await artifacts.read(asked, "bob").catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(ValidationError);
      return (error as Error).message.replace(asked, "URI");
    };
    expect(await refusalOf(uri)).toBe(await refusalOf(never));
  });
});

describe("pages", () => {
  const text = "aé€😀".repeat(50);

  it.each([1, 2, 3, 4, 5, 7, 64, 10_000])("of %i bytes never cut a character and lose nothing", async (limit) => {
    const artifacts = new Artifacts({ store: memoryStore() });
    const { uri } = await artifacts.keep({ callerKey: "alice", text });
    const pages = await pagesOf(artifacts, uri, limit);
    expect(pages.map((page) => ("text" in page ? page.text : "?")).join("")).toBe(text);
    for (const page of pages)
      expect("text" in page ? Buffer.byteLength(page.text) : 0).toBeLessThanOrEqual(Math.max(limit, 4));
    let at = 0;
    for (const page of pages) {
      expect(page.offset).toBe(at);
      at = page.nextOffset ?? page.totalBytes;
    }
    expect(at).toBe(Buffer.byteLength(text));
  });

  it("begin at the start of the character that the offset lies in", async () => {
    const artifacts = new Artifacts({ store: memoryStore() });
    const { uri } = await artifacts.keep({ callerKey: "alice", text: "a😀b" });
    for (const offset of [1, 2, 3, 4]) {
      expect(await artifacts.read(uri, "alice", { offset, limit: 4 })).toMatchObject({
        offset: 1,
        text: "😀",
        nextOffset: 5,
      });
    }
    expect(await artifacts.read(uri, "alice", { offset: 6 })).toEqual({
      mimeType: "text/plain",
      offset: 6,
      totalBytes: 6,
      text: "",
    });
  });

  it("of bytes are cut anywhere", async () => {
    const artifacts = new Artifacts({ store: memoryStore() });
    const { uri } = await artifacts.keep({ callerKey: "alice", bytes: Buffer.from("a😀b") });
    const pages = await pagesOf(artifacts, uri, 1);
    expect(pages.map((page) => ("bytes" in page ? page.bytes.length : 0))).toEqual([1, 1, 1, 1, 1, 1]);
  });

  it("are never larger than maxPageBytes, whatever was asked for", async () => {
    const artifacts = new Artifacts({ store: memoryStore(), maxPageBytes: 10 });
    const { uri } = await artifacts.keep({ callerKey: "alice", text: "x".repeat(100) });
    expect(await artifacts.read(uri, "alice", { limit: 1_000 })).toMatchObject({
      text: "x".repeat(10),
      nextOffset: 10,
    });
  });

  it.each([[{ offset: -1 }], [{ offset: 1.5 }], [{ limit: 0 }], [{ limit: NaN }], [{ offset: 7 }], [{ offset: "1" }]])(
    "like %j are refused",
    async (page) => {
      const artifacts = new Artifacts({ store: memoryStore() });
      const { uri } = await artifacts.keep({ callerKey: "alice", text: "123456" });
      await expect(artifacts.read(uri, "alice", page as never)).rejects.toThrow(ValidationError);
    },
  );
});

describe("artifacts are bounded", () => {
  it("in time", async () => {
    vi.useFakeTimers();
    const artifacts = new Artifacts({ store: memoryStore(), ttlMs: 1_000 });
    const { uri } = await artifacts.keep({ callerKey: "alice", text: "x" });
    vi.advanceTimersByTime(999);
    expect(await artifacts.read(uri, "alice")).toMatchObject({ text: "x" });
    vi.advanceTimersByTime(2);
    await expect(artifacts.read(uri, "alice")).rejects.toThrow("it has expired");
  });

  it("in size", async () => {
    const artifacts = new Artifacts({ store: memoryStore(), maxBytes: 10 });
    await expect(artifacts.keep({ callerKey: "alice", text: "€€€€" })).rejects.toThrow(
      "takes 12 bytes, an artifact at most 10",
    );
    await expect(artifacts.keep({ callerKey: "alice", bytes: new Uint8Array(11) })).rejects.toThrow(LimitError);
    expect((await artifacts.keep({ callerKey: "alice", text: "€€€x" })).bytes).toBe(10);
  });

  it("together, per caller: the oldest one goes", async () => {
    const artifacts = new Artifacts({ store: memoryStore(), maxCallerBytes: 30 });
    const uris: string[] = [];
    for (let index = 0; index < 4; index++)
      uris.push((await artifacts.keep({ callerKey: "alice", text: "x".repeat(10) })).uri);
    const other = await artifacts.keep({ callerKey: "bob", text: "y".repeat(30) });
    await expect(artifacts.read(uris[0] ?? "", "alice")).rejects.toThrow("dropped for newer ones");
    for (const uri of uris.slice(1)) expect(await artifacts.read(uri, "alice")).toMatchObject({ totalBytes: 10 });
    expect(await artifacts.read(other.uri, "bob")).toMatchObject({ totalBytes: 30 });
  });

  it("also when many are kept at the same time", async () => {
    const artifacts = new Artifacts({ store: memoryStore(), maxCallerBytes: 100 });
    const kept = await Promise.all(
      Array.from({ length: 20 }, () => artifacts.keep({ callerKey: "alice", text: "x".repeat(10) })),
    );
    const reads = await Promise.allSettled(kept.map(({ uri }) => artifacts.read(uri, "alice")));
    expect(reads.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
  });

  it("by limits that make sense", () => {
    for (const wrong of [{ ttlMs: 0 }, { maxBytes: 1.5 }, { maxPageBytes: 3 }]) {
      expect(() => new Artifacts({ store: memoryStore(), ...wrong })).toThrow(ConfigurationError);
    }
  });
});

describe("an artifact", () => {
  it.each([
    "codemode://artifact/",
    "codemode://artifact/../x",
    `codemode://artifact/${"0".repeat(33)}`,
    `CODEMODE://artifact/${"0".repeat(32)}`,
    "file:///etc/passwd",
  ])("is nothing that %s names", async (uri) => {
    expect(isArtifactUri(uri)).toBe(false);
    await expect(new Artifacts({ store: memoryStore() }).read(uri, "alice")).rejects.toThrow(ValidationError);
  });

  it("needs a caller", async () => {
    const artifacts = new Artifacts({ store: memoryStore() });
    await expect(artifacts.keep({ callerKey: "", text: "x" })).rejects.toThrow(ConfigurationError);
    await expect(artifacts.keep({ callerKey: undefined as never, text: "x" })).rejects.toThrow(ConfigurationError);
  });

  it("shows its caller in no key of the store", async () => {
    const store = memoryStore();
    await new Artifacts({ store }).keep({ callerKey: "alice@example.org", text: "x" });
    for await (const key of store.list("")) expect(key).not.toContain("alice");
  });
});
