import { createHash } from "node:crypto";

const MAX_NAME_CHARACTERS = 80;

/** Names for what references point to: `#/components/schemas/User` -> `User`. Distinct, and never in need of escapes. */
export class DefinitionNames {
  readonly #byPointer = new Map<string, string>();
  readonly #taken = new Set<string>();

  /** The same name each time. */
  nameOf(pointer: string): string {
    const known = this.#byPointer.get(pointer);
    if (known !== undefined) return known;
    const name = this.#free(wordOf(pointer), pointer);
    this.#byPointer.set(pointer, name);
    this.#taken.add(name);
    return name;
  }

  #free(word: string, pointer: string): string {
    if (!this.#taken.has(word)) return word;
    return `${word}_${createHash("sha256").update(pointer).digest("hex").slice(0, 8)}`;
  }
}

/** The last step of a pointer that is a word: `.../User/properties/address` -> `address`, `.../items` -> `items`. */
function wordOf(pointer: string): string {
  const last = pointer.split("/").pop() ?? "";
  const word = last
    .replaceAll(/~1|%2F/gi, "_")
    .replace(/[^A-Za-z0-9_.-]+/g, "_")
    .slice(0, MAX_NAME_CHARACTERS);
  // A plain object takes "__proto__" as its prototype.
  return /^[_.-]*$/.test(word) || word === "__proto__" ? "Schema" : word;
}
