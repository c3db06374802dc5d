import { stemmer } from "stemmer";
import { STOP_WORDS } from "./stop-words.js";

/** Characters of a query that are read; a longer one is cut. Real questions stay far below. */
export const MAX_QUERY_CHARACTERS = 4_000;

/** Distinct terms of a query that are looked up: the first ones, where a question says what it wants. */
export const MAX_QUERY_TERMS = 128;

/** Words longer than this are cut: base64 and hashes would fill the vocabulary with terms nobody asks for. */
const MAX_WORD_CHARACTERS = 48;

/** Stems remembered; words repeat so much that the stemmer is otherwise most of the time of an index. */
const REMEMBERED_STEMS = 50_000;

/**
 * Words that Porter's rules would merge with words of another meaning ("news" and "new", "customer" and "custom",
 * "training" and "train"), and irregular forms the rules do not know.
 */
const STEM_EXCEPTIONS = new Map(
  [
    "news news, maps map, aws aws, dns dns, ios ios, gas gas, bus bus, buses bus, lens lens, sms sms, gps gps, os os",
    "police police, universe universe, general general, generic generic, important important, importance important",
    "marketing marketing, customer customer, customers customer, setting setting, settings setting",
    "meeting meeting, meetings meeting, rating rating, ratings rating, training training, trainings training",
    "organization organization, organizations organization, organisation organization, organisations organization",
    "experiment experiment, experiments experiment, university university, universities university",
    "factory factory, international international, series series, data data, indices index, analyses analysi",
    "ran run, sent send, found find, bought buy, built build, wrote write, written write",
    "children child, people person, men man, women woman",
  ]
    .join(", ")
    .split(", ")
    .map((pair) => pair.split(" ") as [string, string]),
);

const NON_ASCII = /[^\p{ASCII}]/u;
const COMBINING_MARKS = /[\u0300-\u036f]/g;
/** Scripts written without spaces, where pairs of characters stand for words. */
const UNSPACED = "\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Hangul}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}ー";
const ASCII_RUN = /[a-z]+|[0-9]+/g;
const ANY_RUN = new RegExp(`[${UNSPACED}]+|\\p{N}+|(?:(?![${UNSPACED}])[\\p{L}\\p{M}])+`, "gu");
const UNSPACED_START = new RegExp(`^[${UNSPACED}]`, "u");

/**
 * The words of a text in lower case, in order: identifiers of every case style are split, digits part from letters,
 * accents are dropped, and scripts without spaces become pairs of characters.
 *
 * @example
 * wordsOf("getHTTPStatus_v2"); // ["get", "http", "status", "v", "2"]
 * wordsOf("天気予報"); // ["天気", "気予", "予報"]
 */
export function wordsOf(text: string): string[] {
  const plain = text.replace(/['’](?:s|m|re|ve|ll|d|t)\b/gi, " ");
  if (!NON_ASCII.test(plain)) return runsOf(splitAsciiCase(plain), ASCII_RUN);
  const folded = plain.normalize("NFKD").replace(COMBINING_MARKS, "").normalize("NFC");
  return runsOf(splitCase(folded), ANY_RUN).flatMap((run) => (UNSPACED_START.test(run) ? pairsOf(run) : run));
}

const splitAsciiCase = (text: string): string =>
  text.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2");

const splitCase = (text: string): string =>
  text.replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2").replace(/(\p{Lu}+)(\p{Lu}\p{Ll})/gu, "$1 $2");

const runsOf = (text: string, run: RegExp): string[] =>
  (text.toLowerCase().match(run) ?? []).map((word) => word.slice(0, MAX_WORD_CHARACTERS));

function pairsOf(run: string): string[] {
  const characters = Array.from(run);
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

const stems = new Map<string, string>();

/** The stem of a lower-case word: Porter's for English, the word itself for other scripts. */
export function stemOf(word: string): string {
  let stem = stems.get(word);
  if (stem === undefined) {
    stem = STEM_EXCEPTIONS.get(word) ?? (/^[a-z]{3,}$/.test(word) ? stemmer(word) : word);
    if (stems.size >= REMEMBERED_STEMS) stems.clear();
    stems.set(word, stem);
  }
  return stem;
}

/** Stems of a text, function words left out: what descriptions are indexed by. */
export function termsOf(text: string): string[] {
  return wordsOf(text)
    .filter((word) => !STOP_WORDS.has(word))
    .map(stemOf);
}

/** Stems of a name. Every word of a name counts: `what_to_watch` is more than "watch". */
export function nameTermsOf(name: string): string[] {
  return wordsOf(name).map(stemOf);
}

/** A name without case, punctuation and accents: equal for `createIssue`, `create_issue` and "Create Issue". */
export function foldName(name: string): string {
  return wordsOf(name).join("");
}

/** True when a text has something to search for; false for blanks and punctuation. */
export function hasWords(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text.slice(0, MAX_QUERY_CHARACTERS));
}
