/** Bytes of UTF-8 for each token, about: between English prose (4.5) and JSON with many quotes (3). */
const BYTES_PER_TOKEN = 3.5;

/** Tokens of a text, estimated: no tokenizer is loaded at run time. */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}
