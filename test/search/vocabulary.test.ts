import { describe, expect, it } from "vitest";
import { Vocabulary } from "../../src/search/vocabulary.js";

const vocabulary = new Vocabulary([
  "symbol",
  "symbolic",
  "invoic",
  "recipi",
  "deep",
  "wiki",
  "take",
  "constructor",
  "issu",
]);
const near = (word: string): string[] => vocabulary.near(word).map((each) => each.word);

describe("Vocabulary", () => {
  it("finds words one edit away: a letter more, less, another one, two swapped", () => {
    for (const typo of ["symbool", "symbl", "symbil", "sybmol"]) expect(near(typo)).toContain("symbol");
    expect(near("smybl")).not.toContain("symbol");
  });

  it("finds longer forms and beginnings of a word", () => {
    expect(near("recip")).toEqual(["recipi"]);
    expect(near("symbols")).toContain("symbol");
    expect(near("symb")).toEqual(["symbol", "symbolic"]);
  });

  it("finds two words written as one", () => {
    expect(near("deepwiki")).toEqual(["deep", "wiki"]);
  });

  it("does not take a short word for one with another first letter", () => {
    expect(near("bake")).toEqual([]);
    expect(near("zecipi")).toEqual(["recipi"]);
  });

  it("finds nothing near to strange words", () => {
    for (const word of ["xylophon", "__proto__", "a", "", "zz"]) expect(near(word)).toEqual([]);
    expect(near("constructr")).toEqual(["constructor"]);
  });
});
