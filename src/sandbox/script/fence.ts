import type { Edit } from "./rewrite.js";

/** A line that opens or closes a block of code in markdown. */
interface FenceLine {
  /** "`" or "~". */
  mark: string;
  length: number;
  /** The word after it, in lower case. */
  word: string;
  /** Where the line begins and ends (its line break not included). */
  start: number;
  end: number;
}

/** Read by hand: this runs on the host, and a pattern for it takes quadratic time on hostile lines. */
function fenceLine(text: string, start: number, end: number): FenceLine | undefined {
  let at = start;
  while (text[at] === " " || text[at] === "\t") at++;
  const mark = text[at];
  if (mark !== "`" && mark !== "~") return undefined;
  const first = at;
  while (text[at] === mark) at++;
  const length = at - first;
  if (length < 3) return undefined;
  const info = text.slice(at, end).trim();
  if (mark === "`" && info.includes("`")) return undefined;
  return { mark, length, word: (info.split(/[\s{,]/, 1)[0] ?? "").toLowerCase(), start, end };
}

/** A block of code in markdown: the code's own place, and the word of its fence. */
export interface FencedBlock {
  word: string;
  /** Where the line of its opening fence begins. */
  opening: number;
  start: number;
  end: number;
  /** Where the line after its closing fence begins. */
  after: number;
}

/** Said when text around a block was left out. */
export const FENCE_NOTE = "Only the fenced code was run: send the script without text around it.";

/** The blocks of a markdown text in order. */
export function fencedBlocks(text: string): FencedBlock[] {
  const blocks: FencedBlock[] = [];
  let open: FenceLine | undefined;
  for (let start = 0; start <= text.length;) {
    const newline = text.indexOf("\n", start);
    const end = newline < 0 ? text.length : newline;
    const fence = fenceLine(text, start, end);
    if (open === undefined) open = fence;
    else if (fence !== undefined && fence.word === "" && fence.mark === open.mark && fence.length >= open.length) {
      blocks.push(blockFrom(open, Math.max(open.end + 1, start - 1), end + 1));
      open = undefined;
    }
    start = end + 1;
  }
  if (open !== undefined && open.end < text.length) blocks.push(blockFrom(open, text.length, text.length));
  return blocks;
}

const blockFrom = ({ word, start, end: openEnd }: FenceLine, end: number, after: number): FencedBlock => ({
  word,
  opening: start,
  start: openEnd + 1,
  end,
  after,
});

/** Words of fences around scripts. */
const SCRIPT_WORDS: ReadonlySet<string> = new Set(
  "js javascript ts typescript jsx tsx mjs cjs mts cts ecmascript node nodejs".split(" "),
);

/** True for a text that begins with a fence of backticks. Such a text is never a useful script: it calls an empty template. */
export function beginsWithFence(text: string): boolean {
  const at = text.search(/\S/);
  return at >= 0 && text.startsWith("```", at);
}

/** The block that is the script: the only one with a word for it, else the only one without a word. */
export function scriptBlock(text: string): { block: FencedBlock | undefined; scripts: number } {
  const blocks = fencedBlocks(text);
  const named = blocks.filter(({ word }) => SCRIPT_WORDS.has(word));
  const scripts = named.length > 0 ? named : blocks.filter(({ word }) => word === "");
  return { block: scripts.length === 1 ? scripts[0] : undefined, scripts: scripts.length };
}

/** Leaves only the block. */
export const blockEdits = (text: string, { start, end }: { start: number; end: number }): Edit[] => [
  { start: 0, end: start, text: "" },
  { start: end, end: text.length, text: "" },
];

/** A whole text that is one fence on one line: where the code begins and ends. */
export function oneLineFence(text: string): { start: number; end: number } | undefined {
  const trimmed = text.trim();
  if (trimmed.length < 7 || !trimmed.endsWith("```") || trimmed.includes("\n")) return undefined;
  const open = text.indexOf("```") + 3;
  const end = text.lastIndexOf("```");
  const space = text.slice(open, end).search(/[\s\\]/);
  // Its line breaks are two characters each: that is another repair.
  if (space >= 0 && text[open + space] === "\\") return undefined;
  const word = text.slice(open, space < 0 ? open : open + space);
  return { start: SCRIPT_WORDS.has(word.toLowerCase()) ? open + word.length : open, end };
}
