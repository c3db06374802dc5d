import type { Function as FunctionNode, Pattern, Program } from "acorn";

/** A function that a script declares and nothing calls. */
export interface UncalledFunction {
  name: string;
  /** Parameters it cannot do without, as written. */
  needs: readonly string[];
}

/** Names that models give to the function that is to be run. */
const ENTRY_NAMES: readonly string[] = ["main", "run", "execute", "handler"];

/**
 * Functions of a script that is nothing but declarations, so that running it does nothing: [] for any other script.
 */
export function uncalledFunctions(code: string, { body }: Program): UncalledFunction[] {
  const found: UncalledFunction[] = [];
  const add = (name: string, { params }: FunctionNode) => found.push({ name, needs: needed(code, params) });
  for (const statement of body) {
    if (statement.type === "FunctionDeclaration") add(statement.id.name, statement);
    else if (statement.type === "VariableDeclaration") {
      for (const { id, init } of statement.declarations) {
        const isFunction = init?.type === "ArrowFunctionExpression" || init?.type === "FunctionExpression";
        if (isFunction && id.type === "Identifier") add(id.name, init);
      }
    } else if (!DECLARES_ONLY.has(statement.type) && !("directive" in statement)) return [];
  }
  return found;
}

const DECLARES_ONLY: ReadonlySet<string> = new Set(["ClassDeclaration", "EmptyStatement"]);

const needed = (code: string, params: readonly Pattern[]): string[] =>
  params
    .filter(({ type }) => type !== "AssignmentPattern" && type !== "RestElement")
    .map(({ start, end }) => code.slice(start, Math.min(end, start + 40)));

/** The function that was meant to run: the only one, or the one with a name for it, if it needs no arguments. */
export function entryFunction(functions: readonly UncalledFunction[]): UncalledFunction | undefined {
  const named = ENTRY_NAMES.map((name) => functions.find((found) => found.name === name)).find((found) => found);
  const entry = named ?? (functions.length === 1 ? functions[0] : undefined);
  return entry?.needs.length === 0 ? entry : undefined;
}

/** What the model is told about functions that nothing called. */
export function uncalledNote(functions: readonly UncalledFunction[], called: UncalledFunction | undefined): string {
  if (called !== undefined)
    return `Nothing called \`${called.name}\`, so it was called for you. End the script with \`return await ${called.name}()\`.`;
  const [first] = functions;
  const names = functions.map(({ name }) => `\`${name}\``).join(", ");
  const call = `${first?.name ?? ""}(${first?.needs.join(", ") ?? ""})`;
  return `Nothing ran: the script only declares ${names} and calls ${functions.length === 1 ? "nothing" : "none of them"}. End it with a call, as in \`return await ${call}\`.`;
}
