import type { Tool } from "../catalog/tool.js";
import { documentsOf, type ToolDocument } from "./documents.js";
import { buildPostings, type Postings } from "./postings.js";
import { Vocabulary } from "./vocabulary.js";

/** What is known of one catalog content. Never changes: a changed catalog has another index. */
export class CatalogIndex {
  readonly documents: readonly ToolDocument[];
  readonly postings: Postings;
  /** Folded name -> positions of the documents that are called so. */
  readonly names: ReadonlyMap<string, readonly number[]>;
  /** Distinct terms of the name of each document. */
  readonly nameTerms: readonly (readonly string[])[];
  #vocabulary: Vocabulary | undefined;
  #nameVocabulary: Vocabulary | undefined;

  constructor(documents: readonly ToolDocument[], postings: Postings) {
    this.documents = documents;
    this.postings = postings;
    this.names = namesOf(documents);
    this.nameTerms = documents.map(({ fields }) => [...new Set(fields.name)]);
  }

  /** Single terms of all documents. */
  get vocabulary(): Vocabulary {
    this.#vocabulary ??= new Vocabulary([...this.postings.keys()].filter((term) => !term.includes(" ")));
    return this.#vocabulary;
  }

  /** Folded names of all documents. */
  get nameVocabulary(): Vocabulary {
    this.#nameVocabulary ??= new Vocabulary(this.names.keys());
    return this.#nameVocabulary;
  }
}

function namesOf(documents: readonly ToolDocument[]): Map<string, number[]> {
  const names = new Map<string, number[]>();
  for (const [position, { foldedNames }] of documents.entries()) {
    for (const name of foldedNames) {
      const positions = names.get(name);
      if (positions) positions.push(position);
      else names.set(name, [position]);
    }
  }
  return names;
}

/** Documents of all kept indexes together. One document is indexed in about 4 KB, so this is at most about 200 MB. */
export const MAX_INDEXED_DOCUMENTS = 50_000;

/** Kept indexes; callers with catalogs of their own each have one. */
export const MAX_INDEXES = 64;

interface Kept {
  documents: readonly ToolDocument[];
  index: Promise<CatalogIndex>;
}

/** One list for the process, most lately used first: servers with the same tools share an index. */
const kept: Kept[] = [];

/** The index of these tools: built on first need, in slices, and once for the same content. */
export async function indexOf(tools: readonly Tool[]): Promise<CatalogIndex> {
  const documents = await documentsOf(tools);
  const at = kept.findIndex((entry) => sameDocuments(entry.documents, documents));
  const entry = kept.splice(at, at < 0 ? 0 : 1)[0] ?? build(documents);
  kept.unshift(entry);
  forgetBeyondBounds();
  return entry.index;
}

// Comparing the lists costs less than a digest of them would: most differ in length or in their first documents.
const sameDocuments = (left: readonly ToolDocument[], right: readonly ToolDocument[]): boolean =>
  left.length === right.length && left.every((document, index) => document.key === right[index]?.key);

function build(documents: readonly ToolDocument[]): Kept {
  const index = buildPostings(documents).then((postings) => new CatalogIndex(documents, postings));
  const entry = { documents, index };
  index.catch(() => {
    const at = kept.indexOf(entry);
    if (at >= 0) kept.splice(at, 1);
  });
  return entry;
}

function forgetBeyondBounds(): void {
  let documents = 0;
  const beyond = kept.findIndex((entry, index) => {
    documents += entry.documents.length;
    return index > 0 && (index >= MAX_INDEXES || documents > MAX_INDEXED_DOCUMENTS);
  });
  if (beyond > 0) kept.length = beyond;
}
