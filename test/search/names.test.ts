import { describe, expect, it } from "vitest";
import type { Tool } from "../../src/catalog/tool.js";
import { MAX_LISTED_NAMES, pickNames } from "../../src/search/names.js";
import { manyTools, tool, TOOLS } from "./tools.js";

const names = (query: string, tools: readonly Tool[] = TOOLS) => {
  const picked = pickNames(query, tools);
  return picked && { found: picked.found.map((each) => each.name), unknown: picked.unknown };
};

describe("pickNames", () => {
  it("picks one exact name", () => {
    expect(names("send_email")).toEqual({ found: ["send_email"], unknown: [] });
  });

  it("picks a list in the order asked for, each tool once", () => {
    expect(names("send_email, create_issue,send_email")?.found).toEqual(["send_email", "create_issue"]);
    expect(names("send_email\ncreate_issue\n")?.found).toEqual(["send_email", "create_issue"]);
  });

  it("ignores quotes, backticks, brackets and list markers", () => {
    for (const query of [
      '`send_email`, "create_issue"',
      "['send_email', 'create_issue']",
      "- send_email\n- create_issue",
    ]) {
      expect(names(query)?.found).toEqual(["send_email", "create_issue"]);
    }
  });

  it("knows other spellings of a name", () => {
    expect(names("sendEmail, CREATE-ISSUE")?.found).toEqual(["send_email", "create_issue"]);
  });

  it("knows a name with and without its server", () => {
    const of = (server: string, name: string) => tool(name, "", {}, { "mcp-codemode/server": server });
    const plain = [of("github", "create_issue"), of("jira", "move_card")];
    for (const query of ["github.create_issue", "github__create_issue", "githubCreateIssue", "create_issue"]) {
      expect(names(query, plain)?.found).toEqual(["create_issue"]);
    }
    const prefixed = [of("github", "github__create_issue"), of("jira", "jira__create_issue")];
    expect(names("jira.create_issue", prefixed)?.found).toEqual(["jira__create_issue"]);
    expect(names("create_issue", prefixed)?.found).toEqual(["github__create_issue", "jira__create_issue"]);
  });

  it("names what is unknown, with what was probably meant", () => {
    expect(names("send_email, create_isue")).toEqual({
      found: ["send_email"],
      unknown: [{ name: "create_isue", nearest: ["create_issue"] }],
    });
  });

  it("leaves questions to the search for words", () => {
    for (const query of [
      "create issue",
      "send an email, then create an issue",
      "invoices",
      "email, issue",
      "",
      " ,\n, ",
      "issue?",
    ]) {
      expect(names(query)).toBeUndefined();
    }
  });

  it("takes a name with blanks or commas only as it is written", () => {
    const tools = [tool("Get Artist"), ...TOOLS];
    expect(names("Get Artist", tools)?.found).toEqual(["Get Artist"]);
    expect(names("get artist", tools)).toBeUndefined();
  });

  it("takes names of built-in properties", () => {
    const tools = [tool("constructor"), tool("__proto__"), tool("toString")];
    expect(names("constructor, __proto__, toString", tools)?.found).toEqual(["constructor", "__proto__", "toString"]);
    expect(names("constructor, hasOwnProperty")).toBeUndefined();
  });

  it("does not take endless lists, and suggests for a few names only", () => {
    const tools = manyTools(9_000);
    expect(pickNames("a,".repeat(50_000), tools)).toBeUndefined();
    expect(
      pickNames(Array.from({ length: MAX_LISTED_NAMES + 1 }, (_, index) => `n${index}`).join(), tools),
    ).toBeUndefined();
    const started = performance.now();
    const unknown = Array.from({ length: MAX_LISTED_NAMES - 1 }, (_, index) => `update_custmer_${index}`);
    const picked = pickNames(["update_customer_0", ...unknown].join(), tools);
    expect(picked?.unknown).toHaveLength(MAX_LISTED_NAMES - 1);
    expect(picked?.unknown[0]?.nearest).toContain("update_customer_0");
    expect(picked?.unknown.at(-1)?.nearest).toEqual([]);
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});
