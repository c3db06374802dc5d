/** One replacement in a text. */
export interface Edit {
  start: number;
  end: number;
  text: string;
}

/**
 * Code made from other code, and the way back: each step lists pairs `at, from` in one flat array, in ascending order. From
 * `at` on the made text is what stood from `from` on; where `from` is negative, it is new and stands at `~from`. Plain
 * data, so that it can cross threads.
 */
export interface Rewrite {
  code: string;
  steps: readonly (readonly number[])[];
}

/** True for data in the form of a {@link Rewrite}. */
export function isRewrite(value: unknown): value is Rewrite {
  if (typeof value !== "object" || value === null) return false;
  const { code, steps } = value as Partial<Rewrite>;
  const isStep = (step: unknown): boolean =>
    Array.isArray(step) && step.every((number) => Number.isSafeInteger(number));
  return typeof code === "string" && Array.isArray(steps) && steps.every(isStep);
}

/** The code as it is. */
export const unchanged = (code: string): Rewrite => ({ code, steps: [] });

/** One more step after those that were made. */
export function thenStep(rewrite: Rewrite, code: string, pieces: readonly number[]): Rewrite {
  return { code, steps: [...rewrite.steps, pieces] };
}

/** Applies edits that do not overlap; those at one place in the order given. */
export function thenEdit(rewrite: Rewrite, edits: readonly Edit[]): Rewrite {
  const sorted = [...edits].sort((a, b) => a.start - b.start);
  const pieces: number[] = [];
  const parts: string[] = [];
  let [from, at] = [0, 0];
  const add = (text: string, origin: number) => {
    pieces.push(at, origin);
    parts.push(text);
    at += text.length;
  };
  for (const { start, end, text } of sorted) {
    if (start > from) add(rewrite.code.slice(from, start), from);
    if (text !== "") add(text, ~start);
    from = end;
  }
  add(rewrite.code.slice(from), from);
  return thenStep(rewrite, parts.join(""), pieces);
}

/** The second rewrite was made of the first one's code. */
export const chained = (first: Rewrite, second: Rewrite): Rewrite => ({
  code: second.code,
  steps: [...first.steps, ...second.steps],
});

/** Where a place of the made code stood in the first text. What was inserted stands where it was inserted. */
export function originOf(steps: Rewrite["steps"], offset: number): number {
  let place = offset;
  for (let index = steps.length - 1; index >= 0; index--) place = stepBack(steps[index] ?? [], place);
  return place;
}

function stepBack(pieces: readonly number[], offset: number): number {
  let low = 0;
  let high = pieces.length / 2 - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((pieces[middle * 2] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  const [at = 0, from = 0, , next = Number.POSITIVE_INFINITY] = pieces.slice(low * 2, low * 2 + 4);
  if (from < 0) return ~from;
  return Math.min(from + Math.max(0, offset - at), next < 0 ? ~next : next);
}
