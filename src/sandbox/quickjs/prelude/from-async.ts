import { apply, defineProperty, NewTypeError } from "../../values/intrinsics.js";
import { append, nameFunction } from "./define.js";
import { asyncIteratorSymbol, iteratorOf, iteratorSymbol, stepOf, type Step } from "./iterate.js";

type Mapper = (item: unknown, index: number) => unknown;

async function fromAsync(source: unknown, mapper?: Mapper, self?: unknown): Promise<unknown[]> {
  if (source == null) throw new NewTypeError("Array.fromAsync needs something to iterate over");
  const items: unknown[] = [];
  const add = async (item: unknown): Promise<void> => {
    append(items, mapper === undefined ? item : await apply(mapper, self, [item, items.length]));
  };
  const asynchronous = iteratorOf(source, asyncIteratorSymbol);
  const iterator = asynchronous ?? iteratorOf(source, iteratorSymbol);
  if (iterator === undefined) {
    const { length } = source as { length?: number };
    for (let index = 0; index < (length ?? 0); index++) await add(await (source as unknown[])[index]);
    return items;
  }
  for (;;) {
    const step = await (stepOf(iterator) as Step | Promise<Step>);
    if (step.done === true) return items;
    await add(await step.value);
  }
}

/** `Array.fromAsync`, which the engine lacks. */
export function installFromAsync(): void {
  nameFunction(fromAsync, "fromAsync");
  defineProperty(Array, "fromAsync", { value: fromAsync, writable: true, configurable: true });
}
