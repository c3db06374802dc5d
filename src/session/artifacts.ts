import { createHash, randomBytes } from "node:crypto";
import { ConfigurationError, LimitError, ValidationError } from "../errors.js";
import { ArtifactIndex } from "./artifact-index.js";
import type { SessionStore } from "./store.js";

/** Options of {@link Artifacts}. */
export interface ArtifactsOptions {
  store: SessionStore;
  /** Milliseconds until an artifact is gone. @default 3_600_000 */
  ttlMs?: number;
  /** One artifact, in bytes. @default 16 MiB */
  maxBytes?: number;
  /** All of a caller, in bytes: beyond it the oldest ones are dropped. @default 64 MiB */
  maxCallerBytes?: number;
  /** One page, in bytes, when a read does not say; also the most it may ask for. @default 256 KiB */
  maxPageBytes?: number;
}

/** What is kept: a text or bytes. */
export type ArtifactContent = { text: string; mimeType?: string } | { bytes: Uint8Array; mimeType?: string };

/** Part of an artifact. */
export type ArtifactPage = {
  mimeType: string;
  /** Where this page begins, in bytes. Before the asked one when that lay inside a character. */
  offset: number;
  /** The whole artifact, in bytes. */
  totalBytes: number;
  /** Where the next page begins; undefined on the last one. */
  nextOffset?: number;
} & ({ text: string } | { bytes: Uint8Array });

const PREFIX = "codemode://artifact/";
/** 128 bits: not to be guessed. Knowing one is not enough either. */
const ID_BYTES = 16;
const URI = new RegExp(`^${PREFIX}([0-9a-f]{${ID_BYTES * 2}})$`);
const KIB = 1024;
const MIB = 1024 * KIB;
const DEFAULTS = { ttlMs: 3_600_000, maxBytes: 16 * MIB, maxCallerBytes: 64 * MIB, maxPageBytes: 256 * KIB };

/** True for a URI that {@link Artifacts} could have made; all others belong to the host. */
export function isArtifactUri(uri: string): boolean {
  return URI.test(uri);
}

/** Results that were too large for a reply. Only the caller they were made for can read them, page by page. */
export class Artifacts {
  readonly #store: SessionStore;
  readonly #limits: Required<Omit<ArtifactsOptions, "store">>;
  readonly #index: ArtifactIndex;

