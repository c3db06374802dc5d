import type { Definition } from "./type-node.js";
import type { PrintedType } from "./type-printer.js";

/** Names that printed text uses for something else. */
const RESERVED_TYPES = ["Promise", "Record"];
/** Rounds in which types of one name are tried for equality before every one gets a name of its own. */
const MAX_ROUNDS = 12;

/**
 * The named types of one text. Types of several schemas share a name when their texts are equal (and so, since texts
 * name each other, everything they lead to); others of that name are numbered.
 */
export class NamedTypes {
  readonly #texts = new Map<string, string>(RESERVED_TYPES.map((name) => [name, ""]));

  /** Every named type so far, as a declaration without the final semicolon. */
  declarations(): { name: string; text: string; definition: Definition }[] {
    return this.#declared;
  }

  readonly #declared: { name: string; text: string; definition: Definition }[] = [];

  /** Prints a type with names that fit those given so far, and keeps what it names. */
  print(print: (nameOf: (definition: Definition) => string) => PrintedType): PrintedType {
    const refused = new Map<Definition, Set<string>>();
    for (let round = 0; ; round++) {
      const names = new Map<Definition, string>();
      const printed = print((definition) => this.#name(definition, names, refused, round >= MAX_ROUNDS));
      const conflicts = [...printed.named].filter(([definition, text]) => this.#conflicts(names.get(definition), text));
      if (conflicts.length === 0) {
        for (const [definition, text] of printed.named) this.#keep(names.get(definition) as string, text, definition);
        return printed;
      }
      for (const [definition] of conflicts) {
        const more = refused.get(definition) ?? new Set();
        refused.set(definition, more.add(names.get(definition) as string));
      }
    }
  }

  #name(
    definition: Definition,
    names: Map<Definition, string>,
    refused: ReadonlyMap<Definition, ReadonlySet<string>>,
    unshared: boolean,
  ): string {
    const known = names.get(definition);
    if (known !== undefined) return known;
    const used = new Set(names.values());
    const isFree = (name: string): boolean =>
      !used.has(name) && refused.get(definition)?.has(name) !== true && !(unshared && this.#texts.has(name));
    let name = definition.name;
    for (let number = 2; !isFree(name); number++) name = `${definition.name}${number}`;
    names.set(definition, name);
    return name;
  }

  #conflicts(name: string | undefined, text: string): boolean {
    const known = name === undefined ? undefined : this.#texts.get(name);
    return known !== undefined && known !== text;
  }

  #keep(name: string, text: string, definition: Definition): void {
    if (!this.#texts.has(name)) this.#declared.push({ name, text, definition });
    this.#texts.set(name, text);
  }
}
