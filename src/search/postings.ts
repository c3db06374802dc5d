import bm25, { type WinkEngine } from "wink-bm25-text-search";
import type { ToolDocument } from "./documents.js";
import { startSlices, type Slices } from "./slices.js";

/** Where one term occurs, and how much it says there. */
export interface Posting {
  /** Positions in the list of documents. */
  readonly documents: Uint32Array;
  /** BM25 of this term in each of them. */
  readonly scores: Float32Array;
  /** Inverse document frequency: how rare the term is. Always above 0. */
  readonly rarity: number;
}

/** Every term of a catalog. Two terms with a space between are neighbours in a name or description. */
export type Postings = ReadonlyMap<string, Posting>;

/** Weight of a term by where it stands. Tuned on one half of the queries of a public benchmark, reported on the other. */
const WEIGHTS = {
  name: 4,
  aliases: 4,
  server: 2,
  title: 2,
  description: 1,
  parameterNames: 1,
  parameterDocs: 0.5,
  enumValues: 0.6,
  tags: 0.5,
  namePairs: 2,
  descriptionPairs: 0.5,
};

/** Saturation and length normalisation. k1 is high because weights multiply the counts it saturates. */
const PARAMETERS = { k1: 3, b: 0.4, k: 1 };

/** Decimals of the scores that wink rounds to; its default of 4 makes ties of long tools. */
const PRECISION = 9;

/** `consolidate` throws below three documents. */
const FEWEST_DOCUMENTS = 3;

/**
 * Documents for one engine. `consolidate` is a single synchronous step, about 20 ms for this many; a larger catalog is
 * dealt out over several engines, one document to each in turn, so that their average lengths agree.
 */
const BLOCK_DOCUMENTS = 500;

const EMPTY: Record<string, readonly string[]> = Object.fromEntries(Object.keys(WEIGHTS).map((field) => [field, []]));

/**
 * Scores every term of every document with wink-bm25-text-search. Its scores are read out once, because its own search
 * gives every word of a question the same weight and orders ties by the form of their ids.
 */
export async function buildPostings(documents: readonly ToolDocument[]): Promise<Postings> {
  const slices = startSlices();
  const terms = new Map<string, { documents: number[]; shares: number[] }>();
  const blocks = Math.ceil(documents.length / BLOCK_DOCUMENTS);
  for (let block = 0; block < blocks; block++) {
    const engine = await consolidated(documents, block, blocks, slices);
    await readScores(engine, documents.length, terms, slices);
  }
  const postings = new Map<string, Posting>();
  for (const [term, { documents: found, shares }] of terms) {
    const rarity = Math.log(1 + (documents.length - found.length + 0.5) / (found.length + 0.5));
    postings.set(term, {
      documents: Uint32Array.from(found),
      scores: Float32Array.from(shares, (share) => share * rarity),
      rarity,
    });
    if (slices.isOver()) await slices.next();
  }
  return postings;
}

async function consolidated(
  documents: readonly ToolDocument[],
  first: number,
  step: number,
  slices: Slices,
): Promise<WinkEngine> {
  const engine = bm25();
  engine.defineConfig({ fldWeights: { ...WEIGHTS }, bm25Params: { ...PARAMETERS } });
  engine.definePrepTasks([(terms) => terms]);
  let added = 0;
  for (let id = first; id < documents.length; id += step) {
    const document = documents[id];
    if (document) engine.addDoc(winkFields(document), id);
    added += 1;
    if (slices.isOver()) await slices.next();
  }
  for (; added < FEWEST_DOCUMENTS; added++) engine.addDoc(EMPTY, documents.length + added);
  await slices.next();
  engine.consolidate(PRECISION);
  await slices.next();
  return engine;
}

const winkFields = ({ fields }: ToolDocument): Record<string, readonly string[]> => ({
  ...fields,
  namePairs: pairsOf(fields.name),
  descriptionPairs: pairsOf(fields.description),
});

const pairsOf = (terms: readonly string[]): string[] =>
  terms.slice(1).map((term, index) => `${terms[index]} ${term}`);

/** Takes the scores out of one engine. They are divided by its own rarity: the one of the whole catalog replaces it. */
async function readScores(
  engine: WinkEngine,
  documentCount: number,
  terms: Map<string, { documents: number[]; shares: number[] }>,
  slices: Slices,
): Promise<void> {
  const rarities = engine.getIDF();
  const byIndex: { documents: number[]; shares: number[] }[] = [];
  for (const [term, index] of Object.entries(engine.getTokens())) {
    let entry = terms.get(term);
    if (!entry) terms.set(term, (entry = { documents: [], shares: [] }));
    byIndex[index] = entry;
  }
  for (const [id, { freq }] of Object.entries(engine.getDocs())) {
    if (Number(id) >= documentCount) continue;
    for (const index of Object.keys(freq)) {
      const entry = byIndex[Number(index)];
      entry?.documents.push(Number(id));
      entry?.shares.push((freq[index] ?? 0) / (rarities[Number(index)] ?? 1));
    }
    if (slices.isOver()) await slices.next();
  }
}
