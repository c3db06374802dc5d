import { asList, asStrings, type Json, Todo } from "./case.js";
import { matches, sameJson, shown } from "./compare.js";
import type { SearchReply } from "./world.js";

/** The searches of a case, in order: one for each query, catalog, caller or repetition. */
export type Searches = readonly SearchReply[];

type Assertion = (searches: Searches, wanted: unknown) => string | undefined;

/** Every search satisfies the test. */
const each =
  (name: string, holds: (search: SearchReply, wanted: unknown) => boolean): Assertion =>
  (searches, wanted) => {
    const failing = searches.findIndex((search) => !holds(search, wanted));
    if (searches.length === 0) return `search.${name}: no search was made`;
    return failing < 0 ? undefined : fault(name, wanted, searches[failing], failing);
  };

/** The search at each place satisfies the test with the wanted value of that place. */
const eachOf =
  (name: string, holds: (search: SearchReply, wanted: unknown) => boolean): Assertion =>
  (searches, wanted) => {
    const list = asList(wanted, `search.${name}`);
    if (list.length !== searches.length)
      return `search.${name}: ${list.length} expected, ${searches.length} searches made`;
    const failing = list.findIndex((item, index) => !holds(searches[index] as SearchReply, item));
    return failing < 0 ? undefined : fault(name, list[failing], searches[failing], failing);
  };

const fault = (name: string, wanted: unknown, search: SearchReply | undefined, index: number): string =>
  `search.${name} ${shown(wanted)} does not hold for search ${index + 1}: found ${shown(search?.names)} of ${search?.context.total}, "${search?.reply.summary.slice(0, 160)}"`;

const isFirst = ({ names }: SearchReply, wanted: unknown): boolean => (names[0] ?? null) === wanted;

const includesAll = ({ names, reply }: SearchReply, wanted: unknown): boolean =>
  asStrings(wanted, "search.includes").every((name) => names.includes(name) && reply.text.includes(name));

/** All of these before any other result. */
const leadsWith = ({ names }: SearchReply, wanted: unknown): boolean => {
  const list = asStrings(wanted, "search.includesPerQuery");
  return sameJson(names.slice(0, list.length).toSorted(), list.toSorted());
};

const headings = (text: string): number => text.split("\n").filter((line) => /^#{1,6} /.test(line)).length;

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((left, right) => left - right)[Math.floor(numbers.length / 2)] ?? 0;

const ASSERTIONS: Readonly<Record<string, Assertion>> = {
  first: each("first", isFirst),
  firstPerQuery: eachOf("firstPerQuery", isFirst),
  firstPerCatalog: eachOf("firstPerCatalog", isFirst),
  includes: each("includes", includesAll),
  includesPerQuery: eachOf("includesPerQuery", leadsWith),
  includesMatching: each("includesMatching", ({ names }, wanted) => names.some((name) => matches(name, wanted))),
  exactly: each("exactly", ({ names }, wanted) => sameJson(names.toSorted(), asStrings(wanted, "exactly").toSorted())),
  names: each("names", ({ names }, wanted) => sameJson(names, wanted)),
  notInFirst3: each("notInFirst3", ({ names }, wanted) =>
    asStrings(wanted, "notInFirst3").every((name) => !names.slice(0, 3).includes(name)),
  ),
  order: each("order", ({ names }, wanted) => sameJson(names, wanted)),
  count: each("count", ({ names }, wanted) => names.length === wanted),
  total: each("total", ({ context }, wanted) => context.total === wanted),
  samePerQuery: (searches) => {
    const texts = new Set(searches.map(({ reply }) => reply.text));
    return texts.size === 1 ? undefined : `search.samePerQuery: ${texts.size} different replies`;
  },
  perCaller: eachOf("perCaller", ({ names }, wanted) => sameJson(names, wanted)),
  stable: (searches) => {
    const orders = new Set(searches.map(({ names }) => JSON.stringify(names)));
    const twice = searches.find(({ names }) => new Set(names).size !== names.length);
    if (twice !== undefined) return `search.stable: a tool occurs twice in ${shown(twice.names)}`;
    return orders.size === 1 ? undefined : `search.stable: ${orders.size} different orders`;
  },
  noError: each("noError", ({ reply }) => !reply.isError),
  textMatches: each("textMatches", ({ reply }, wanted) => matches(reply.text, wanted)),
  toolHeadings: each("toolHeadings", ({ reply }, wanted) => headings(reply.text) === wanted),
  maxChars: each("maxChars", ({ reply }, wanted) => reply.text.length <= Number(wanted)),
  maxMs: each("maxMs", ({ reply }, wanted) => reply.ms <= Number(wanted)),
  firstMs: ([first], wanted) => slow("firstMs", first?.reply.ms, wanted),
  laterMs: ([, ...later], wanted) => slow("laterMs", median(later.map(({ reply }) => reply.ms)), wanted),
};

const slow = (name: string, ms: number | undefined, wanted: unknown): string | undefined =>
  ms !== undefined && ms <= Number(wanted) ? undefined : `search.${name} ${String(wanted)}: took ${ms?.toFixed(1)} ms`;

/** The keys that this module understands. */
export const SEARCH_KEYS: readonly string[] = Object.keys(ASSERTIONS);

/** What is wrong with the searches. @throws {Todo} for a key that is not known. */
export function searchFaults(searches: Searches, wanted: Json): string[] {
  return Object.entries(wanted).flatMap(([key, value]) => {
    const assertion = ASSERTIONS[key];
    if (assertion === undefined) throw new Todo(`search: unknown key ${key}`);
    return assertion(searches, value) ?? [];
  });
}
