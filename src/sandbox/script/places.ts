/** A place in a text: both count from 1. Lines end in "\n" alone, as for the engine; columns are UTF-16 units, as in editors. */
export interface Place {
  line: number;
  column: number;
}

/** The offset of a place whose column counts characters (code points), as the engine gives it. */
export function offsetOf(code: string, line: number, column: number): number {
  let start = 0;
  for (let passed = 1; passed < line; passed++) {
    const next = code.indexOf("\n", start);
    if (next < 0) break;
    start = next + 1;
  }
  let offset = start;
  for (let passed = 1; passed < column && offset < code.length && code[offset] !== "\n"; passed++) {
    offset += (code.codePointAt(offset) ?? 0) > 0xffff ? 2 : 1;
  }
  return offset;
}

/** The place of an offset. */
export function placeOf(code: string, offset: number): Place {
  const most = Math.min(offset, code.length);
  let line = 1;
  let start = 0;
  for (let at = code.indexOf("\n"); at >= 0 && at < most; at = code.indexOf("\n", at + 1)) {
    line++;
    start = at + 1;
  }
  return { line, column: most - start + 1 };
}

const CONTEXT_LINES = 2;
/** Longest part of a line that is shown: minified code stays readable. */
const FRAME_WIDTH = 120;

/** Numbered lines around a place, with a caret under it. */
export function codeFrame(code: string, { line, column }: Place): string {
  const lines = code.split("\n");
  const first = Math.max(1, line - CONTEXT_LINES);
  const last = Math.min(lines.length, line + 1);
  const width = String(last).length;
  // A long line is shown from where its place comes into view.
  const start = Math.max(0, column - 1 - (FRAME_WIDTH - 20));
  const shown: string[] = [];
  for (let number = first; number <= last; number++) {
    const from = number === line ? start : 0;
    const text = printable((lines[number - 1] ?? "").slice(from, from + FRAME_WIDTH));
    shown.push(`${number === line ? ">" : " "} ${String(number).padStart(width)} | ${text}`.trimEnd());
    if (number === line) shown.push(`  ${" ".repeat(width)} | ${" ".repeat(Math.max(0, column - 1 - start))}^`);
  }
  return shown.join("\n");
}

/** Tabs and everything that moves the cursor take one column each. */
const printable = (text: string): string => text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, " ");
