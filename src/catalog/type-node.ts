import type { SchemaObject } from "./json-schema.js";

/** A schema nested deeper than this is printed as `unknown` from there on, with a marker. */
export const MAX_TYPE_DEPTH = 32;

/** A TypeScript type before it is text. */
export type TypeNode = (
  | {
      kind: "text";
      /** A keyword or literal. */
      text: string;
      /** Why it says no more, for a comment. */
      note?: string;
      /** A limit of ours was reached. */
      cut?: boolean;
    }
  | { kind: "union" | "intersection"; members: TypeNode[] }
  | { kind: "array"; element: TypeNode }
  | { kind: "tuple"; elements: TypeNode[]; required: number; rest: TypeNode | undefined }
  | {
      kind: "object";
      properties: PropertyNode[];
      /** Type of the properties that are not named. */
      index: TypeNode | undefined;
      /** Further properties are refused. */
      closed: boolean;
    }
  | { kind: "reference"; target: Definition }
) & {
  /** Where its documentation and constraints are written. */
  origin?: SchemaObject | undefined;
};

/** A member of an object type. */
export interface PropertyNode {
  key: string;
  optional: boolean;
  type: TypeNode;
}

/** A type that may be referred to by name. */
export interface Definition {
  /** Wanted, in PascalCase; the printer makes names different. */
  name: string;
  body: TypeNode;
  /** References to it; for the root one more. One that is used once is printed in place. */
  uses: number;
}

/** A type that says nothing. With a note: why. */
export function unknownType(note?: string): TypeNode {
  return note === undefined ? { kind: "text", text: "unknown" } : { kind: "text", text: "unknown", note };
}

/** A type that is not read further, since a limit was reached. */
export function cutType(text = "unknown"): TypeNode {
  return { kind: "text", text, cut: true };
}

/** The nodes directly inside one. Does not follow references. */
export function partsOf(node: TypeNode): TypeNode[] {
  switch (node.kind) {
    case "union":
    case "intersection":
      return node.members;
    case "array":
      return [node.element];
    case "tuple":
      return node.rest === undefined ? node.elements : [...node.elements, node.rest];
    case "object": {
      const types = node.properties.map(({ type }) => type);
      return node.index === undefined ? types : [...types, node.index];
    }
    case "text":
    case "reference":
      return [];
  }
}
