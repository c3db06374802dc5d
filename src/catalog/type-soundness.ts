import { cutType, partsOf, unknownType, type Definition, type TypeNode } from "./type-node.js";

/** Aliases that may follow each other without a structure in between. Longer chains are of no use, and would need stack. */
const MAX_ALIAS_CHAIN = 100;

/** Members that an intersection of unions may come to when the compiler multiplies it out (it refuses 100,000). */
const MAX_COMBINATIONS = 2_000;

/**
 * Makes the types of one schema sound: removes what a compiler refuses, and counts how often each definition is used.
 * Changes the definitions in place.
 */
export function settleTypes(root: Definition, definitions: readonly Definition[]): void {
  const walk: AliasWalk = { open: new Set(), settled: { lazy: new Set(), eager: new Set() } };
  for (const definition of definitions) cutAliasCycles(definition, "lazy", walk);
  const breadths = new Map<Definition, number>();
  for (const definition of definitions) narrow(definition.body, breadths);
  countUses(root);
}

/** How a compiler reads arrays and tuples: when they are asked for, or at once, as in optional and rest elements. */
type Reading = "lazy" | "eager";

interface AliasWalk {
  /** Aliases on the way from the first one to here. */
  open: Set<Definition>;
  settled: Record<Reading, Set<Definition>>;
}

/** `type A = B | string; type B = A | number` is circular; `type A = { next: A }` and `type A = A[] | string` are not. */
function cutAliasCycles(definition: Definition, reading: Reading, walk: AliasWalk): void {
  if (walk.settled[reading].has(definition)) return;
  walk.open.add(definition);
  definition.body = withoutCycles(definition.body, reading, walk);
  walk.open.delete(definition);
  walk.settled[reading].add(definition);
}

function withoutCycles(node: TypeNode, reading: Reading, walk: AliasWalk): TypeNode {
  switch (node.kind) {
    case "union":
    case "intersection":
      node.members = node.members.map((member) => withoutCycles(member, reading, walk));
      return node;
    case "array":
      if (reading === "eager") node.element = withoutCycles(node.element, reading, walk);
      return node;
    case "tuple":
      return tupleWithoutCycles(node, reading, walk);
    case "reference":
      return followed(node, reading, walk);
    case "object":
    case "text":
      return node;
  }
}

/** Arrays in optional and rest elements are read at once; an alias itself may stand there (`[T?]`, `[string, ...T[]]`). */
function tupleWithoutCycles(node: Extract<TypeNode, { kind: "tuple" }>, reading: Reading, walk: AliasWalk): TypeNode {
  const settle = (element: TypeNode, position: Reading): TypeNode => {
    if (position === "lazy") return element;
    const isAlias = reading === "lazy" && element.kind === "reference" && walk.open.has(element.target);
    return isAlias ? element : withoutCycles(element, "eager", walk);
  };
  node.elements = node.elements.map((element, index) => settle(element, index < node.required ? reading : "eager"));
  node.rest = node.rest === undefined ? undefined : settle(node.rest, "eager");
  return node;
}

function followed(node: Extract<TypeNode, { kind: "reference" }>, reading: Reading, walk: AliasWalk): TypeNode {
  if (walk.open.has(node.target)) return { ...unknownType("refers only to itself"), origin: node.origin };
  if (walk.open.size > MAX_ALIAS_CHAIN) return { ...unknownType("too many references in a row"), origin: node.origin };
  cutAliasCycles(node.target, reading, walk);
  return node;
}

/** Shortens intersections whose unions would multiply out to more than a compiler takes, here and in every part. */
function narrow(node: TypeNode, breadths: Map<Definition, number>): void {
  for (const part of partsOf(node)) narrow(part, breadths);
  if (node.kind !== "intersection") return;
  let combinations = 1;
  const kept = node.members.filter((member) => {
    const breadth = breadthOf(member, breadths);
    if (combinations * breadth > MAX_COMBINATIONS && combinations > 1) return false;
    combinations *= breadth;
    return true;
  });
  node.members = kept.length < node.members.length ? [...kept, cutType()] : kept;
}

/** Members of the union a type comes to. Terminates: references without a structure in between form no cycle any more. */
function breadthOf(node: TypeNode, breadths: Map<Definition, number>): number {
  if (node.kind === "union") return Math.max(1, sum(node.members.map((member) => breadthOf(member, breadths))));
  if (node.kind === "intersection") return product(node.members.map((member) => breadthOf(member, breadths)));
  if (node.kind !== "reference") return 1;
  const known = breadths.get(node.target);
  if (known !== undefined) return known;
  const breadth = breadthOf(node.target.body, breadths);
  breadths.set(node.target, breadth);
  return breadth;
}

const sum = (numbers: number[]): number => numbers.reduce((total, number) => total + number, 0);
const product = (numbers: number[]): number => numbers.reduce((total, number) => total * number, 1);

function countUses(root: Definition): void {
  root.uses = 1;
  const seen = new Set([root]);
  const open: TypeNode[] = [root.body];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    open.push(...partsOf(node));
    if (node.kind !== "reference") continue;
    node.target.uses += 1;
    if (!seen.has(node.target)) open.push(node.target.body);
    seen.add(node.target);
  }
}
