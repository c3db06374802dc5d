/** A word that was probably meant, and how sure that is (0 to 1). */
export interface NearWord {
  word: string;
  weight: number;
}

/** Shorter words are near to too many others. */
const SHORTEST_PREFIX = 3;
const SHORTEST_TYPO = 4;
const SHORTEST_PART = 3;

/** People rarely mistype the first letter, and a short word with another one is another word ("bake", "take"). */
const SHORTEST_OTHER_INITIAL = 6;

/** Near words of one unknown word: the best ones. */
const MOST_NEAR_WORDS = 5;

/** Words read after the first one with the prefix; a two-letter stem may begin half of a vocabulary. */
const MOST_COMPLETIONS = 200;

const PREFIX_WEIGHT = 0.5;
const TYPO_WEIGHT = 0.45;
const PART_WEIGHT = 0.7;

/** Finds words that an unknown one may stand for: a typo, a beginning, a longer form, two words written as one. */
export class Vocabulary {
  readonly #words: ReadonlySet<string>;
  readonly #sorted: readonly string[];
  /** Words by their first two and by their last two characters: one edit leaves at least one of them alone. */
  readonly #byEnds = new Map<string, string[]>();

  constructor(words: Iterable<string>) {
    this.#words = new Set(words);
    this.#sorted = [...this.#words].sort();
    for (const word of this.#sorted) {
      for (const end of endsOf(word)) {
        const bucket = this.#byEnds.get(end);
        if (bucket) bucket.push(word);
        else this.#byEnds.set(end, [word]);
      }
    }
  }

  /** The words that `word` may stand for, surest first; [] when nothing is near. `word` itself is not known. */
  near(word: string): NearWord[] {
    const found = new Map<string, number>();
    const add = (near: string, weight: number): void => {
      if (weight > (found.get(near) ?? 0)) found.set(near, weight);
    };
    for (const typo of this.oneEditFrom(word)) add(typo, TYPO_WEIGHT);
    for (const longer of this.#completions(word)) add(longer, (PREFIX_WEIGHT * word.length) / longer.length);
    for (const shorter of this.#beginnings(word)) add(shorter, (PREFIX_WEIGHT * shorter.length) / word.length);
    for (const part of this.#parts(word)) add(part, PART_WEIGHT);
    return [...found]
      .map(([near, weight]) => ({ word: near, weight }))
      .sort((a, b) => b.weight - a.weight || (a.word < b.word ? -1 : 1))
      .slice(0, MOST_NEAR_WORDS);
  }

  /** Words at one insertion, deletion, replacement or swap of neighbours. */
  oneEditFrom(word: string): string[] {
    if (word.length < SHORTEST_TYPO) return [];
    const candidates = new Set(endsOf(word).flatMap((end) => this.#byEnds.get(end) ?? []));
    const initial = word.length < SHORTEST_OTHER_INITIAL ? word[0] : undefined;
    return [...candidates].filter(
      (candidate) => (initial === undefined || candidate[0] === initial) && isOneEdit(word, candidate),
    );
  }

  #completions(word: string): string[] {
    if (word.length < SHORTEST_PREFIX) return [];
    const from = firstNotBefore(this.#sorted, word);
    const found = this.#sorted.slice(from, from + MOST_COMPLETIONS).filter((longer) => longer.startsWith(word));
    return found.sort((a, b) => a.length - b.length).slice(0, MOST_NEAR_WORDS);
  }

  #beginnings(word: string): string[] {
    for (let length = word.length - 1; length >= SHORTEST_TYPO; length--) {
      const beginning = word.slice(0, length);
      if (this.#words.has(beginning)) return [beginning];
    }
    return [];
  }

  /** "deepwiki" is "deep" and "wiki", when both are words. */
  #parts(word: string): string[] {
    for (let at = word.length - SHORTEST_PART; at >= SHORTEST_PART; at--) {
      const parts = [word.slice(0, at), word.slice(at)];
      if (parts.every((part) => this.#words.has(part))) return parts;
    }
    return [];
  }
}

const endsOf = (word: string): string[] => [`^${word.slice(0, 2)}`, `${word.slice(-2)}$`];

function firstNotBefore(sorted: readonly string[], word: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? "") < word) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Equal beginnings and endings are skipped; what is left of both decides. */
function isOneEdit(left: string, right: string): boolean {
  if (left === right || Math.abs(left.length - right.length) > 1) return false;
  let start = 0;
  while (start < left.length && left[start] === right[start]) start++;
  let leftEnd = left.length;
  let rightEnd = right.length;
  while (leftEnd > start && rightEnd > start && left[leftEnd - 1] === right[rightEnd - 1]) {
    leftEnd--;
    rightEnd--;
  }
  const leftRest = left.slice(start, leftEnd);
  const rightRest = right.slice(start, rightEnd);
  if (leftRest.length <= 1 && rightRest.length <= 1) return true;
  return leftRest.length === 2 && leftRest === `${rightRest[1]}${rightRest[0]}`;
}
