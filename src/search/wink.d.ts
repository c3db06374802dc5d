/** The part of wink-bm25-text-search 3.1 that is used; the package ships no types. */
declare module "wink-bm25-text-search" {
  /** What `consolidate` left of one document. */
  export interface WinkDocument {
    /** Token index -> score of that token in this document. */
    freq: { [tokenIndex: string]: number };
  }

  export interface WinkEngine {
    defineConfig(config: {
      fldWeights: Record<string, number>;
      bm25Params?: { k1?: number; b?: number; k?: number };
    }): boolean;
    /** The functions that turn the value of a field into tokens. Without any, single characters are indexed. */
    definePrepTasks(tasks: readonly ((field: never) => readonly string[])[]): number;
    /** Throws after registering `id` when a weighted field is undefined. */
    addDoc(fields: Record<string, readonly string[]>, id: number): number;
    /** Once only, from 3 documents on. `precision`: decimals of scores, 4 to 9. */
    consolidate(precision?: number): boolean;
    getDocs(): { [id: string]: WinkDocument };
    getTokens(): { [token: string]: number };
    getIDF(): number[];
  }

  export default function bm25(): WinkEngine;
}
