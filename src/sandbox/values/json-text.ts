/** JSON texts of values that were just made: a large tool result is written once, to count its bytes and to send it. */
const texts = new WeakMap<object, string>();

/** Says that `text` is the JSON of `value`, which nobody changes any more. */
export function rememberJson(value: object, text: string): void {
  texts.set(value, text);
}

/** The JSON of a value, if somebody has just made it. */
export function rememberedJson(value: unknown): string | undefined {
  return typeof value === "object" && value !== null ? texts.get(value) : undefined;
}
