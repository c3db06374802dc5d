import { plainValue, valuesIn, type Recursive, type Shape, type Value } from "./shape.js";

/** Characters that a name costs where it is given, beyond itself. */
const DECLARATION_CHARACTERS = 9;
const MAX_NAME_CHARACTERS = 32;

/** Which shapes of a page are printed by name, and how those are called. */
export class TypeNames {
  readonly #names = new Map<Shape, string>();
  readonly #recursiveNames = new Map<Recursive, string>();
  readonly #taken = new Set<string>();
  readonly #uses = new Map<Shape, number>();
  readonly #sizes = new Map<Shape, number>();

  /** @param values Everything on the page that is printed once. */
  constructor(values: readonly Value[]) {
    for (const { shape } of values) this.#count(shape);
    for (const { shape } of values) this.#decide(shape);
  }

  /** The name of a shape; undefined: it is printed where it stands. */
  of(shape: Shape): string | undefined {
    return shape.kind === "recursive" ? this.#recursiveNames.get(shape.target) : this.#names.get(shape);
  }

  /** What is printed by name, in the order in which it was met. */
  declarations(): { name: string; value: Value }[] {
    const recursive = [...this.#recursiveNames].map(([{ value }, name]) => ({ name, value }));
    const named = [...this.#names].map(([shape, name]) => ({ name, value: plainValue(shape) }));
    return [...recursive, ...named].filter(
      (entry): entry is { name: string; value: Value } => entry.value !== undefined,
    );
  }

  #count(shape: Shape): void {
    const uses = (this.#uses.get(shape) ?? 0) + 1;
    this.#uses.set(shape, uses);
    if (uses > 1) return;
    for (const value of this.#inside(shape)) this.#count(value.shape);
  }

  #inside(shape: Shape): readonly Value[] {
    if (shape.kind !== "recursive") return valuesIn(shape);
    if (this.#recursiveNames.has(shape.target)) return [];
    this.#recursiveNames.set(shape.target, this.#newName(shape.hint));
    return shape.target.value === undefined ? [] : [shape.target.value];
  }

  /** Names a shape where that makes the page shorter. Gives the characters it takes at each place. */
  #decide(shape: Shape): number {
    const known = this.#sizes.get(shape);
    if (known !== undefined) return known;
    // A recursive one is met inside itself.
    this.#sizes.set(shape, MAX_NAME_CHARACTERS / 2);
    if (shape.kind === "recursive") {
      if (shape.target.value !== undefined) this.#decide(shape.target.value.shape);
      return MAX_NAME_CHARACTERS / 2;
    }
    const size =
      ownSize(shape) + sum(valuesIn(shape).map((value) => this.#decide(value.shape) + annotationSize(value)));
    const uses = this.#uses.get(shape) ?? 0;
    const nameSize = Math.min(MAX_NAME_CHARACTERS, shape.hint.length + 1);
    const saved = (uses - 1) * size - uses * nameSize - DECLARATION_CHARACTERS;
    const isNamed = uses > 1 && saved > 0 && !isWord(shape);
    if (isNamed) this.#names.set(shape, this.#newName(shape.hint));
    this.#sizes.set(shape, isNamed ? nameSize : size);
    return isNamed ? nameSize : size;
  }

  #newName(hint: string): string {
    const wanted = typeName(hint);
    let name = wanted;
    for (let number = 2; this.#taken.has(name); number++) name = `${wanted}${number}`;
    this.#taken.add(name);
    return name;
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

const annotationSize = ({ doc, fallback = "" }: Value): number => (doc === "" ? 0 : doc.length + 4) + fallback.length;

/** Most words are one token, which a name of ours would not be. */
const isWord = (shape: Shape): boolean => shape.kind === "text" && /^[\w<>., -]{0,24}$/.test(shape.text);

/** About the characters of a shape without what is inside it. */
function ownSize(shape: Shape): number {
  if (shape.kind === "text") return shape.text.length;
  if (shape.kind === "object") {
    return shape.marks.length + 2 + sum(shape.members.map(({ name, optional }) => name.length + (optional ? 5 : 4)));
  }
  if (shape.kind === "array") return shape.marks.length + 2;
  if (shape.kind === "more") {
    return 3 + sum(shape.extras.map((extra) => extra.keyword.length + ("json" in extra ? extra.json.length : 4)));
  }
  return 3 * valuesIn(shape).length;
}

/** `sort_order` -> `SortOrder`. Names of schemas are their authors' text: letters and digits are all that is kept. */
function typeName(hint: string): string {
  const words = hint.slice(0, 80).split(/[^A-Za-z0-9]+/);
  const joined = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
  const named = joined.slice(0, MAX_NAME_CHARACTERS);
  return /^[A-Z]/.test(named) ? named : `T${named}`;
}
