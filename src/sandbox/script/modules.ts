import type { ExportDefaultDeclaration, ExportNamedDeclaration, ImportDeclaration, Program } from "acorn";
import { firstCodeAt } from "./blank.js";
import type { Edit } from "./rewrite.js";
import { namesIn } from "./syntax-tree.js";

/** A module as a script. */
export interface ScriptedModule {
  edits: Edit[];
  notes: string[];
}

type TopLevel = Program["body"][number];

/**
 * Turns `import` and `export` into what a script can hold, line by line: a static import becomes a dynamic one, which
 * fails with the name of the module if there is none; one that nothing uses is left out, as types are. `export default x` becomes the
 * script's value.
 */
export function scriptOfModule(code: string, program: Program): ScriptedModule {
  const edits: Edit[] = [];
  const unused: string[] = [];
  const used = namesIn(program.body.filter(({ type }) => type !== "ImportDeclaration"));
  for (const [index, statement] of program.body.entries()) {
    if (statement.type === "ImportDeclaration") {
      const names = statement.specifiers.map(({ local }) => local.name);
      const isUnused = names.length > 0 && !names.some((name) => used.has(name));
      if (isUnused) unused.push(String(statement.source.value));
      edits.push(replaced(code, statement, isUnused ? "" : dynamicImport(statement)));
    } else if (statement.type === "ExportNamedDeclaration") edits.push(exportEdit(code, statement));
    else if (statement.type === "ExportAllDeclaration")
      edits.push(replaced(code, statement, `await import(${JSON.stringify(statement.source.value)});`));
    else if (statement.type === "ExportDefaultDeclaration")
      edits.push(...defaultEdits(code, statement, program.body.slice(index + 1)));
  }
  return { edits, notes: unused.length === 0 ? [] : [unusedNote(unused)] };
}

/** Another text with as many lines. */
function replaced(code: string, { start, end }: { start: number; end: number }, text: string): Edit {
  return { start, end, text: text + "\n".repeat(code.slice(start, end).split("\n").length - 1) };
}

function dynamicImport({ specifiers, source }: ImportDeclaration): string {
  const module = `await import(${JSON.stringify(source.value)})`;
  const names: string[] = [];
  let namespace: string | undefined;
  for (const specifier of specifiers) {
    const local = specifier.local.name;
    if (specifier.type === "ImportNamespaceSpecifier") namespace = local;
    else if (specifier.type === "ImportDefaultSpecifier") names.push(`default: ${local}`);
    else names.push(`${nameText(specifier.imported)}: ${local}`);
  }
  if (namespace === undefined) return names.length === 0 ? `${module};` : `const { ${names.join(", ")} } = ${module};`;
  return `const ${namespace} = ${module}${names.length === 0 ? "" : `, { ${names.join(", ")} } = ${namespace}`};`;
}

const nameText = (name: { type: string; name?: string; value?: unknown }): string =>
  name.type === "Identifier" ? (name.name ?? "") : JSON.stringify(name.value);

function exportEdit(code: string, statement: ExportNamedDeclaration): Edit {
  const { declaration, source } = statement;
  if (declaration != null) return replaced(code, { start: statement.start, end: declaration.start }, "");
  return replaced(code, statement, source == null ? "" : `await import(${JSON.stringify(source.value)});`);
}

function defaultEdits(code: string, statement: ExportDefaultDeclaration, later: readonly TopLevel[]): Edit[] {
  const { declaration, start, end } = statement;
  const keywords = replaced(code, { start, end: keywordsEnd(code, start) }, "");
  const isDeclared = declaration.type === "FunctionDeclaration" || declaration.type === "ClassDeclaration";
  if (isDeclared && declaration.id != null) {
    // At the end where that is the same, so that it is the last expression of the script for every reader.
    const at = later.every(({ type }) => DECLARES.has(type)) ? code.length : end;
    return [keywords, { start: at, end: at, text: `\n;${declaration.id.name};`.slice(at === code.length ? 0 : 1) }];
  }
  const close = code[end - 1] === ";" ? end - 1 : end;
  return [
    { ...keywords, text: `;(${keywords.text}` },
    { start: close, end: close, text: ")" },
  ];
}

const DECLARES: ReadonlySet<string> = new Set([
  "FunctionDeclaration",
  "ClassDeclaration",
  "VariableDeclaration",
  "EmptyStatement",
  "ExportNamedDeclaration",
  "ImportDeclaration",
]);

/** Where `export default` ends: comments may stand between the words. */
const keywordsEnd = (code: string, start: number): number =>
  firstCodeAt(code, start + "export".length) + "default".length;

function unusedNote(modules: readonly string[]): string {
  const names = modules.map((name) => `"${name}"`).join(", ");
  return `The import of ${names} was left out: nothing uses it, and a script has no modules.`;
}
