import type { RunRecord } from "./paused-runs.js";

/**
 * A record and the memory of its script as bytes: length of the record (4 bytes), the record as JSON, the memory. JSON
 * has no Infinity, which `expiresAt` is without a limit of time.
 */
export function packRun(record: RunRecord, snapshot: Uint8Array): Uint8Array {
  const { expiresAt } = record;
  const head = Buffer.from(JSON.stringify({ ...record, expiresAt: Number.isFinite(expiresAt) ? expiresAt : null }));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(head.length);
  return Buffer.concat([length, head, snapshot]);
}

/** What {@link packRun} was given. Only for bytes whose seal was good. */
export function unpackRun(packed: Uint8Array): { record: RunRecord; snapshot: Uint8Array } {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  const start = 4 + bytes.readUInt32BE(0);
  const record = JSON.parse(bytes.toString("utf8", 4, start)) as RunRecord;
  // A copy: the engine and the record must not share memory with a cache of the store.
  return {
    record: { ...record, expiresAt: record.expiresAt ?? Number.POSITIVE_INFINITY },
    snapshot: Uint8Array.from(bytes.subarray(start)),
  };
}
