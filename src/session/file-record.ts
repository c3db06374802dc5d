import { SEAL_OVERHEAD_BYTES, SealError, type Sealer } from "./seal.js";

/** What stands in clear at the start of a record: enough to compare and to clean up, nothing about what it holds. */
export interface RecordHead {
  revision: string;
  /** Milliseconds since 1970; undefined: never. */
  expiresAt: number | undefined;
  /** Bytes of the sealed key, which follows the head. */
  keyBytes: number;
}

/**
 * A record: `MCS1`, 12 bytes of revision, 8 bytes of expiry in milliseconds (0: never), 2 bytes of length of the sealed
 * key; the sealed key; the sealed bytes. Both are bound to the head and to the file's name, so that neither a date nor a
 * place can be changed.
 */
const MAGIC = Buffer.from("MCS1");
const REVISION_BYTES = 12;
const REVISION_AT = MAGIC.length;
const EXPIRY_AT = REVISION_AT + REVISION_BYTES;
const KEY_LENGTH_AT = EXPIRY_AT + 8;

/** Bytes of a head. */
export const HEAD_BYTES = KEY_LENGTH_AT + 2;

const KEY_PURPOSE = "file store key";
const BYTES_PURPOSE = "file store bytes";

/** A record for the file `name`. `revision`: 24 hex digits. */
export function writeRecord(
  sealer: Sealer,
  name: string,
  entry: { key: string; bytes: Uint8Array; revision: string; expiresAt: number | undefined },
): Buffer {
  const key = Buffer.from(entry.key);
  const head = Buffer.alloc(HEAD_BYTES);
  MAGIC.copy(head);
  head.write(entry.revision, REVISION_AT, "hex");
  head.writeBigUInt64BE(BigInt(Math.ceil(entry.expiresAt ?? 0)), EXPIRY_AT);
  head.writeUInt16BE(key.length + SEAL_OVERHEAD_BYTES, KEY_LENGTH_AT);
  const place = placeOf(head, name);
  return Buffer.concat([head, sealer.seal(KEY_PURPOSE, key, place), sealer.seal(BYTES_PURPOSE, entry.bytes, place)]);
}

/** The head of a record; undefined when this is none. Not authenticated: only {@link readKey} and {@link readBytes} are. */
export function readHead(record: Buffer): RecordHead | undefined {
  if (record.length < HEAD_BYTES || !record.subarray(0, MAGIC.length).equals(MAGIC)) return undefined;
  const expiry = Number(record.readBigUInt64BE(EXPIRY_AT));
  return {
    revision: record.toString("hex", REVISION_AT, EXPIRY_AT),
    expiresAt: expiry === 0 ? undefined : expiry,
    keyBytes: record.readUInt16BE(KEY_LENGTH_AT),
  };
}

/**
 * The key of a record, of which only the beginning has to be there.
 *
 * @throws {SealError} when it was changed, moved, or sealed with a secret that is not known.
 */
export function readKey(sealer: Sealer, name: string, record: Buffer, { keyBytes }: RecordHead): string {
  const sealed = record.subarray(HEAD_BYTES, HEAD_BYTES + keyBytes);
  return Buffer.from(sealer.open(KEY_PURPOSE, sealed, placeOf(record, name))).toString("utf8");
}

/**
 * The bytes of a whole record.
 *
 * @throws {SealError} as {@link readKey}.
 */
export function readBytes(sealer: Sealer, name: string, record: Buffer, { keyBytes }: RecordHead): Uint8Array {
  return sealer.open(BYTES_PURPOSE, record.subarray(HEAD_BYTES + keyBytes), placeOf(record, name));
}

/** For a file that is no record at all. */
export const malformedRecord = (): SealError => new SealError("malformed", "A file of the store");

const placeOf = (record: Buffer, name: string): Buffer =>
  Buffer.concat([record.subarray(0, HEAD_BYTES), Buffer.from(name)]);
