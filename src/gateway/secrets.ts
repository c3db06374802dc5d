/** Shorter values occur in ordinary text: replacing them would only spoil messages. */
const SHORTEST_EXPANDED = 4;
const SHORTEST_LITERAL = 8;

/** Values that must not get out: what a configuration expanded, headers, tokens. Everything the gateway prints passes {@link redact}. */
export class Secrets {
  readonly #labels = new Map<string, string>();
  #longestFirst: readonly (readonly [value: string, label: string])[] | undefined;

  /** A value that came from the environment or from a question to the user. */
  addExpanded(value: string, label: string): void {
    if (value.length >= SHORTEST_EXPANDED) this.#add(value, label);
  }

  /** A value that stands in the configuration itself: a header, a variable of a child process. */
  addLiteral(value: string, label: string): void {
    if (value.length >= SHORTEST_LITERAL) this.#add(value, label);
    const credentials = /^(?:Bearer|Basic|Token)\s+(.+)$/i.exec(value)?.[1];
    if (credentials !== undefined) this.addExpanded(credentials, label);
  }

  /** The text with every such value replaced by its label in brackets. */
  redact(text: string): string {
    // A value that holds another one goes first, or its remainder would stay.
    this.#longestFirst ??= [...this.#labels].sort(([left], [right]) => right.length - left.length);
    let clean = text;
    for (const [value, label] of this.#longestFirst) {
      if (clean.includes(value)) clean = clean.replaceAll(value, () => `[${label}]`);
    }
    return clean;
  }

  #add(value: string, label: string): void {
    if (this.#labels.has(value)) return;
    this.#labels.set(value, label);
    this.#longestFirst = undefined;
  }
}
