import { type Page, tableRows } from "./markdown.js";

const UNITS: Readonly<Record<string, number>> = { "": 1, KiB: 1024, MiB: 1024 * 1024 };

/** Limits in the tables of a page, with their default in milliseconds, bytes or pieces. */
export function limitRows(of: Page): Map<string, number> {
  const limits = new Map<string, number>();
  for (const [name = "", value = ""] of tableRows(of)) {
    const key = /^`(max\w+|memoryBytes|\w+Ms)`$/.exec(name)?.[1];
    const [, digits, unit = ""] = /^([\d ]+?)(?: (KiB|MiB))?$/.exec(value) ?? [];
    if (key !== undefined && digits !== undefined) {
      limits.set(key, Number(digits.replaceAll(" ", "")) * (UNITS[unit] ?? Number.NaN));
    }
  }
  return limits;
}
