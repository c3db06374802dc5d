import { nearestNames } from "../nearest.js";

/** Names compared, so that a huge catalog costs bounded time. */
const MAX_NAMES = 20_000;
const COMPARED_CHARACTERS = 80;
/** Below this part of shared letter pairs two names only look alike by chance. */
const MIN_LIKENESS = 0.12;

/**
 * The names most like a question that found nothing: those that were probably meant, then those that share letters with
 * it. At most `count`.
 */
export function closestNames(question: string, names: readonly string[], count = 3): string[] {
  const meant = nearestNames(question, names, count);
  if (meant.length >= count) return meant;
  const wanted = pairsOf(question);
  const scored = names
    .slice(0, MAX_NAMES)
    .filter((name) => !meant.includes(name))
    .map((name) => ({ name, score: likeness(wanted, pairsOf(name)) }))
    .filter(({ score }) => score >= MIN_LIKENESS)
    .sort((a, b) => b.score - a.score);
  return [...meant, ...scored.slice(0, count - meant.length).map(({ name }) => name)];
}

function pairsOf(text: string): Set<string> {
  const folded = text
    .slice(0, COMPARED_CHARACTERS)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, "");
  return new Set(Array.from({ length: Math.max(0, folded.length - 1) }, (_, at) => folded.slice(at, at + 2)));
}

/** Twice the pairs that both have over all pairs (Dice). */
function likeness(left: ReadonlySet<string>, right: ReadonlySet<string>): number {
  let shared = 0;
  for (const pair of right) if (left.has(pair)) shared++;
  return left.size + right.size === 0 ? 0 : (2 * shared) / (left.size + right.size);
}
