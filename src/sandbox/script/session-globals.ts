import type { ClassDeclaration, Node, Pattern, Program, VariableDeclaration } from "acorn";
import type { Reading } from "./repair.js";
import { chained, type Edit, type Rewrite, thenEdit, unchanged } from "./rewrite.js";

/** A script whose top-level declarations stay when it has ended. */
export interface SessionScript {
  rewrite: Rewrite;
  /** For a script with a `return` at its top level, which has to run inside of a function: the globals it declares. */
  insideWith: readonly string[] | undefined;
}

/**
 * Makes properties of the global object of what a script declares at its top level, so that the next script in the same
 * memory has it and may declare it again. (Left alone, `let`, `const` and `class` would stay too, but a second declaration
 * would be an error, even of one whose initialiser threw; and inside of a function nothing would stay.)
 *
 * `let x = 1` becomes `var x = 1`, and inside of a function an assignment to a global. So `const` protects nothing from
 * being assigned, and a name can be read before its declaration. Lines stay as they are.
 */
export function withSessionGlobals({ rewrite, program }: Reading): SessionScript {
  const isInside = returnsAtTopLevel(program);
  const edits: Edit[] = [];
  const names = new Set<string>();
  for (const statement of program.body) {
    if (statement.type === "VariableDeclaration") addVariables(statement, isInside, edits, names);
    else if (statement.type === "ClassDeclaration") addClass(statement, isInside, edits, names);
    else if (statement.type === "FunctionDeclaration" && isInside)
      addFunction(program, statement.id.name, edits, names);
  }
  const made = edits.length === 0 ? rewrite : chained(rewrite, thenEdit(unchanged(rewrite.code), edits));
  return { rewrite: made, insideWith: isInside ? [...names] : undefined };
}

/** True for a `return` that belongs to no function of the script. Without recursion: scripts nest as deep as they like. */
function returnsAtTopLevel(program: Program): boolean {
  const waiting: unknown[] = [...program.body];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next !== "object" || next === null) continue;
    if (Array.isArray(next)) {
      waiting.push(...(next as unknown[]));
      continue;
    }
    const { type } = next as Partial<Node>;
    if (type === "ReturnStatement") return true;
    if (type !== undefined && OWN_RETURNS.has(type)) continue;
    for (const value of Object.values(next)) if (typeof value === "object" && value !== null) waiting.push(value);
  }
  return false;
}

const OWN_RETURNS: ReadonlySet<string> = new Set([
  "FunctionDeclaration",
  "FunctionExpression",
  "ArrowFunctionExpression",
  "ClassBody",
]);

function addVariables(
  { kind, start, end, declarations }: VariableDeclaration,
  isInside: boolean,
  edits: Edit[],
  names: Set<string>,
): void {
  if (kind !== "let" && kind !== "const" && kind !== "var") return;
  for (const { id, init, end: declaredTo } of declarations) {
    for (const name of namesOf(id)) names.add(name);
    // A second `var x;` leaves x alone, a second `let x;` makes it undefined.
    if (init == null && kind === "let") edits.push({ start: declaredTo, end: declaredTo, text: " = void 0" });
  }
  const keyword = { start, end: start + kind.length };
  if (!isInside) {
    if (kind !== "var") edits.push({ ...keyword, text: "var" });
    return;
  }
  // Semicolons on both sides: a parenthesis would go on with the statement before, and what follows with this one.
  const last = declarations.at(-1)?.end ?? end;
  edits.push({ ...keyword, text: ";(" }, { start: last, end: last, text: ");" });
}

function addClass({ id, start, end }: ClassDeclaration, isInside: boolean, edits: Edit[], names: Set<string>): void {
  names.add(id.name);
  const target = isInside ? `;${id.name} = ` : `var ${id.name} = `;
  edits.push({ start, end: start, text: target }, { start: end, end, text: ";" });
}

/** A function keeps its place in the function around it, where it is there from the start; the global is set first of all. */
function addFunction(program: Program, name: string, edits: Edit[], names: Set<string>): void {
  if (names.has(name)) return;
  names.add(name);
  const first = program.body.find((statement) => !("directive" in statement)) ?? program.body[0];
  const at = first?.start ?? 0;
  // `this` is the global object here, whatever the script calls `globalThis`.
  edits.unshift({ start: at, end: at, text: `;void(this.${name}=${name});` });
}

function namesOf(pattern: Pattern): string[] {
  switch (pattern.type) {
    case "Identifier":
      return [pattern.name];
    case "ObjectPattern":
      return pattern.properties.flatMap((property) =>
        namesOf(property.type === "RestElement" ? property.argument : property.value),
      );
    case "ArrayPattern":
      return pattern.elements.flatMap((element) => (element === null ? [] : namesOf(element)));
    case "RestElement":
      return namesOf(pattern.argument);
    case "AssignmentPattern":
      return namesOf(pattern.left);
    default:
      return [];
  }
}
