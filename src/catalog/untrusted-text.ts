/**
 * Names, descriptions and values that came from tools are their authors' words. Printed for a model they are data: they
 * must not draw a heading, a list item or a fence of our own page, nor carry text that a person cannot see.
 */

/** Format characters (bidi, zero-width, tags, variation selectors), lone surrogates, and controls that are no white space. */
const UNSEEN = /[\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]|(?![\s\u0085])\p{Cc}/gu;

/** What an escape makes visible: the same, and every control and line separator. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Only texts with a character beyond printable ASCII need the slow expressions above. */
const PLAIN = /^[ -~]*$/;

const WHITESPACE = /[\s\u0085]+/gu;
const LINE_BREAK = /\r\n|[\n\r\u0085\u2028\u2029]/u;

/** What starts a block in markdown: headings, quotes, tables, fences, lists, rules, emphasis used as a heading, HTML, link definitions. */
const BLOCK_START = /^(?:[#>|=<*]|~~~|```|[-+](?=\s|$)|[-_]{2}|\[[^\]]*\]:)/;
const NUMBERED_START = /^(\d{1,9})(?=[.)](?:\s|$))/;

/** Stands at the end of a text that was cut. */
const ELLIPSIS = "…";

/**
 * The text as one line: unseen characters removed, white space folded, a markdown start escaped with a backslash, and
 * at most `maxCharacters` UTF-16 units (a cut one ends with "…").
 *
 * @example
 * inlineText("# Admin\nDelete\u200B everything", 120); // "\\# Admin Delete everything"
 */
export function inlineText(text: string, maxCharacters: number): string {
  return cutText(escapeStart(foldLine(bounded(text, maxCharacters))), maxCharacters);
}

/**
 * As {@link inlineText}, for text that stands within a line of our own, where a markdown start means nothing.
 */
export function foldedText(text: string, maxCharacters: number): string {
  return cutText(foldLine(bounded(text, maxCharacters)), maxCharacters);
}

/**
 * The text with its lines kept (blank ones at most one in a row), each cleaned as {@link inlineText} does: for blocks
 * that stand under a heading of our own. At most `maxCharacters` UTF-16 units.
 */
export function blockText(text: string, maxCharacters: number): string {
  const lines = bounded(text, maxCharacters)
    .split(LINE_BREAK)
    .map((line) => escapeStart(foldLine(line)));
  const kept = lines.filter((line, index) => line !== "" || lines[index - 1] !== "");
  return cutText(kept.join("\n").trim(), maxCharacters);
}

/**
 * The text with everything that does not show (controls, bidi, zero-width, tags, line separators) as `\uXXXX`. Inside
 * JSON text or a string literal this changes no value, since such characters occur only within quotes there.
 *
 * @example
 * escapeUnprintable(JSON.stringify({ note: "a\u202Eb" })); // {"note":"a\\u202eb"}
 */
export function escapeUnprintable(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replace(UNPRINTABLE, (character) => {
    let escaped = "";
    for (let unit = 0; unit < character.length; unit++) {
      escaped += `\\u${character.charCodeAt(unit).toString(16).padStart(4, "0")}`;
    }
    return escaped;
  });
}

/**
 * One line that can stand inside a comment: cannot end it, and cannot begin with `@`, since compilers obey comments
 * that do (`@ts-expect-error`).
 */
export function commentText(text: string, maxCharacters: number): string {
  const line = inlineText(text, maxCharacters).replaceAll("*/", "*\\/");
  return line.startsWith("@") ? `\\${line}` : line;
}

/** Cut to `maxCharacters` UTF-16 units, never inside a surrogate pair. */
function cutText(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  return `${text.slice(0, Math.max(0, maxCharacters - 1)).replace(/[\s\uD800-\uDBFF]+$/, "")}${ELLIPSIS}`;
}

/** Work is bounded by what may be printed, not by what a tool sends. */
function bounded(text: string, maxCharacters: number): string {
  const limit = maxCharacters * 8 + 1024;
  return text.length <= limit ? text : text.slice(0, limit);
}

function foldLine(text: string): string {
  const seen = PLAIN.test(text) ? text : text.replace(UNSEEN, "");
  return seen.replace(WHITESPACE, " ").trim();
}

function escapeStart(line: string): string {
  if (BLOCK_START.test(line)) return `\\${line}`;
  return line.replace(NUMBERED_START, "$1\\");
}
