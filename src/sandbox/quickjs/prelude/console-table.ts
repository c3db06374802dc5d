import { formatLine } from "../../values/format.js";
import { hasOwn, includes, isArray, keysOf, repeat, slice, toText } from "../../values/intrinsics.js";
import { append } from "./define.js";

const MOST_ROWS = 100;
const MOST_COLUMNS = 20;
const MOST_CELL = 60;

/** Rows and columns as lines of text with "|" between the cells; anything that has no rows as `console.log` shows it. */
export function tableText(value: unknown, wanted: unknown, maxLength: number): string {
  if (typeof value !== "object" || value === null) return formatLine([value], 1, maxLength);
  const rows = keysOf(value);
  const columns = isArray(wanted) ? ownTexts(wanted) : columnsOf(value, rows);
  const lines: string[][] = [["(index)"]];
  const header = lines[0] as string[];
  for (let index = 0; index < columns.length; index++) append(header, columns[index] as string);
  const hasValues = !isArray(wanted) && someValue(value, rows);
  if (hasValues) append(header, "Values");
  for (let index = 0; index < rows.length && index < MOST_ROWS; index++)
    append(lines, rowOf(value, rows[index] as string, columns, hasValues));
  const text = aligned(lines);
  return rows.length > MOST_ROWS ? text + "\n... " + (rows.length - MOST_ROWS) + " more rows" : text;
}

const at = (value: object, key: string): unknown => (value as Record<string, unknown>)[key];
const isRow = (row: unknown): row is object => typeof row === "object" && row !== null;

function ownTexts(items: readonly unknown[]): string[] {
  const texts: string[] = [];
  for (let index = 0; index < items.length && index < MOST_COLUMNS; index++) append(texts, toText(items[index]));
  return texts;
}

/** Keys of the rows, in the order they are first met. */
function columnsOf(value: object, rows: readonly string[]): string[] {
  const columns: string[] = [];
  let known = "\0";
  for (let index = 0; index < rows.length && index < MOST_ROWS; index++) {
    const row = at(value, rows[index] as string);
    const keys = isRow(row) ? keysOf(row) : [];
    for (let column = 0; column < keys.length && columns.length < MOST_COLUMNS; column++) {
      const key = keys[column] as string;
      if (includes(known, "\0" + key + "\0")) continue;
      known += key + "\0";
      append(columns, key);
    }
  }
  return columns;
}

function someValue(value: object, rows: readonly string[]): boolean {
  for (let index = 0; index < rows.length && index < MOST_ROWS; index++)
    if (!isRow(at(value, rows[index] as string))) return true;
  return false;
}

function rowOf(value: object, key: string, columns: readonly string[], hasValues: boolean): string[] {
  const row = at(value, key);
  const cells = [key];
  for (let index = 0; index < columns.length; index++) {
    const column = columns[index] as string;
    append(cells, isRow(row) && hasOwn(row, column) ? cell(at(row, column)) : "");
  }
  if (hasValues) append(cells, isRow(row) ? "" : cell(row));
  return cells;
}

/** One line: a text as it is, anything else as it is logged. */
function cell(value: unknown): string {
  const text = formatLine([value], 1, MOST_CELL * 2);
  let line = "";
  for (let index = 0; index < text.length && index < MOST_CELL; index++)
    line += text[index] === "\n" ? " " : (text[index] as string);
  return text.length > MOST_CELL ? slice(line, 0, MOST_CELL - 1) + "…" : line;
}

function aligned(lines: readonly string[][]): string {
  const header = lines[0] as string[];
  let text = "";
  for (let line = 0; line < lines.length; line++) {
    const cells = lines[line] as string[];
    if (line > 0) text += "\n";
    for (let column = 0; column < cells.length; column++) {
      const isLast = column === header.length - 1;
      const width = isLast ? 0 : widthOf(lines, column);
      const shown = cells[column] as string;
      text += (column > 0 ? " | " : "") + shown + repeat(" ", shown.length < width ? width - shown.length : 0);
    }
  }
  return text;
}

function widthOf(lines: readonly string[][], column: number): number {
  let width = 0;
  for (let line = 0; line < lines.length; line++) {
    const { length } = (lines[line] as string[])[column] as string;
    if (length > width) width = length;
  }
  return width;
}
