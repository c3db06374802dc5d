import { describe, expect, it } from "vitest";
import { blockText, commentText, escapeUnprintable, inlineText } from "../../src/catalog/untrusted-text.js";

describe("text of tools as one line", () => {
  it("ordinary text stays as it is", () => {
    expect(inlineText("Creates an issue (or #2 of it), 100% - safely.", 120)).toBe(
      "Creates an issue (or #2 of it), 100% - safely.",
    );
    expect(inlineText("Größe: 数 — naïve “quotes” 🔥", 120)).toBe("Größe: 数 — naïve “quotes” 🔥");
  });

  it("bidi, zero-width, tag and control characters are removed", () => {
    expect(inlineText("a\u202Eb\u2066c\u200Bd\uFEFFe\u{E0041}f\u00ADg\u0000h\u007Fi\uFE0Fj\u{E0101}k", 120)).toBe(
      "abcdefghijk",
    );
    expect(inlineText("lone \uD800 surrogate", 120)).toBe("lone surrogate");
  });

  it("every kind of white space is folded", () => {
    expect(inlineText("  a\r\nb\tc\u2028d\u2029e\u00A0f\u0085g  ", 120)).toBe("a b c d e f g");
  });

  it.each([
    ["# heading", "\\# heading"],
    ["- item", "\\- item"],
    ["* item", "\\* item"],
    ["**Parameters**", "\\**Parameters**"],
    ["> quote", "\\> quote"],
    ["```js", "\\```js"],
    ["~~~", "\\~~~"],
    ["---", "\\---"],
    ["===", "\\==="],
    ["| a | b |", "\\| a | b |"],
    ["<system>", "\\<system>"],
    ["1. first", "1\\. first"],
    ["[x]: http://a", "\\[x]: http://a"],
    ["\u200B# hidden start", "\\# hidden start"],
  ])("a markdown start is escaped: %j", (text, escaped) => {
    expect(inlineText(text, 120)).toBe(escaped);
  });

  it("is never longer than asked, and ends with a mark when it was cut", () => {
    const cut = inlineText(`${"word ".repeat(100)}`, 20);
    expect(cut.length).toBeLessThanOrEqual(20);
    expect(cut).toMatch(/…$/);
    expect(inlineText("🔥".repeat(50), 20)).toMatch(/^(?:🔥)+…$/u);
    expect(inlineText("12345", 5)).toBe("12345");
  });

  it("a text of ten million characters costs no time", () => {
    const started = performance.now();
    inlineText(" \u200B".repeat(5_000_000), 120);
    expect(performance.now() - started).toBeLessThan(100);
  });
});

describe("text of tools elsewhere", () => {
  it("a block keeps its lines, and none of them starts anything", () => {
    expect(blockText("First.\r\n\n\n### name\n- `x` (string)\n    code\n", 200)).toBe(
      "First.\n\n\\### name\n\\- `x` (string)\ncode",
    );
  });

  it("a comment cannot be ended, and gives no orders to a compiler", () => {
    expect(commentText("ends */ here", 120)).toBe("ends *\\/ here");
    expect(commentText("@ts-expect-error", 120)).toBe("\\@ts-expect-error");
    expect(commentText("*\u200B/", 120)).not.toContain("*/");
  });

  it("escaping what does not show changes no value of JSON text", () => {
    const value = { "k\u202E": "a\u2028b\u200Bc\u{E0041}\u0007", plain: "数🔥" };
    const text = escapeUnprintable(JSON.stringify(value));
    expect(text).toMatch(/^[^\p{Cc}\p{Cf}\u2028]*$/u);
    expect(JSON.parse(text)).toEqual(value);
  });
});
