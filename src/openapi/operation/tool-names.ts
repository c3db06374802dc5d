import { createHash } from "node:crypto";
import type { ApiOperation } from "./operations.js";

/** Names every client takes. */
const MAX_NAME_CHARACTERS = 64;
const HASH_CHARACTERS = 8;

/** Names for tools: letters, digits and underscores, at most 64 characters, each given once. */
export class ToolNames {
  readonly #taken = new Set<string>();

  /**
   * A name for an operation: `chosen`, else its operationId, else its summary, else method and path. One that is too
   * long is cut, and ends with a hash of the whole; one that is taken gets a hash of method and path.
   *
   * @example
   * names.nameOf({ method: "GET", path: "/repos/{owner}/issues", operationId: "issues/list-for-repo", ... });
   * // "issues_list_for_repo"
   */
  nameOf(operation: ApiOperation, chosen?: string): string {
    const place = `${operation.method} ${operation.path}`;
    const candidates = [chosen, operation.operationId, operation.summary?.toLowerCase(), place.toLowerCase()];
    const word = candidates.map((text) => slug(text ?? "")).find((text) => text !== "") ?? "operation";
    let name = cut(word);
    for (let attempt = 0; this.#taken.has(name); attempt++) name = withHash(word, `${place} ${attempt || ""}`);
    this.#taken.add(name);
    return name;
  }
}

/** `issues/list-for-repo` -> `issues_list_for_repo`; accents are dropped, other letters are not taken. */
function slug(text: string): string {
  return text
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .replace(/[^A-Za-z0-9_]+/g, "_")
    .replace(/^_+|_+$/g, "");
}

const cut = (word: string): string => (word.length <= MAX_NAME_CHARACTERS ? word : withHash(word, word));

function withHash(word: string, hashed: string): string {
  const hash = createHash("sha256").update(hashed).digest("hex").slice(0, HASH_CHARACTERS);
  return `${word.slice(0, MAX_NAME_CHARACTERS - HASH_CHARACTERS - 1)}_${hash}`;
}
