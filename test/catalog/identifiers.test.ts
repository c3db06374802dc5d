import { Script } from "node:vm";
import { describe, expect, it } from "vitest";
import {
  identifiersFor,
  isIdentifier,
  memberAccess,
  propertyKey,
  stringLiteral,
} from "../../src/catalog/identifiers.js";
import { HOSTILE_TEXTS } from "./random-schemas.js";

const namesOf = (...names: string[]): Record<string, string> => Object.fromEntries(identifiersFor(names));

describe("identifiers of tools", () => {
  it("names that are identifiers keep themselves, also beside names that are spelt like them", () => {
    expect(namesOf("a-b", "a_b", "a.b", "größe", "constructor", "toString")).toEqual({
      "a-b": "a_b_2",
      a_b: "a_b",
      "a.b": "a_b_3",
      größe: "größe",
      constructor: "constructor",
      toString: "toString",
    });
  });

  it("kebab, dots, slashes, spaces, digits and emoji become an identifier", () => {
    expect(namesOf("list-pages", "admin.tools.list", "user/update", "go now", "-go", "123go", "🔥", "")).toEqual({
      "list-pages": "list_pages",
      "admin.tools.list": "admin_tools_list",
      "user/update": "user_update",
      "go now": "go_now",
      "-go": "_go",
      "123go": "_123go",
      "🔥": "tool_2",
      "": "tool",
    });
  });

  it("reserved words and globals a script needs are never shadowed", () => {
    const names = ["delete", "await", "class", "console", "Promise", "JSON", "call_tool", "tools", "undefined", "then"];
    const identifiers = [...identifiersFor([...names, "__proto__", "eval", "sleep"]).values()];
    expect(identifiers).toEqual([...names, "__proto__", "eval", "sleep"].map((name) => `${name}_`));
  });

  it("names of members that every object has are looked up safely", () => {
    const identifiers = identifiersFor(["__proto__", "constructor", "hasOwnProperty"]);
    expect(identifiers.get("__proto__")).toBe("__proto___");
    expect(identifiers.get("valueOf")).toBeUndefined();
  });

  it("the order of registration does not matter", () => {
    const names = ["x-y", "x.y", "x y", "x/y", "x_y_2", "delete", "delete_"];
    const forward = identifiersFor(names);
    const backward = identifiersFor([...names].reverse());
    for (const name of names) expect(backward.get(name)).toBe(forward.get(name));
    expect(new Set(forward.values()).size).toBe(names.length);
  });

  it("ten thousand names that are spelt alike get different identifiers, in time", () => {
    const names = Array.from({ length: 10_000 }, (_, index) => `${"-".repeat(index % 100)}${"p".repeat(90)}/${index}`);
    const started = performance.now();
    const identifiers = [...identifiersFor(names).values()];
    expect(performance.now() - started).toBeLessThan(2_000);
    expect(new Set(identifiers).size).toBe(names.length);
    expect(identifiers.every((identifier) => identifier.length <= 64 && isIdentifier(identifier))).toBe(true);
  });

  it("whatever a name is made of, the identifier is one", () => {
    const names = [...HOSTILE_TEXTS, "\u3164", "a\u200Db", "𠮷".repeat(80), "\u{1D4B3}", "ﬁ"];
    const identifiers = [...identifiersFor(names).values()];
    for (const identifier of identifiers) {
      expect([identifier, isIdentifier(identifier)]).toEqual([identifier, true]);
      expect(() => new Script(`"use strict"; const ${identifier} = 1; ({ x: ${identifier} }).x;`)).not.toThrow();
    }
    expect(new Set(identifiers).size).toBe(names.length);
  });
});

describe("names in code", () => {
  it("reserved words and letters that do not show are no identifiers", () => {
    expect(["create_issue", "$", "_", "größe", "数"].map(isIdentifier)).toEqual([true, true, true, true, true]);
    expect(["", "a-b", "1a", "delete", "await", "a b", "\u3164", "a\u200Db"].some(isIdentifier)).toBe(false);
  });

  it("keys and members are quoted where the grammar asks for it", () => {
    expect(propertyKey("class")).toBe("class");
    expect(propertyKey("x-y")).toBe('"x-y"');
    expect(propertyKey("__proto__")).toBe('"__proto__"');
    expect(memberAccess("tools", "delete")).toBe("tools.delete");
    expect(memberAccess("row", 'due "date"')).toBe('row["due \\"date\\""]');
  });

  it("string literals read back as the same text, on one line, without the end of a comment", () => {
    for (const text of HOSTILE_TEXTS) {
      const literal = stringLiteral(text);
      expect(literal).toMatch(/^[^\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]*$/u);
      expect(literal).not.toContain("*/");
      expect(JSON.parse(literal)).toBe(text);
    }
  });
});
