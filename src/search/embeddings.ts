import { messageOf } from "../errors.js";
import type { CatalogIndex } from "./catalog-index.js";
import { MAX_QUERY_CHARACTERS } from "./tokenize.js";

/** Turns texts into vectors of one length, in their order. May be called with one text or many. */
export type Embed = (texts: readonly string[]) => Promise<readonly Float32Array[]>;

/** A document by meaning: its position in the index, and the cosine between it and the question. */
export interface Similar {
  position: number;
  similarity: number;
}

/** Texts handed to the embedder at a time. */
const BATCH_TEXTS = 256;

/** Vectors kept per strategy: 384 dimensions make 1.5 KB each. */
export const MAX_VECTORS = 20_000;

/** Standard deviations above the catalog's mean from which a document counts as near. Cosines of two models do not compare. */
const NEAR_DEVIATIONS = 1;

/** Vectors of tools, made by the user's own model and kept by content. */
export class Embeddings {
  readonly #embed: Embed;
  readonly #vectors = new Map<string, Float32Array>();
  #pending: Promise<unknown> = Promise.resolve();
  #warned = false;

  constructor(embed: Embed) {
    this.#embed = embed;
  }

  /** The documents nearest to the question, nearest first; undefined, and one warning, when the embedder fails. */
  async nearest(query: string, index: CatalogIndex, count: number): Promise<readonly Similar[] | undefined> {
    try {
      const vectors = await this.#vectorsOf(index);
      const [asked] = await this.#call([query.slice(0, MAX_QUERY_CHARACTERS)]);
      return nearestTo(asked ?? new Float32Array(), vectors).slice(0, count);
    } catch (error) {
      this.#warn(error);
      return undefined;
    }
  }

  /** One catalog at a time, so that two searches at once do not embed the same tools twice. */
  #vectorsOf(index: CatalogIndex): Promise<readonly Float32Array[]> {
    const vectors = this.#pending.then(() => this.#embedMissing(index));
    this.#pending = vectors.catch(() => undefined);
    return vectors;
  }

  async #embedMissing({ documents }: CatalogIndex): Promise<readonly Float32Array[]> {
    const missing = [...new Map(documents.map((document) => [document.key, document])).values()].filter(
      ({ key }) => !this.#vectors.has(key),
    );
    for (let from = 0; from < missing.length; from += BATCH_TEXTS) {
      const batch = missing.slice(from, from + BATCH_TEXTS);
      const vectors = await this.#call(batch.map(({ summary }) => summary));
      for (const [at, { key }] of batch.entries()) this.#vectors.set(key, vectors[at] ?? new Float32Array());
    }
    const vectors = documents.map(({ key }) => this.#vectors.get(key) ?? new Float32Array());
    this.#forgetOldest();
    return vectors;
  }

  async #call(texts: readonly string[]): Promise<readonly Float32Array[]> {
    const vectors = await this.#embed(texts);
    if (vectors.length !== texts.length) {
      throw new TypeError(
        `embed() must return one vector for each text: ${texts.length} asked, ${vectors.length} returned`,
      );
    }
    return vectors.map(normalized);
  }

  #forgetOldest(): void {
    for (const key of this.#vectors.keys()) {
      if (this.#vectors.size <= MAX_VECTORS) return;
      this.#vectors.delete(key);
    }
  }

  #warn(error: unknown): void {
    if (this.#warned) return;
    this.#warned = true;
    process.emitWarning(`The embed function of bm25() failed, so search goes by words only: ${messageOf(error)}`, {
      code: "MCP_CODEMODE_EMBED",
    });
  }
}

function normalized(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  if (!Number.isFinite(length)) throw new TypeError("embed() returned a vector that holds NaN or Infinity");
  return length === 0 ? vector : vector.map((value) => value / length);
}

function nearestTo(asked: Float32Array, vectors: readonly Float32Array[]): Similar[] {
  const similarities = vectors.map((vector) => dot(asked, vector));
  const mean = similarities.reduce((sum, value) => sum + value, 0) / (similarities.length || 1);
  const variance = similarities.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (similarities.length || 1);
  const lowest = mean + NEAR_DEVIATIONS * Math.sqrt(variance);
  return similarities
    .map((similarity, position) => ({ position, similarity }))
    .filter(({ similarity }) => similarity > 0 && similarity >= lowest)
    .sort((a, b) => b.similarity - a.similarity || a.position - b.position);
}

function dot(left: Float32Array, right: Float32Array): number {
  if (left.length !== right.length) {
    throw new TypeError(`embed() returned vectors of different lengths: ${left.length} and ${right.length}`);
  }
  let sum = 0;
  for (let at = 0; at < left.length; at++) sum += (left[at] ?? 0) * (right[at] ?? 0);
  return sum;
}
