type Method = (...args: never[]) => unknown;

/** One method of one instance, replaced until it is restored. */
export class MethodOverride<M extends Method> {
  /** What the method was before, bound to its instance. */
  readonly original: M;
  readonly #target: object;
  readonly #key: string;
  readonly #before: PropertyDescriptor | undefined;
  readonly #ours: Method;
  #isRestored = false;

  constructor(target: object, key: string, replacement: (original: M) => M) {
    const before = (target as Record<string, M | undefined>)[key];
    if (before === undefined) throw new TypeError(`${key} is not a method`);
    this.original = ((...args: never[]) => before.apply(target, args)) as M;
    this.#target = target;
    this.#key = key;
    this.#before = Object.getOwnPropertyDescriptor(target, key);
    const active = replacement(this.original);
    this.#ours = (...args) => (this.#isRestored ? this.original : active)(...args);
    Object.defineProperty(target, key, { value: this.#ours, configurable: true, writable: true });
  }

  /** Puts the method back. When someone has replaced it since, ours stays below theirs and only passes through. */
  restore(): void {
    this.#isRestored = true;
    if ((this.#target as Record<string, unknown>)[this.#key] !== this.#ours) return;
    if (this.#before === undefined) Reflect.deleteProperty(this.#target, this.#key);
    else Object.defineProperty(this.#target, this.#key, this.#before);
  }
}
