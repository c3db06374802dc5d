import { apply, asyncIteratorSymbol, isArray, iteratorSymbol, NewTypeError } from "../../values/intrinsics.js";

/** What a script may hand over: every part of it may be missing or hostile. */
interface Iterator {
  next?: unknown;
  return?: unknown;
}

/** Visits what a `for...of` loop would. Written out because a loop would look up the iterators that a script may have replaced. */
export function forEachOf(source: unknown, visit: (item: unknown) => void): void {
  if (isArray(source)) {
    for (let index = 0; index < source.length; index++) visit(source[index]);
    return;
  }
  const iterator = iteratorOf(source, iteratorSymbol);
  if (iterator === undefined) throw new NewTypeError("value is not iterable");
  for (let step = stepOf(iterator); step.done !== true; step = stepOf(iterator)) visit(step.value);
}

/** The iterator that `source[symbol]()` gives; undefined when it has no such method. */
export function iteratorOf(source: unknown, symbol: symbol): Iterator | undefined {
  const method = source == null ? undefined : (source as Record<symbol, unknown>)[symbol];
  return typeof method === "function" ? (apply(method, source, []) as Iterator) : undefined;
}

/** One step of an iterator, as it gives it: for an asynchronous one a promise. */
export function stepOf(iterator: Iterator): Step {
  if (typeof iterator.next !== "function") throw new NewTypeError("iterator.next is not a function");
  const step: unknown = apply(iterator.next, iterator, []);
  if (typeof step !== "object" || step === null) throw new NewTypeError("iterator.next() gave no object");
  return step;
}

/** What `next()` gives. */
export interface Step {
  done?: unknown;
  value?: unknown;
}

export { asyncIteratorSymbol, iteratorSymbol };
