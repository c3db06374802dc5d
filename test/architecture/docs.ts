import ts from "typescript";

/** The names that an entry point exports whose declaration has no docstring, each with its place. */
export function undocumentedExports(entry: string, options: ts.CompilerOptions, host?: ts.CompilerHost): string[] {
  const program = ts.createProgram([entry], { ...options, noEmit: true }, host);
  const checker = program.getTypeChecker();
  const file = program.getSourceFile(entry);
  if (file === undefined) throw new Error(`${entry} is missing`);
  const module = checker.getSymbolAtLocation(file);
  return (module === undefined ? [] : checker.getExportsOfModule(module))
    .map((symbol) => ({ name: symbol.name, declared: declarationOf(symbol, checker) }))
    .filter(({ declared }) => ts.displayPartsToString(declared.getDocumentationComment(checker)).trim() === "")
    .map(({ name, declared }) => `${name} (${declared.declarations?.[0]?.getSourceFile().fileName ?? "nowhere"})`);
}

const declarationOf = (symbol: ts.Symbol, checker: ts.TypeChecker): ts.Symbol =>
  symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
