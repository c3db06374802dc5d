import type { CatalogIndex } from "./catalog-index.js";
import { namedExactly, namedNearly } from "./name-matches.js";
import { termsToFind, type WeightedTerm } from "./query.js";

/** A document that fits, by its position in the index. */
export interface Ranked {
  position: number;
  score: number;
}

/** How much a name whose words were all said is worth, as a share of the score. */
const NAME_COVERAGE = 0.25;

/** Share of the mean of a server's best scores that each of its tools gets: tools of the right server are more likely. */
const SERVER_SHARE = 0.1;
const BEST_OF_SERVER = 3;

/** Above every score of words: a tool that was named comes first, one that was misspelt next. */
const EXACT_NAME_SCORE = 1_000;
const NEAR_NAME_SCORE = 500;

/** Documents below this share of the best score are noise. */
const LOWEST_SHARE = 0.2;

/** Words of a subject that must occur when nothing that was said does, and the name does not name the subject. */
const FEWEST_SUBJECT_WORDS = 3;

/** Documents that fit a question, best first; equal scores by name. [] when nothing fits. */
export function rank(query: string, index: CatalogIndex): Ranked[] {
  const terms = termsToFind(query, index.postings, () => index.vocabulary);
  const scores = new Float64Array(index.documents.length);
  const fitting = addTermScores(terms, scores, index);
  rewardNames(fitting, terms, scores, index);
  rewardServers(fitting, scores, index);
  const best = fitting.reduce((most, position) => Math.max(most, scores[position] ?? 0), 0);
  const kept = new Set(fitting.filter((position) => (scores[position] ?? 0) >= best * LOWEST_SHARE));
  for (const position of namedNearly(query, index)) addNamed(position, NEAR_NAME_SCORE, kept, scores);
  for (const position of namedExactly(query, index)) addNamed(position, EXACT_NAME_SCORE, kept, scores);
  return [...kept]
    .map((position) => ({ position, score: scores[position] ?? 0 }))
    .sort((a, b) => b.score - a.score || compareNames(index, a.position, b.position));
}

/** Adds up the scores of all terms. Returns the documents with enough evidence. */
function addTermScores(terms: ReadonlyMap<string, WeightedTerm>, scores: Float64Array, index: CatalogIndex): number[] {
  const said = new Uint8Array(scores.length);
  const subjects = new Uint8Array(scores.length);
  for (const { posting, weight, reason } of terms.values()) {
    const { documents, scores: termScores } = posting;
    for (let at = 0; at < documents.length; at++) {
      const position = documents[at] ?? 0;
      scores[position] = (scores[position] ?? 0) + weight * (termScores[at] ?? 0);
      if (reason === "asked" || reason === "synonym") said[position] = 1;
      else subjects[position] = Math.min(255, (subjects[position] ?? 0) + 1);
    }
  }
  const fitting: number[] = [];
  for (let position = 0; position < scores.length; position++) {
    if (said[position] || (subjects[position] ?? 0) >= FEWEST_SUBJECT_WORDS) fitting.push(position);
    else if (index.nameTerms[position]?.some((term) => terms.get(term)?.reason === "subject")) fitting.push(position);
  }
  return fitting;
}

/** Raises documents by the share of their name that was said, rare words counting more. */
function rewardNames(
  fitting: readonly number[],
  terms: ReadonlyMap<string, WeightedTerm>,
  scores: Float64Array,
  index: CatalogIndex,
): void {
  for (const position of fitting) {
    let said = 0;
    let all = 0;
    for (const term of index.nameTerms[position] ?? []) {
      const rarity = index.postings.get(term)?.rarity ?? 0;
      all += rarity;
      said += rarity * Math.min(1, terms.get(term)?.weight ?? 0);
    }
    if (all > 0) scores[position] = (scores[position] ?? 0) * (1 + (NAME_COVERAGE * said) / all);
  }
}

function rewardServers(fitting: readonly number[], scores: Float64Array, index: CatalogIndex): void {
  const best = new Map<string, number[]>();
  for (const position of fitting) {
    const server = index.documents[position]?.server;
    if (!server) continue;
    let top = best.get(server);
    if (!top) best.set(server, (top = []));
    top.push(scores[position] ?? 0);
    if (top.length > BEST_OF_SERVER) top.splice(top.indexOf(Math.min(...top)), 1);
  }
  if (best.size < 2) return;
  for (const position of fitting) {
    const top = best.get(index.documents[position]?.server ?? "");
    if (!top) continue;
    const mean = top.reduce((sum, score) => sum + score, 0) / top.length;
    scores[position] = (scores[position] ?? 0) + SERVER_SHARE * mean;
  }
}

function addNamed(position: number, bonus: number, kept: Set<number>, scores: Float64Array): void {
  scores[position] = ((scores[position] ?? 0) % NEAR_NAME_SCORE) + bonus;
  kept.add(position);
}

function compareNames(index: CatalogIndex, left: number, right: number): number {
  const leftName = index.documents[left]?.name ?? "";
  const rightName = index.documents[right]?.name ?? "";
  return leftName < rightName ? -1 : leftName > rightName ? 1 : left - right;
}
