import type { Node } from "acorn";

/** Every node below and including the given ones, in no order. Without recursion: scripts nest as deep as they like. */
export function* nodesOf(roots: readonly Node[]): Generator<Node> {
  const waiting: unknown[] = [...roots];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (Array.isArray(next)) {
      for (const item of next as unknown[]) waiting.push(item);
      continue;
    }
    if (typeof next !== "object" || next === null || typeof (next as Partial<Node>).type !== "string") continue;
    yield next as Node;
    for (const value of Object.values(next)) if (typeof value === "object" && value !== null) waiting.push(value);
  }
}

/** Names that the nodes read or write: keys and members (`a.name`, `{ name: 1 }`) are not among them. */
export function namesIn(roots: readonly Node[]): Set<string> {
  const names = new Set<string>();
  const labels = new Set<unknown>();
  for (const node of nodesOf(roots)) {
    const { type, computed, shorthand, property, key } = node as Node & Record<string, unknown>;
    if (type === "MemberExpression" && computed === false) labels.add(property);
    if (type === "Property" && computed === false && shorthand === false) labels.add(key);
    if (type === "Identifier" && !labels.has(node)) names.add((node as Node & { name: string }).name);
  }
  return names;
}
