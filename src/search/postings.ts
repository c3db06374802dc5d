import bm25, { type WinkEngine } from "wink-bm25-text-search";
import type { ToolDocument } from "./documents.js";
import { FIELD_NAMES } from "./fields.js";
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
 * Terms for one engine. `consolidate` is a single synchronous step, about 5 ms for this many, so a larger catalog is
 * dealt out over several engines.
 */
const BLOCK_TERMS = 20_000;

/** What padding documents are made of. No tokenizer makes it. */
const FILLER = "\0";

type WinkFields = Record<keyof typeof WEIGHTS, readonly string[]>;

const NO_TERMS = Object.fromEntries(Object.keys(WEIGHTS).map((field) => [field, []])) as unknown as WinkFields;

/**
 * Scores every term of every document with wink-bm25-text-search. Its scores are read out once, because its own search
 * gives every word of a question the same weight and orders ties by the form of their ids.
 */
export async function buildPostings(documents: readonly ToolDocument[]): Promise<Postings> {
  const slices = startSlices();
  const terms = new Map<string, TermShares>();
  const size = sizeOf(documents);
  const blocks = Math.max(1, Math.ceil(size.terms / BLOCK_TERMS));
  for (let block = 0; block < blocks; block++) {
    const engine = await consolidated(documents, block, blocks, size.length / documents.length, slices);
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

/** Where a term occurs, and its score there before its rarity in the whole catalog counts. */
interface TermShares {
  documents: number[];
  shares: number[];
}

/** Terms of all documents, and their length as wink counts it: terms times the weight of their field. */
function sizeOf(documents: readonly ToolDocument[]): { terms: number; length: number } {
  let terms = 0;
  let length = 0;
  for (const document of documents) {
    for (const field of FIELD_NAMES) terms += document.fields[field].length;
    length += lengthOf(document);
  }
  return { terms, length };
}

function lengthOf({ fields }: ToolDocument): number {
  let length = 0;
  for (const field of FIELD_NAMES) length += fields[field].length * WEIGHTS[field];
  length += Math.max(0, fields.name.length - 1) * WEIGHTS.namePairs;
  return length + Math.max(0, fields.description.length - 1) * WEIGHTS.descriptionPairs;
}

/** An engine that has scored every `step`th document from `first` on, as if it had all of them. */
async function consolidated(
  documents: readonly ToolDocument[],
  first: number,
  step: number,
  averageLength: number,
  slices: Slices,
): Promise<WinkEngine> {
  const engine = bm25();
  engine.defineConfig({ fldWeights: { ...WEIGHTS }, bm25Params: { ...PARAMETERS } });
  engine.definePrepTasks([(terms) => terms]);
  let added = 0;
  let length = 0;
  for (let id = first; id < documents.length; id += step) {
    const document = documents[id];
    if (!document) break;
    engine.addDoc(winkFields(document), id);
    added += 1;
    length += lengthOf(document);
    if (slices.isOver()) await slices.next();
  }
  pad(engine, documents.length, added, length, averageLength);
  await slices.next();
  engine.consolidate(PRECISION);
  await slices.next();
  return engine;
}

/** Adds documents of filler until there are enough of them, with the average length of the whole catalog. */
function pad(engine: WinkEngine, firstId: number, added: number, length: number, averageLength: number): void {
  const wanted = Math.max(FEWEST_DOCUMENTS, added + 1, Math.ceil(length / (averageLength || 1)));
  const missing = (wanted * averageLength - length) / WEIGHTS.description;
  for (let id = 0; id < wanted - added; id++) {
    const filler = id === 0 ? Array.from({ length: Math.round(missing) }, () => FILLER) : [];
    engine.addDoc({ ...NO_TERMS, description: filler }, firstId + id);
  }
}

const winkFields = ({ fields }: ToolDocument): WinkFields => ({
  ...fields,
  namePairs: pairsOf(fields.name),
  descriptionPairs: pairsOf(fields.description),
});

const pairsOf = (terms: readonly string[]): string[] => terms.slice(1).map((term, index) => `${terms[index]} ${term}`);

/** Takes the scores out of one engine. They are divided by its own rarity: the one of the whole catalog replaces it. */
async function readScores(
  engine: WinkEngine,
  documentCount: number,
  terms: Map<string, TermShares>,
  slices: Slices,
): Promise<void> {
  const rarities = engine.getIDF();
  const byIndex: TermShares[] = [];
  for (const [term, index] of Object.entries(engine.getTokens())) {
    if (term === FILLER) continue;
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
