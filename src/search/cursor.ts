import { createHash } from "node:crypto";
import type { Tool } from "../catalog/tool.js";
import { ValidationError } from "../errors.js";
import { documentsOf } from "./documents.js";

/** What a cursor belongs to: with anything else it is refused. */
export interface CursorScope {
  /** Of the caller's catalog, by {@link catalogRevision}. */
  revision: string;
  /** The question with its filters, as text. */
  question: string;
  /** Most tools on a page. */
  pageSize: number;
}

/** Longer ones are none of ours. */
const MAX_CURSOR_CHARACTERS = 200;

/**
 * An opaque cursor for the hits from `offset` on. It names nothing and grants nothing (a page shows the caller's own
 * tools whatever the offset): its check digits tell mistakes from tampering, they keep no secret. So it holds for every
 * process that serves the same tools.
 */
export function encodeCursor(offset: number, scope: CursorScope): string {
  const body = [offset, scope.pageSize, digest(scope.revision), digest(scope.question)].join(".");
  return Buffer.from(`${body}.${digest(body)}`).toString("base64url");
}

/**
 * The offset that a cursor stands for.
 *
 * @throws {ValidationError} "Invalid cursor" for text that is none, or one of another question or page size; "Stale
 * cursor" when the catalog has changed since.
 */
export function decodeCursor(cursor: string, scope: CursorScope): number {
  const [offset = "", pageSize, revision, question, check] = partsOf(cursor);
  const body = [offset, pageSize, revision, question].join(".");
  if (!/^\d{1,9}$/.test(offset) || check !== digest(body)) throw invalid("it is not one that search gave");
  if (question !== digest(scope.question)) throw invalid("it belongs to another query or other filters");
  if (pageSize !== String(scope.pageSize)) throw invalid(`it belongs to pages of ${pageSize} tools (limit)`);
  if (revision === digest(scope.revision)) return Number(offset);
  throw new ValidationError("Stale cursor: the tools have changed since. Search again without a cursor.", {
    details: { cursor: "stale" },
  });
}

function partsOf(cursor: string): string[] {
  return cursor.length > MAX_CURSOR_CHARACTERS ? [] : Buffer.from(cursor, "base64url").toString("latin1").split(".");
}

function invalid(why: string): ValidationError {
  return new ValidationError(`Invalid cursor: ${why}. Search again without a cursor.`, {
    details: { cursor: "invalid" },
  });
}

const digest = (text: string): string => createHash("sha256").update(text).digest("base64url").slice(0, 11);

const revisions = new WeakMap<readonly Tool[], Promise<string>>();

/** Equal for lists of the same tools in the same order, as far as they are searched. Computed once for each list. */
export function catalogRevision(tools: readonly Tool[]): Promise<string> {
  const known = revisions.get(tools);
  if (known !== undefined) return known;
  const revision = documentsOf(tools).then((documents) => {
    const hash = createHash("sha256");
    for (const { key } of documents) hash.update(key);
    return hash.digest("base64url");
  });
  revisions.set(tools, revision);
  return revision;
}
