import { ArgumentFault } from "./argument-fault.js";

/** How OpenAPI writes a value that is no scalar. */
export interface Encoding {
  /** form, spaceDelimited, pipeDelimited, tabDelimited (Swagger 2), deepObject; simple, label, matrix. */
  style: string;
  explode: boolean;
  /** Leaves characters such as `/` and `:` as they are. */
  allowReserved: boolean;
}

/** One `name=value` of a query or form. The value is percent-encoded, the name is not. */
export interface Pair {
  name: string;
  value: string;
}

/** Nesting that deepObject writes out; deeper values are written as JSON. */
const MAX_DEEP_LEVELS = 16;

const DELIMITERS: ReadonlyMap<string, string> = new Map([
  ["spaceDelimited", "%20"],
  ["pipeDelimited", "%7C"],
  ["tabDelimited", "%09"],
]);

/** The pairs that a value of a query or form is written as. Nothing, null and an empty list are none. */
export function pairsOf(name: string, value: unknown, encoding: Encoding): Pair[] {
  const write = (item: unknown): string => encoded(textOf(item), encoding.allowReserved);
  if (value === undefined || value === null) return [];
  if (typeof value !== "object") return [{ name, value: write(value) }];
  if (encoding.style === "deepObject") return deepPairs(name, value, write, 0);
  const delimiter = DELIMITERS.get(encoding.style) ?? ",";
  if (Array.isArray(value)) {
    const items = value.filter(isGiven).map(write);
    if (encoding.explode) return items.map((item) => ({ name, value: item }));
    return items.length === 0 ? [] : [{ name, value: items.join(delimiter) }];
  }
  const members = Object.entries(value).filter(([, member]) => isGiven(member));
  if (encoding.explode) return members.map(([key, member]) => ({ name: key, value: write(member) }));
  const flat = members.flatMap(([key, member]) => [encoded(key, false), write(member)]);
  return flat.length === 0 ? [] : [{ name, value: flat.join(delimiter) }];
}

/** `filter[a][b]=1`, `list[0]=x`: no standard, but what servers that say deepObject read. */
function deepPairs(name: string, value: object, write: (item: unknown) => string, level: number): Pair[] {
  return Object.entries(value).flatMap(([key, member]: [string, unknown]) => {
    const path = `${name}[${key}]`;
    if (!isGiven(member)) return [];
    if (typeof member === "object" && level < MAX_DEEP_LEVELS)
      return deepPairs(path, member as object, write, level + 1);
    return [{ name: path, value: write(member) }];
  });
}

/** A path parameter as it stands in the path, percent-encoded: a "/" in it is `%2F`. */
export function pathText(name: string, value: unknown, { style, explode }: Encoding): string {
  const write = (item: unknown): string => encoded(textOf(item), false);
  const key = encoded(name, false);
  const isObject = typeof value === "object" && value !== null;
  const items = isObject ? itemsOf(value, explode, write) : [write(value)];
  switch (style) {
    case "label":
      return `.${items.join(explode ? "." : ",")}`;
    case "matrix":
      if (explode && isObject) return items.map((item) => `;${Array.isArray(value) ? `${key}=` : ""}${item}`).join("");
      return `;${key}=${items.join(",")}`;
    default:
      return items.join(",");
  }
}

/** A value in the style "simple" without percent-encoding: what headers hold. */
export function simpleText(value: unknown, { explode }: Encoding): string {
  return typeof value === "object" && value !== null ? itemsOf(value, explode, textOf).join(",") : textOf(value);
}

function itemsOf(value: object, explode: boolean, write: (item: unknown) => string): string[] {
  if (Array.isArray(value)) return value.filter(isGiven).map(write);
  const members = Object.entries(value).filter(([, member]) => isGiven(member));
  return explode
    ? members.map(([key, member]) => `${write(key)}=${write(member)}`)
    : members.flatMap(([key, member]) => [write(key), write(member)]);
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

/** A scalar as text; what is nested deeper than its style can say as JSON. */
export function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  return typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
}

/** What a query may hold unencoded, if its parameter says so. "&", "=", "#", "+" and "%" always mean something else. */
const RESERVED = /%(3A|2F|3F|40|21|24|27|28|29|2A|2C|3B|5B|5D)/g;

/** Percent-encoded. @throws {ArgumentFault} for text that is no Unicode. */
export function encoded(text: string, allowReserved: boolean): string {
  let all: string;
  try {
    all = encodeURIComponent(text);
  } catch {
    throw new ArgumentFault("a text holds half of a surrogate pair, which cannot be sent");
  }
  return allowReserved ? all.replace(RESERVED, (escape) => decodeURIComponent(escape)) : all;
}
