import type { Placed } from "../request/credentials.js";

/** Shorter texts occur by chance: replacing them would change data. */
const SHORTEST_SECRET = 8;

/** Replaces credentials in what a server answers: some servers send back what they got. */
export function redactor(placed: readonly Placed[]): (text: string) => string {
  const secrets = new Set<string>();
  for (const { value } of placed) {
    for (const secret of [value, value.replace(/^(Bearer|Basic) /, ""), encodeURIComponent(value)]) {
      if (secret.length >= SHORTEST_SECRET) secrets.add(secret);
    }
  }
  // Longest first, so that a part of one does not stay behind.
  const ordered = [...secrets].toSorted((left, right) => right.length - left.length);
  return (text) => ordered.reduce((clean, secret) => clean.replaceAll(secret, "[hidden]"), text);
}
