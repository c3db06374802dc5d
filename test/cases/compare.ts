import { isDeepStrictEqual } from "node:util";

/** As JSON carries it: no -0, no undefined; `__proto__` stays a key. */
function asCarried(value: unknown): unknown {
  return value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);
}

/** Deep equality of JSON values; key order does not count. */
export function sameJson(left: unknown, right: unknown): boolean {
  return isDeepStrictEqual(asCarried(left), asCarried(right));
}

/** True when everything of `part` is in `whole`: keys of objects, places of arrays. `null` means null or absent. */
export function includesPart(whole: unknown, part: unknown): boolean {
  if (part === null) return whole === null || whole === undefined;
  if (typeof part !== "object") return Object.is(whole, part) || sameJson(whole, part);
  if (typeof whole !== "object" || whole === null || Array.isArray(whole) !== Array.isArray(part)) return false;
  return Object.entries(part).every(([key, item]) =>
    includesPart(Object.hasOwn(whole, key) ? (whole as Record<string, unknown>)[key] : undefined, item),
  );
}

/** A pattern of a case file: tested without regard to case. */
export function matches(text: string, pattern: unknown): boolean {
  return new RegExp(String(pattern), "i").test(text);
}

/** A value for a reason: short. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 160 ? `${text.slice(0, 160)}...` : text;
}
