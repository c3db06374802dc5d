import { describe, expect, it } from "vitest";
import { foldName, hasWords, nameTermsOf, stemOf, termsOf, wordsOf } from "../../src/search/tokenize.js";

describe("wordsOf", () => {
  it.each([
    ["createIssueComment", ["create", "issue", "comment"]],
    ["getHTTPStatus_v2", ["get", "http", "status", "v", "2"]],
    ["kebab-case.and/slashes", ["kebab", "case", "and", "slashes"]],
    ["k8s S3 utf8", ["k", "8", "s", "s", "3", "utf", "8"]],
    ["What's the user’s name", ["what", "the", "user", "name"]],
    ["Ｆｕｌｌ ｗｉｄｔｈ ﬁle", ["full", "width", "file"]],
    ["Größe façade", ["große", "facade"]],
    ["天気予報", ["天気", "気予", "予報"]],
    ["查询12306余票abc", ["查询", "12306", "余票", "abc"]],
    ["портфельКлиента", ["портфель", "клиента"]],
    ["ग्राहक", ["ग्राहक"]],
    ["", []],
    ["?! …", []],
  ])("splits %j", (text, words) => {
    expect(wordsOf(text)).toEqual(words);
  });

  it("cuts words that nobody asks for", () => {
    expect(wordsOf("x".repeat(10_000))[0]).toHaveLength(48);
  });
});

describe("stems", () => {
  it("are equal for forms of a word, and differ for other words", () => {
    expect(termsOf("invoices listing created")).toEqual(termsOf("invoice lists create"));
    for (const [one, other] of [
      ["news", "new"],
      ["customer", "custom"],
      ["training", "train"],
      ["police", "policy"],
    ]) {
      expect(stemOf(one ?? "")).not.toBe(stemOf(other ?? ""));
    }
  });

  it("leave function words out of texts, not out of names", () => {
    expect(termsOf("what to watch")).toEqual(["watch"]);
    expect(nameTermsOf("what_to_watch")).toEqual(["what", "to", "watch"]);
  });
});

describe("foldName", () => {
  it("is equal for all spellings of a name", () => {
    const spellings = ["createIssue", "create_issue", "CREATE-ISSUE", "Create Issue", "create.issue"];
    expect(new Set(spellings.map(foldName))).toEqual(new Set(["createissue"]));
  });
});

describe("hasWords", () => {
  it("is false for blanks and punctuation", () => {
    expect(["", " ", "???", "---", "\n"].map(hasWords)).toEqual([false, false, false, false, false]);
    expect(["a", "7", "票", "й"].map(hasWords)).toEqual([true, true, true, true]);
  });
});
