import { RE2JS } from "re2js";
import type { Tool } from "../catalog/tool.js";
import { messageOf, ValidationError } from "../errors.js";
import { fieldsOf } from "./fields.js";
import { startSlices } from "./slices.js";
import type { SearchHit, SearchStrategy } from "./strategy.js";

/** Longest pattern. */
export const MAX_PATTERN_CHARACTERS = 1_000;

/**
 * Instructions of a compiled pattern. Matching takes time proportional to this times the text, so counted repetitions
 * in one another (`((a?){30}){30}`) are refused: ordinary patterns stay below 50.
 */
export const MAX_PATTERN_INSTRUCTIONS = 500;

/** How much a match in a field says. */
const FIELD_SCORES = { name: 8, parameterNames: 4, description: 2, parameterDocs: 1 } as const;

/**
 * Finds tools by a regular expression over name, description, parameter names and parameter descriptions, without
 * regard to case. `^` and `$` match at each name and line. RE2 syntax: alternation, classes, repetition; no look-around
 * and no back-references, so no pattern can take longer than a text is long. Matches in names come first.
 *
 * @throws {ValidationError} from `search`, for a pattern that is invalid or too large; the message names the fault.
 *
 * @example
 * const hits = await regex().search({ query: "^(create|update)_.*issue", limit: 10 }, tools);
 */
export function regex(): SearchStrategy {
  return {
    name: "regex",
    async search({ query, limit }, tools) {
      const pattern = compile(query);
      const slices = startSlices();
      const hits = new Map<string, SearchHit>();
      for (const tool of tools) {
        const score = scoreOf(tool, pattern);
        if (score > 0) hits.set(tool.name, { name: tool.name, score });
        if (slices.isOver()) await slices.next();
      }
      return [...hits.values()].sort(byScoreAndName).slice(0, limit);
    },
  };
}

function compile(query: string): RE2JS {
  if (query.length > MAX_PATTERN_CHARACTERS) {
    throw new ValidationError(
      `The search pattern has ${query.length} characters; at most ${MAX_PATTERN_CHARACTERS} are allowed. Search for fewer alternatives at a time.`,
    );
  }
  const pattern = parse(query);
  if (pattern.programSize() > MAX_PATTERN_INSTRUCTIONS) {
    throw new ValidationError(
      `The search pattern ${JSON.stringify(query)} is too large once its repetitions are written out (${pattern.programSize()} steps, at most ${MAX_PATTERN_INSTRUCTIONS}). Use smaller counts in {n}, or * and +.`,
    );
  }
  return pattern;
}

function parse(query: string): RE2JS {
  try {
    return RE2JS.compile(query, RE2JS.CASE_INSENSITIVE | RE2JS.MULTILINE);
  } catch (error) {
    const fault = messageOf(error)
      .replace(/^error parsing regexp: /, "")
      .replace(/: `.*`$/s, "");
    throw new ValidationError(
      `The search pattern ${JSON.stringify(query)} is not a valid regular expression: ${fault}. ` +
        "Put \\ before a character that is meant literally; look-around and back-references are not supported.",
      { cause: error, details: { pattern: query, fault } },
    );
  }
}

function scoreOf(tool: Tool, pattern: RE2JS): number {
  const fields = { ...fieldsOf(tool), name: tool.name.slice(0, MAX_PATTERN_CHARACTERS) };
  let score = 0;
  for (const [field, worth] of Object.entries(FIELD_SCORES) as [keyof typeof FIELD_SCORES, number][]) {
    if (fields[field] && pattern.matcher(fields[field]).find()) score += worth;
  }
  return score;
}

const byScoreAndName = (a: SearchHit, b: SearchHit): number => b.score - a.score || (a.name < b.name ? -1 : 1);
