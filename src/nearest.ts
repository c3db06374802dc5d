/** Edits (insert, delete, replace, swap of neighbours) between two short names, at most `limit` + 1. */
export function editDistance(left: string, right: string, limit: number): number {
  if (Math.abs(left.length - right.length) > limit) return limit + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1];
      let cost = Math.min(
        cell(last, column) + 1,
        cell(current, column - 1) + 1,
        cell(last, column - 1) + (same ? 0 : 1),
      );
      const swapped =
        row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (swapped) cost = Math.min(cost, cell(beforeLast, column - 2) + 1);
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return Math.min(cell(last, right.length), limit + 1);
}

const cell = (row: readonly number[], column: number): number => row[column] ?? Number.POSITIVE_INFINITY;

const fold = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");

/** Names longer than this are compared by their beginning only, so that a long one costs no time. */
const COMPARED_CHARACTERS = 64;

/**
 * The candidates that were most likely meant by `name`: equal when case and punctuation are ignored, within a third of
 * its length in edits, or one being a part of the other. Nearest first, at most `count` (default 3); [] when nothing is near.
 *
 * @example
 * nearestNames("list_flow", ["list_flows", "delete_flow", "ping"]); // ["list_flows"]
 */
export function nearestNames(name: string, candidates: Iterable<string>, count = 3): string[] {
  const wanted = fold(name.slice(0, COMPARED_CHARACTERS));
  const limit = Math.max(1, Math.floor(wanted.length / 3));
  const scored: { candidate: string; score: number }[] = [];
  for (const candidate of candidates) {
    const folded = fold(candidate.slice(0, COMPARED_CHARACTERS));
    const score = nearness(wanted, folded, limit);
    if (score <= limit) scored.push({ candidate, score });
  }
  return scored
    .sort((a, b) => a.score - b.score)
    .slice(0, count)
    .map(({ candidate }) => candidate);
}

function nearness(wanted: string, folded: string, limit: number): number {
  if (wanted === folded) return 0;
  if (wanted.length >= 4 && folded.length >= 4 && (folded.includes(wanted) || wanted.includes(folded))) return 0.5;
  return editDistance(wanted, folded, limit);
}
