import { readdirSync, readFileSync } from "node:fs";
import ts from "typescript";
import { describe, expect, it } from "vitest";

// Code that runs inside the guest, next to scripts that may have replaced every method of every prototype.
const root = new URL("../../src/sandbox/", import.meta.url);
const files = [
  ...readdirSync(new URL("quickjs/prelude/", root))
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".d.ts"))
    .map((name) => `quickjs/prelude/${name}`),
  ...["encode", "encoded-value", "decode", "format", "base64"].map((name) => `values/${name}.ts`),
];

// values/intrinsics.ts is not among them: it is what runs first, while the language is as it was.

/** Places where a script's changes could be met: iterators, and methods or constructors looked up when they are used. */
function weakPlaces(source: string): string[] {
  const file = ts.createSourceFile("guest.ts", source, ts.ScriptTarget.Latest, true);
  const imported = new Set<string>();
  const local = new Set<string>();
  const found: string[] = [];
  const report = (node: ts.Node, what: string) =>
    found.push(
      `${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}: ${what}: ${node.getText().slice(0, 60)}`,
    );
  const collect = (node: ts.Node): void => {
    if (ts.isImportSpecifier(node)) imported.add(node.name.text);
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name)) local.add(node.name.text);
    if ((ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node)) && node.name) local.add(node.name.text);
    ts.forEachChild(node, collect);
  };
  const visit = (node: ts.Node, inFunction: boolean): void => {
    if (ts.isForOfStatement(node) || ts.isForInStatement(node)) report(node, "iterates");
    if (ts.isSpreadElement(node) || ts.isSpreadAssignment(node)) report(node, "spreads");
    // QuickJS joins the parts of a template with String.prototype.concat.
    if (ts.isTemplateExpression(node)) report(node, "fills a template");
    if (ts.isArrayBindingPattern(node)) report(node, "takes an array apart");
    // What runs while the prelude is loaded meets the language as it is.
    if (
      inFunction &&
      ts.isNewExpression(node) &&
      !imported.has(node.expression.getText()) &&
      !local.has(node.expression.getText())
    )
      report(node, "constructs a global");
    if (inFunction && ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
      const allowed = /^(call|open)\.(resolve|reject)$|^first\.run$|^super\./.test(node.expression.getText());
      if (!allowed) report(node, "calls through a property");
    }
    const enters = ts.isFunctionLike(node);
    ts.forEachChild(node, (child) => visit(child, inFunction || enters));
  };
  collect(file);
  visit(file, false);
  return found;
}

describe("code in the guest", () => {
  it.each(files)("%s uses nothing that a script can replace", (name) => {
    expect(weakPlaces(readFileSync(new URL(name, root), "utf8"))).toEqual([]);
  });

  it("is checked by a check that finds such places", () => {
    const weak =
      "function f(a: string[]) { for (const x of a) x.trim(); const [y] = a; return new Map([...a, `${y}`]); }";
    expect(weakPlaces(weak).map((place) => place.split(": ")[1])).toEqual([
      "iterates",
      "calls through a property",
      "takes an array apart",
      "constructs a global",
      "spreads",
      "fills a template",
    ]);
  });
});
