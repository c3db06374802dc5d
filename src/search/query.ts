import type { Posting, Postings } from "./postings.js";
import { FILLER_WORDS, STOP_WORDS } from "./stop-words.js";
import { relatedTerms, type Relation } from "./synonyms.js";
import { MAX_QUERY_CHARACTERS, MAX_QUERY_TERMS, stemOf, wordsOf } from "./tokenize.js";
import type { Vocabulary } from "./vocabulary.js";

/** Why a term is looked up: it was said, or how it is related to what was said. */
export type Reason = "asked" | Relation;

/** One term to look up. */
export interface WeightedTerm {
  posting: Posting;
  weight: number;
  reason: Reason;
}

/** A related word weighs more when the word itself occurs nowhere in the catalog: then it stands in for it. */
const STAND_IN_FACTOR = 2;

/** No sum of related words outweighs a word that was said. */
const MOST_RELATED_WEIGHT = 0.9;

/** Unknown words of a query for which near ones are sought. */
const MOST_UNKNOWN_WORDS = 24;

/**
 * The terms of a question with their weights: words that were said, near words for those the catalog does not know,
 * pairs of neighbours, and related words.
 */
export function termsToFind(
  query: string,
  postings: Postings,
  vocabulary: () => Vocabulary,
): Map<string, WeightedTerm> {
  const said = saidTerms(query);
  const counts = countTerms(said);
  const found = new Map<string, WeightedTerm>();
  addSaid(found, counts, postings, vocabulary);
  addPairs(found, said, postings);
  addRelated(found, counts, postings);
  return found;
}

/** Stems of the words that matter, in order. A question of nothing but small words keeps them: there is a tool "help". */
function saidTerms(query: string): string[] {
  const words = wordsOf(query.slice(0, MAX_QUERY_CHARACTERS));
  for (const without of [[STOP_WORDS, FILLER_WORDS], [STOP_WORDS], []]) {
    const kept = words.filter((word) => !without.some((set) => set.has(word)));
    if (kept.length > 0) return kept.map(stemOf);
  }
  return [];
}

function countTerms(terms: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const term of terms) {
    if (counts.has(term) || counts.size < MAX_QUERY_TERMS) counts.set(term, (counts.get(term) ?? 0) + 1);
  }
  return counts;
}

function addSaid(
  found: Map<string, WeightedTerm>,
  counts: ReadonlyMap<string, number>,
  postings: Postings,
  vocabulary: () => Vocabulary,
): void {
  let unknown = 0;
  for (const [term, count] of counts) {
    const weight = 1 + Math.log(count);
    const posting = postings.get(term);
    if (posting) add(found, term, { posting, weight, reason: "asked" });
    else if (unknown++ < MOST_UNKNOWN_WORDS) {
      for (const near of vocabulary().near(term)) {
        addTerm(found, near.word, postings, weight * near.weight, "asked");
      }
    }
  }
}

/** Neighbours that stand together in a tool too, also when it writes them as one word ("data base", "database"). */
function addPairs(found: Map<string, WeightedTerm>, said: readonly string[], postings: Postings): void {
  for (const [index, term] of said.slice(0, MAX_QUERY_TERMS - 1).entries()) {
    const next = said[index + 1];
    if (next === undefined) return;
    addTerm(found, `${term} ${next}`, postings, 1, "asked");
    addTerm(found, stemOf(term + next), postings, 1, "asked");
  }
}

/** Related words of all words that were said: evidence for one and the same tool term adds up. */
function addRelated(found: Map<string, WeightedTerm>, counts: ReadonlyMap<string, number>, postings: Postings): void {
  const doubts = new Map<string, { doubt: number; relation: Relation }>();
  for (const term of counts.keys()) {
    const factor = postings.has(term) ? 1 : STAND_IN_FACTOR;
    for (const { term: related, weight, relation } of relatedTerms(term)) {
      if (counts.has(related)) continue;
      const before = doubts.get(related) ?? { doubt: 1, relation };
      const doubt = before.doubt * (1 - Math.min(MOST_RELATED_WEIGHT, weight * factor));
      doubts.set(related, { doubt, relation: nearer(before.relation, relation) });
    }
  }
  for (const [term, { doubt, relation }] of doubts) {
    addTerm(found, term, postings, Math.min(MOST_RELATED_WEIGHT, 1 - doubt), relation);
  }
}

const nearer = (left: Relation, right: Relation): Relation =>
  NEARNESS.indexOf(left) <= NEARNESS.indexOf(right) ? left : right;

const NEARNESS: readonly Relation[] = ["synonym", "subject", "neighbour"];

function addTerm(found: Map<string, WeightedTerm>, term: string, postings: Postings, weight: number, reason: Reason) {
  const posting = postings.get(term);
  if (posting) add(found, term, { posting, weight, reason });
}

function add(found: Map<string, WeightedTerm>, term: string, wanted: WeightedTerm): void {
  const known = found.get(term);
  if (!known || wanted.weight > known.weight) found.set(term, wanted);
}
