import ts from "typescript";
import { asJson, asStrings, type Json, knownKeys, Todo } from "./case.js";
import { sameJson, shown } from "./compare.js";
import { factory } from "./config.js";
import type { SearchReply, World } from "./world.js";

/** The TypeScript of one tool, as the model is shown it. */
interface Signature {
  tool: string;
  schema: Json;
  /** The one-line form. */
  line: string;
  /** The form with all documentation: a declaration file. */
  declared: string;
  /** Milliseconds to print both. */
  ms: number;
}

type Assertion = (signature: Signature, wanted: unknown) => string | undefined;

const ASSERTIONS: Readonly<Record<string, Assertion>> = {
  parsesAsTypeScript: (signature) => {
    const faults = [...syntaxFaults(asDeclaration(signature.line)), ...syntaxFaults(signature.declared)];
    return faults.length === 0 ? undefined : `does not parse: ${shown(faults)}`;
  },
  contains: ({ line }, wanted) => {
    const missing = asStrings(wanted, "contains").filter((part) => !line.includes(part));
    return missing.length === 0 ? undefined : `lacks ${shown(missing)}`;
  },
  notContains: ({ line, declared }, wanted) => {
    const found = asStrings(wanted, "notContains").filter((part) => line.includes(part) || declared.includes(part));
    return found.length === 0 ? undefined : `contains ${shown(found)}`;
  },
  required: (signature, wanted) => {
    const required = parametersOf(signature)
      .filter(({ optional }) => !optional)
      .map(({ name }) => name);
    const same = sameJson(required.toSorted(), asStrings(wanted, "required").toSorted());
    return same ? undefined : `shows as required ${shown(required)}`;
  },
  nullCount: (signature, wanted) => {
    const admitting = parametersOf(signature)
      .filter(({ literals }) => literals.includes(null))
      .map(({ name }) => name);
    return admitting.length === wanted ? undefined : `admits null in ${shown(admitting)}`;
  },
  enumRoundTrip: (signature) => {
    const shownLiterals = parametersOf(signature).map(({ name, literals }): [string, unknown] => [name, literals]);
    const faults = enumsOf(signature.schema).filter(([name, values]) => {
      const literals = shownLiterals.find(([parameter]) => parameter === name)?.[1];
      return !sameJson(sorted(literals), sorted(values));
    });
    return faults.length === 0 ? undefined : `loses literals of ${shown(faults.map(([name]) => name))}`;
  },
  declarations: ({ declared, line }, wanted) => {
    const names = [
      ...`${line}\n${declared}`.matchAll(/\b(?:type|interface)\s+([\p{ID_Start}$_][\p{ID_Continue}$]*)/gu),
    ].map(([, name]) => name);
    const distinct = [...new Set(names)];
    const holds =
      typeof wanted === "number"
        ? distinct.length === wanted
        : asStrings(wanted, "declarations").every((name) => distinct.includes(name));
    return holds ? undefined : `declares ${shown(distinct)}`;
  },
  maxChars: ({ line }, wanted) => (line.length <= Number(wanted) ? undefined : `has ${line.length} characters`),
  maxMs: ({ ms }, wanted) => (ms <= Number(wanted) ? undefined : `took ${ms.toFixed(1)} ms`),
};

/** What is wrong with the signatures that a case looks at. @throws {Todo} for a key that is not known. */
export async function signatureFaults(world: World, wanted: Json): Promise<string[]> {
  const { tool, tools, ...keys } = wanted;
  knownKeys(keys, Object.keys(ASSERTIONS), "signature");
  const names = asStrings(tools ?? tool, "signature.tool");
  const faults: string[] = [];
  for (const name of names) {
    const signature = await signatureOf(world, name);
    if (typeof signature === "string") return [...faults, signature];
    for (const [key, value] of Object.entries(keys)) {
      const fault = ASSERTIONS[key]?.(signature, value);
      if (fault !== undefined)
        faults.push(`signature of ${name}: ${key} ${shown(value)}: ${fault}: ${shown(signature.line)}`);
    }
  }
  return faults;
}

