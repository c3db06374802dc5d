import { defineProperty, NewPromise, tagSymbol } from "../../values/intrinsics.js";

/** Makes a global as the language's own are: it may be replaced, and does not show up in loops. */
export function defineGlobal(name: string, value: unknown): void {
  try {
    defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
  } catch {
    // Declared by an earlier script of this memory: the property stays as it is, its value does not.
    (globalThis as Record<string, unknown>)[name] = value;
  }
}

/** A global function under its own name. */
export function defineFunction(name: string, value: (...args: never[]) => unknown): void {
  nameFunction(value, name);
  defineGlobal(name, value);
}

/** A global class, which says its name where objects of it are shown. */
export function defineClass(name: string, value: { prototype: object }): void {
  nameFunction(value, name);
  defineProperty(value.prototype, tagSymbol, { value: name, configurable: true });
  defineGlobal(name, value);
}

/** The bundler may rename what is bound to a local name. */
export function nameFunction(value: object, name: string): void {
  defineProperty(value, "name", { value: name, configurable: true });
}

/** Adds to an array of ours, without the setters of a script. */
export function append<T>(items: T[], value: T): void {
  defineProperty(items, items.length, { value, writable: true, enumerable: true, configurable: true });
}

/** Makes a promise safe to wait for: that reads `constructor`, and would meet a script's getter on Promise.prototype. */
export function keepConstructor(promise: object): void {
  defineProperty(promise, "constructor", { value: NewPromise, configurable: true });
}
