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
  const settled = new Set<Definition>();
  for (const definition of definitions) cutAliasCycles(definition, new Set(), settled);
  const breadths = new Map<Definition, number>();
  for (const definition of definitions) narrow(definition.body, breadths);
  countUses(root);
}

/** `type A = B | string; type B = A | number` is circular; `type A = { next: A }` and `type A = A[]` are not. */
function cutAliasCycles(definition: Definition, open: Set<Definition>, settled: Set<Definition>): void {
  if (settled.has(definition)) return;
  open.add(definition);
  definition.body = withoutCycles(definition.body, open, settled);
  open.delete(definition);
  settled.add(definition);
}

function withoutCycles(node: TypeNode, open: Set<Definition>, settled: Set<Definition>): TypeNode {
  if (node.kind === "union" || node.kind === "intersection") {
    node.members = node.members.map((member) => withoutCycles(member, open, settled));
  }
  if (node.kind !== "reference") return node;
  if (open.has(node.target)) return { ...unknownType("refers only to itself"), origin: node.origin };
  if (open.size > MAX_ALIAS_CHAIN) return { ...unknownType("too many references in a row"), origin: node.origin };
  cutAliasCycles(node.target, open, settled);
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
