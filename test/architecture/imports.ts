import { dirname, posix } from "node:path";
import ts from "typescript";

/** One import of a file, in any form. */
export interface Import {
  /** As written; undefined for a dynamic import of something other than a text. */
  specifier: string | undefined;
  /** Erased by the compiler: `import type`, `export type`, `import("x").T`. */
  typeOnly: boolean;
  line: number;
}

/** Every import of a source text: static, type, dynamic, side-effect, re-export, `require` and import types. */
export function importsOf(path: string, text: string): Import[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found: Import[] = [];
  const add = (node: ts.Node, target: ts.Node | undefined, typeOnly: boolean): void => {
    const specifier = target !== undefined && ts.isStringLiteralLike(target) ? target.text : undefined;
    found.push({ specifier, typeOnly, line: file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1 });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add(node, node.moduleSpecifier, isTypeOnly(node.importClause));
    else if (ts.isExportDeclaration(node) && node.moduleSpecifier) add(node, node.moduleSpecifier, node.isTypeOnly);
    else if (ts.isImportTypeNode(node)) add(node, literalOf(node.argument), true);
    else if (ts.isExternalModuleReference(node)) add(node, node.expression, false);
    else if (ts.isCallExpression(node) && isImporter(node.expression)) add(node, node.arguments[0], false);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** `import type ...`, or every name of it marked `type`. */
function isTypeOnly(clause: ts.ImportClause | undefined): boolean {
  if (clause === undefined) return false;
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const names = clause.namedBindings;
  if (clause.name !== undefined || names === undefined || !ts.isNamedImports(names)) return false;
  return names.elements.length > 0 && names.elements.every((element) => element.isTypeOnly);
}

const literalOf = (node: ts.TypeNode): ts.Node | undefined => (ts.isLiteralTypeNode(node) ? node.literal : undefined);

const isImporter = (callee: ts.Expression): boolean =>
  callee.kind === ts.SyntaxKind.ImportKeyword || (ts.isIdentifier(callee) && callee.text === "require");

/** The file of `src` that a relative import means: `./x.js` is `x.ts`, a `?query` is left out. Undefined for packages. */
export function resolveImport(from: string, specifier: string): string | undefined {
  if (!specifier.startsWith(".")) return undefined;
  const [path = ""] = specifier.split("?");
  return posix.join(dirname(from), path.replace(/\.js$/, ".ts"));
}