  /** @throws {ConfigurationError} for a limit that is no number above 0, or a page below 4 bytes (one character). */
  constructor({ store, ...given }: ArtifactsOptions) {
    this.#store = store;
    this.#limits = { ...DEFAULTS, ...given };
    for (const [name, value] of Object.entries(this.#limits)) {
      if (!Number.isSafeInteger(value) || value < 1) throw badLimit(name, "a whole number above 0");
    }
    if (this.#limits.maxPageBytes < 4) throw badLimit("maxPageBytes", "at least 4");
    this.#index = new ArtifactIndex(store, this.#limits);
  }

  /**
   * Keeps an artifact for one caller.
   *
   * @param callerKey Who may read it: an identity or a session's key, never a constant.
   * @returns Its URI, `codemode://artifact/<32 hex digits>`, and its size.
   * @throws {LimitError} when it is larger than `maxBytes` or `maxCallerBytes`.
   */
  async keep(content: ArtifactContent & { callerKey: string }): Promise<{ uri: string; bytes: number }> {
    const owner = ownerOf(content.callerKey);
    const isText = "text" in content;
    const bytes = isText ? Buffer.from(content.text) : content.bytes;
    const most = Math.min(this.#limits.maxBytes, this.#limits.maxCallerBytes);
    if (bytes.length > most) throw tooLarge(bytes.length, most);
    const mimeType = content.mimeType ?? (isText ? "text/plain" : "application/octet-stream");
    const id = randomBytes(ID_BYTES).toString("hex");
    const { dropped } = await this.#index.add(owner, { id, bytes: bytes.length });
    for (const old of dropped) await this.#store.delete(keyOf(owner, old));
    await this.#store.put(keyOf(owner, id), pack({ mimeType, isText }, bytes), { ttlMs: this.#limits.ttlMs });
    return { uri: PREFIX + id, bytes: bytes.length };
  }

  /**
   * A page of an artifact. Pages of a text end and begin between characters.
   *
   * @param page `offset` and `limit` in bytes. `limit` is brought down to `maxPageBytes`, and up to one character.
   * @throws {ValidationError} when there is no such artifact for this caller, or `offset` or `limit` is no whole number
   *   in range. It reads the same for one that is gone and one of somebody else.
   */
  async read(uri: string, callerKey: string, page: { offset?: number; limit?: number } = {}): Promise<ArtifactPage> {
    const { maxPageBytes } = this.#limits;
    const offset = wholeNumber("offset", page.offset ?? 0, 0);
    const limit = Math.min(wholeNumber("limit", page.limit ?? maxPageBytes, 1), maxPageBytes);
    const id = URI.exec(uri)?.[1];
    const entry = id === undefined ? undefined : await this.#store.get(keyOf(ownerOf(callerKey), id));
    if (entry === undefined) throw unknownArtifact(uri);
    const { mimeType, isText, bytes } = unpack(entry.bytes);
    if (offset > bytes.length) throw outOfRange(offset, bytes.length);
    const start = isText ? characterStart(bytes, offset) : offset;
    const end = isText ? pageEnd(bytes, start, limit) : Math.min(start + limit, bytes.length);
    const content = bytes.subarray(start, end);
    return {
      mimeType,
      offset: start,
      totalBytes: bytes.length,
      ...(end < bytes.length ? { nextOffset: end } : {}),
      ...(isText ? { text: content.toString("utf8") } : { bytes: Uint8Array.from(content) }),
    };
  }
}

/** A hash: identities stand in no store. */
function ownerOf(callerKey: string): string {
  if (typeof callerKey !== "string" || callerKey === "") {
    throw new ConfigurationError("An artifact needs the key of its caller: without one everybody could read it.");
  }
  return createHash("sha256").update(callerKey).digest("hex");
}

/** The owner is part of the key, so another caller's read finds nothing: there is no comparison to get wrong. */
const keyOf = (owner: string, id: string): string => `artifact/${owner}/${id}`;

interface Facts {
  mimeType: string;
  isText: boolean;
}

function pack(facts: Facts, bytes: Uint8Array): Uint8Array {
  const head = Buffer.from(JSON.stringify(facts));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(head.length);
  return Buffer.concat([length, head, bytes]);
}

function unpack(packed: Uint8Array): Facts & { bytes: Buffer } {
  const buffer = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  const start = 4 + buffer.readUInt32BE(0);
  const { mimeType, isText } = JSON.parse(buffer.toString("utf8", 4, start)) as Facts;
  return { mimeType, isText, bytes: buffer.subarray(start) };
}

const isInsideCharacter = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

function characterStart(bytes: Buffer, offset: number): number {
  let start = offset;
  while (start > 0 && isInsideCharacter(bytes[start])) start--;
  return start;
}

function pageEnd(bytes: Buffer, start: number, limit: number): number {
  const end = characterStart(bytes, Math.min(start + limit, bytes.length));
  if (end > start || start === bytes.length) return end;
  // Less than one character was asked for: a page that brings nobody further would be asked for again for ever.
  let next = start + 1;
  while (isInsideCharacter(bytes[next])) next++;
  return next;
}

function wholeNumber(name: string, value: number, least: number): number {
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new ValidationError(`${name} must be a whole number of at least ${least}, got ${String(value)}.`);
}

function unknownArtifact(uri: string): ValidationError {
  const shown = isArtifactUri(uri) ? uri : "this URI";
  return new ValidationError(
    `There is no artifact ${shown} for this caller: it has expired, was dropped for newer ones, or belongs to somebody else. ` +
      "Run the script again.",
  );
}

function outOfRange(offset: number, bytes: number): ValidationError {
  return new ValidationError(`offset ${offset} lies beyond the end of the artifact, which has ${bytes} bytes.`, {
    details: { offset, totalBytes: bytes },
  });
}

function tooLarge(bytes: number, most: number): LimitError {
  return new LimitError(
    `The result takes ${bytes} bytes, an artifact at most ${most}. Filter and aggregate inside the script.`,
    { details: { limit: "artifact bytes", bytes, most } },
  );
}

const badLimit = (name: string, expected: string): ConfigurationError =>
  new ConfigurationError(`Artifacts: ${name} must be ${expected}.`);