/** Found as a model finds it, by its exact name; printed by the library's TypeScript serializer. A text says why not. */
async function signatureOf(world: World, name: string): Promise<Signature | string> {
  const found = await world.search({ query: name });
  const tool = found.tools.find((candidate) => candidate.name === name);
  if (tool === undefined) return `search for "${name}" did not find it: ${found.reply.summary}`;
  const start = performance.now();
  const line = await print(tool, found, "signature");
  const declared = await print(tool, found, "declarations");
  return {
    tool: name,
    schema: world.fixture.tools.get(name)?.definition ?? { ...tool },
    line,
    declared,
    ms: performance.now() - start,
  };
}

async function print(tool: object, { context }: SearchReply, detail: string): Promise<string> {
  const serializer = factory("typescriptSerializer")({ detail }) as (tools: object[], context: object) => unknown;
  const text = await serializer([tool], { ...context, detail: undefined });
  if (typeof text !== "string") throw new Todo("the TypeScript serializer gave no text");
  return text;
}

/** The one-line form reads `tools.name(args): Promise<T>`: what is missing to be a declaration is its head. */
const asDeclaration = (line: string): string => line.replace(/^tools(\.[^\s(]+)+\(/m, "declare function shown(");

function syntaxFaults(text: string): string[] {
  const { diagnostics = [] } = ts.transpileModule(text, {
    reportDiagnostics: true,
    compilerOptions: { target: ts.ScriptTarget.ES2022 },
  });
  return diagnostics.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, " "));
}

interface Parameter {
  name: string;
  optional: boolean;
  /** Literal members of its type: text, numbers, booleans, null. */
  literals: unknown[];
}

/** The parameters of a tool as the compiler reads them: those of all alternatives. */
function parametersOf({ declared, tool }: Signature): Parameter[] {
  const { checker, file } = compiled(declared);
  const declaration = firstCallable(file);
  const parameter = declaration?.parameters[0];
  if (declaration === undefined || parameter === undefined) throw new Todo(`no function declared for ${tool}`);
  const type = checker.getTypeAtLocation(parameter);
  const alternatives = type.isUnion() ? type.types : [type];
  const symbols = new Map(
    alternatives.flatMap((one) => checker.getPropertiesOfType(one)).map((symbol) => [symbol.name, symbol]),
  );
  return Array.from(symbols.values(), (symbol) => ({
    name: ts.unescapeLeadingUnderscores(symbol.escapedName),
    optional: (symbol.flags & ts.SymbolFlags.Optional) !== 0,
    literals: literalsOf(checker, checker.getTypeOfSymbolAtLocation(symbol, parameter)),
  }));
}

function compiled(text: string): { checker: ts.TypeChecker; file: ts.SourceFile } {
  const name = "/shown.d.ts";
  const file = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);
  const host: ts.CompilerHost = {
    ...ts.createCompilerHost({}),
    getSourceFile: (path) => (path === name ? file : undefined),
    fileExists: (path) => path === name,
  };
  const program = ts.createProgram([name], { strict: true, noLib: true, types: [] }, host);
  return { checker: program.getTypeChecker(), file };
}

function firstCallable(node: ts.Node): ts.SignatureDeclaration | undefined {
  if (ts.isFunctionDeclaration(node) || ts.isMethodSignature(node) || ts.isFunctionTypeNode(node)) return node;
  return ts.forEachChild(node, firstCallable);
}

function literalsOf(checker: ts.TypeChecker, type: ts.Type): unknown[] {
  const members = type.isUnion() ? type.types : [type];
  return members.flatMap((member): unknown[] => {
    if (member.isStringLiteral() || member.isNumberLiteral()) return [member.value];
    if (member.flags & ts.TypeFlags.Null) return [null];
    if (member.flags & ts.TypeFlags.BooleanLiteral) return [checker.typeToString(member) === "true"];
    return [];
  });
}

/** Parameters with an enum, and its distinct values. */
function enumsOf({ inputSchema }: Json): [string, unknown[]][] {
  const properties = asJson(asJson(inputSchema, "inputSchema")["properties"], "properties");
  return Object.entries(properties).flatMap(([name, property]) => {
    const values = (property as { enum?: unknown[] }).enum;
    return values === undefined ? [] : [[name, [...new Set(values)]] satisfies [string, unknown[]]];
  });
}

const sorted = (values: unknown): unknown[] =>
  ((values ?? []) as unknown[]).map((value) => JSON.stringify(value)).toSorted();
