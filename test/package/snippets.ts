import { join } from "node:path";
import ts from "typescript";
import { codeBlocks, type Page, ROOT } from "./markdown.js";

/** What snippets may use without saying where it comes from. Not a module: its declarations are global. */
const AMBIENT = `
declare const server: import("@modelcontextprotocol/sdk/server/mcp.js").McpServer & import("mcp-codemode").TransformHost;
declare const client: import("@modelcontextprotocol/sdk/client/index.js").Client;
declare const source: import("mcp-codemode").ToolSource;
declare const sandbox: import("mcp-codemode").SandboxProvider;
declare const tools: import("mcp-codemode").Tool[];
declare const engine: import("mcp-codemode").CodeMode;
`;

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  moduleDetection: ts.ModuleDetectionKind.Force,
  lib: ["lib.es2023.d.ts"],
  types: ["node"],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
  noEmit: true,
};

/** What the compiler has to say about the `ts` blocks of the pages: nothing, when they are right. Against dist. */
export function typeErrors(pages: readonly Page[]): string[] {
  const blocks = pages.flatMap(codeBlocks).filter(({ language }) => language === "ts");
  // In the root of the package, so that "mcp-codemode" is what its package.json exports.
  const files = new Map(blocks.map(({ code }, index) => [join(ROOT, `snippet-${index}.mts`), code]));
  const ambient = join(ROOT, "snippets.d.ts");
  files.set(ambient, AMBIENT);
  const places = new Map([...files.keys()].map((file, index) => [file, blocks[index]?.place ?? file]));
  const program = ts.createProgram([...files.keys()], OPTIONS, hostWith(files));
  return ts
    .getPreEmitDiagnostics(program)
    .map(
      ({ file, messageText }) => `${places.get(file?.fileName ?? "") ?? file?.fileName ?? ""} ${textOf(messageText)}`,
    );
}

const textOf = (message: string | ts.DiagnosticMessageChain): string => ts.flattenDiagnosticMessageText(message, " ");

function hostWith(files: ReadonlyMap<string, string>): ts.CompilerHost {
  const disk = ts.createCompilerHost(OPTIONS);
  return {
    ...disk,
    fileExists: (name) => files.has(name) || disk.fileExists(name),
    readFile: (name) => files.get(name) ?? disk.readFile(name),
    getSourceFile(name, version, ...rest) {
      const text = files.get(name);
      return text === undefined ? disk.getSourceFile(name, version, ...rest) : ts.createSourceFile(name, text, version);
    },
  };
}
