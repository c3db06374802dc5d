import ts from "typescript";

/** What the compiler says about a text, and where. */
export interface Diagnostic {
  file: string;
  message: string;
  line: string;
}

const OPTIONS: ts.CompilerOptions = {
  strict: true,
  noEmit: true,
  target: ts.ScriptTarget.ES2022,
  lib: ["lib.es2022.d.ts"],
  types: [],
  exactOptionalPropertyTypes: true,
};

/** Syntactic and semantic diagnostics of texts (file name -> text), each a file of its own, in one program in memory. */
export function diagnosticsOf(texts: ReadonlyMap<string, string>): Diagnostic[] {
  const disk = ts.createCompilerHost(OPTIONS);
  const host: ts.CompilerHost = {
    ...disk,
    getSourceFile: (name, version) => {
      const text = texts.get(name);
      return text === undefined ? disk.getSourceFile(name, version) : ts.createSourceFile(name, text, version);
    },
    fileExists: (name) => texts.has(name) || disk.fileExists(name),
    readFile: (name) => texts.get(name) ?? disk.readFile(name),
  };
  const program = ts.createProgram([...texts.keys()], OPTIONS, host);
  const found = [...program.getSyntacticDiagnostics(), ...program.getSemanticDiagnostics()];
  return [...program.getOptionsDiagnostics(), ...program.getGlobalDiagnostics(), ...found].map((diagnostic) => {
    const at = diagnostic.file?.getLineAndCharacterOfPosition(diagnostic.start ?? 0);
    return {
      file: diagnostic.file?.fileName ?? "",
      message: ts.flattenDiagnosticMessageText(diagnostic.messageText, "\n"),
      line: at === undefined ? "" : (diagnostic.file?.text.split("\n")[at.line] ?? "").slice(0, 300),
    };
  });
}

/** The text of a signature as a module of its own: its lines inside `declare namespace tools`. */
export function signatureModule(signature: string): string {
  const lines = signature.split("\n").map((line) => line.replace(/^tools\./, "function "));
  return `export {};\ndeclare namespace tools {\n${lines.join("\n")}\n}\n`;
}

/** Declarations as a module of their own, so that files of one program do not see each other. */
export function declarationModule(declarations: string): string {
  return `export {};\n${declarations}`;
}
