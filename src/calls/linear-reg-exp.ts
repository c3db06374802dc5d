import { RE2JS } from "re2js";

/** What ajv needs of a regular expression. */
export interface Matcher {
  test(text: string): boolean;
  toString(): string;
}

/**
 * Patterns of schemas in time linear to the text: they come from whoever wrote the tool, the text from a script, and a
 * backtracking engine could be made to hang the host.
 *
 * @throws {Error} for what has no linear form (look-around, back-references).
 */
export const linearRegExp = Object.assign(
  (pattern: string): Matcher => {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
    // ajv keeps expressions by their text: without one of its own, every pattern would be the first one it has seen.
    return { test: (text) => compiled.matcher(text).find(), toString: () => `/${pattern}/` };
  },
  // ajv asks for the source of this function for code that it writes to files, which is never done here.
  { code: "linearRegExp" },
);
