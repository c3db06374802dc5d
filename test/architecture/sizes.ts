import ts from "typescript";
import type { Sources } from "./rules.js";

/** A file or function and its length in lines. */
export interface Size {
  name: string;
  lines: number;
}

/** Lines of every file. */
export function fileSizes(sources: Sources): Size[] {
  return Array.from(sources, ([name, text]) => ({ name, lines: text.trimEnd().split("\n").length }));
}

/** Lines of every function that has a body, nested ones included in those around them. */
export function functionSizes(sources: Sources): Size[] {
  return Array.from(sources).flatMap(([path, text]) => sizesIn(path, text));
}

function sizesIn(path: string, text: string): Size[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const sizes: Size[] = [];
  const lineAt = (position: number): number => file.getLineAndCharacterOfPosition(position).line;
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && "body" in node && node.body !== undefined) {
      const start = lineAt(node.getStart(file));
      sizes.push({ name: `${path}:${start + 1} ${nameOf(node)}`, lines: lineAt(node.end) - start + 1 });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return sizes;
}

function nameOf(node: ts.SignatureDeclaration): string {
  const named = node.name ?? (ts.isVariableDeclaration(node.parent) ? node.parent.name : undefined);
  return named?.getText() ?? "(anonymous)";
}

/** The length that `share` (0 to 1) of all sizes do not exceed. */
export function percentile(sizes: readonly Size[], share: number): number {
  const sorted = sizes.map(({ lines }) => lines).sort((left, right) => left - right);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}
