import { indexOf, type CatalogIndex } from "./catalog-index.js";
import { Embeddings, type Embed, type Similar } from "./embeddings.js";
import { rank, type Ranked } from "./ranking.js";
import type { SearchHit, SearchStrategy } from "./strategy.js";
import { hasWords } from "./tokenize.js";

/** Options of {@link bm25}. */
export interface Bm25Options {
  /**
   * A model of yours that turns texts into vectors. Its ranking is fused with the one by words. It is called once for
   * each new tool content and once for each question; when it fails, search goes by words only and the process gets one
   * warning with the code `MCP_CODEMODE_EMBED`.
   *
   * @default none: by words only
   */
  embed?: Embed;
}

/** Hits of each ranking that are fused. */
const FUSED_HITS = 100;

/** Rank at which a hit counts half as much as the first, as is usual in reciprocal rank fusion. */
const FUSION_RANK = 60;

/** Scores from here on say that a tool was named: fusion must not move it. */
const NAMED_SCORE = 500;

/**
 * Finds tools by words: exact and misspelt names first, then BM25 over name, server, title, description, parameters
 * (nested ones too), enum values, tags and aliases, raised by related words and by how much of the name was said.
 * Returns [] when nothing fits. Indexes are made on first need, in slices of a few milliseconds, and shared by all
 * servers of the process that have the same tools.
 *
 * @example
 * const strategy = bm25();
 * const hits = await strategy.search({ query: "open a ticket", limit: 5 }, tools); // [{ name: "create_issue", score: 7.3 }]
 */
export function bm25(options: Bm25Options = {}): SearchStrategy {
  const embeddings = options.embed && new Embeddings(options.embed);
  return {
    name: "bm25",
    async index(tools) {
      await indexOf(tools);
    },
    async search({ query, limit }, tools) {
      if (tools.length === 0 || !hasWords(query)) return [];
      const index = await indexOf(tools);
      const byWords = rank(query, index);
      const byMeaning = await embeddings?.nearest(query, index, FUSED_HITS);
      return hitsOf(byMeaning ? fuse(byWords, byMeaning) : byWords, index, limit);
    },
  };
}

/** Reciprocal rank fusion: the scores of the two do not compare, their orders do. Named tools stay in front. */
function fuse(byWords: readonly Ranked[], byMeaning: readonly Similar[]): Ranked[] {
  const scores = new Map<number, number>();
  const add = (position: number, score: number): void => void scores.set(position, (scores.get(position) ?? 0) + score);
  for (const [at, { position, score }] of byWords.slice(0, FUSED_HITS).entries()) {
    add(position, 1 / (FUSION_RANK + at) + (score >= NAMED_SCORE ? score : 0));
  }
  for (const [at, { position }] of byMeaning.entries()) add(position, 1 / (FUSION_RANK + at));
  return [...scores].map(([position, score]) => ({ position, score })).sort((a, b) => b.score - a.score);
}

/** The first hits, each name once. */
function hitsOf(ranked: readonly Ranked[], index: CatalogIndex, limit: number): SearchHit[] {
  const hits = new Map<string, SearchHit>();
  for (const { position, score } of ranked) {
    if (hits.size >= limit) break;
    const name = index.documents[position]?.name;
    if (name !== undefined && !hits.has(name)) hits.set(name, { name, score });
  }
  return [...hits.values()];
}
