import type { CatalogIndex } from "./catalog-index.js";
import { foldName, stemOf } from "./tokenize.js";

/** A query longer than this is no name. */
const MAX_NAME_CHARACTERS = 256;

/** Parts of a query that are looked up as names. */
const MAX_PARTS = 64;

/** Looks like a name out of code: `create_issue`, `github.create`, `createIssue`, `v2`. */
const IDENTIFIER = /[\p{L}\p{N}](?:__?|[./:-])[\p{L}\p{N}]|\p{Ll}\p{Lu}|\p{L}\d/u;

/** Shorter parts are too near to too many names. */
const SHORTEST_MISSPELT = 6;

/** Shortest word that is looked up as a name written without separators ("getstockprice"). */
const SHORTEST_JOINED = 9;

/** Documents that a query names: as a whole, in a list, or by an identifier inside of a sentence. */
export function namedExactly(query: string, index: CatalogIndex): readonly number[] {
  const whole = lookUp(query, index);
  if (whole.length > 0) return whole;
  const names = [...listedNamesIn(query, index), ...identifiersIn(query), ...joinedNamesIn(query, index)];
  return names.flatMap((name) => lookUp(name, index));
}

/** Documents whose name is one typo away from the query, or from an identifier in it. */
export function namedNearly(query: string, index: CatalogIndex): readonly number[] {
  const parts = identifiersIn(query).filter((name) => name.length >= SHORTEST_MISSPELT);
  const names = query.length <= MAX_NAME_CHARACTERS ? [query, ...parts] : parts;
  return names
    .map(foldName)
    .filter((folded) => folded && !index.names.has(folded))
    .flatMap((folded) => index.nameVocabulary.oneEditFrom(folded))
    .flatMap((name) => index.names.get(name) ?? []);
}

function lookUp(name: string, index: CatalogIndex): readonly number[] {
  return name.length <= MAX_NAME_CHARACTERS ? (index.names.get(foldName(name)) ?? []) : [];
}

const readPart = (query: string): string => query.slice(0, MAX_NAME_CHARACTERS * 8);

/** Words with the punctuation inside of them, without the one around them. */
const partsOf = (query: string): string[] =>
  readPart(query).match(/[\p{L}\p{N}](?:[^\s,;`"'()]*[\p{L}\p{N}])?/gu) ?? [];

function identifiersIn(query: string): string[] {
  return [...new Set(partsOf(query).filter((part) => IDENTIFIER.test(part)))].slice(0, MAX_PARTS);
}

/** The parts of "ping, fetch, send_email" when most of them are names. In prose, what stands between commas is not. */
function listedNamesIn(query: string, index: CatalogIndex): string[] {
  const parts = query.includes(",") ? readPart(query).split(",").slice(0, MAX_PARTS) : [];
  const known = parts.filter((part) => lookUp(part, index).length > 0);
  return known.length * 2 > parts.length ? known : [];
}

/** Long words that are no words of the catalog: a name of several words may have been written as one. */
function joinedNamesIn(query: string, index: CatalogIndex): string[] {
  return partsOf(query)
    .filter((part) => part.length >= SHORTEST_JOINED && !index.postings.has(stemOf(part.toLowerCase())))
    .slice(0, MAX_PARTS);
}
