import type * as Acorn from "acorn";
import type * as Sucrase from "sucrase";
import { createRequire } from "node:module";
import { createContext, Script } from "node:vm";

/** Not an import: most scripts never need a parser, a worker cannot wait for one, and loading takes tens of milliseconds. */
const load = createRequire(import.meta.url);

let loadedAcorn: typeof Acorn | undefined;
let loadedSucrase: typeof Sucrase | undefined;

/** The parser of JavaScript. About 6 ms the first time. */
export const acorn = (): typeof Acorn => (loadedAcorn ??= load("acorn") as typeof Acorn);

/** What strips types. About 40 ms the first time. */
export function sucrase(): typeof Sucrase {
  if (loadedSucrase !== undefined) return loadedSucrase;
  const loaded = load("sucrase") as typeof Sucrase;
  // Its one regular expression is compiled while the stack is empty: V8 ends the process when it has to do that with the
  // last of the stack. The first run of one interprets, the second compiles, and letters past U+00FF are another version.
  for (const text of ["x", "x", "x", "数", "数", "数"])
    loaded.transform(`import("${text}"); import {} from "y"`, { transforms: ["typescript"] });
  return (loadedSucrase = loaded);
}

/** True once {@link sucrase} was called. */
export const isLoaded = (): boolean => loadedSucrase !== undefined;

let box: { work?: (() => unknown) | undefined } | undefined;
let entry: Script | undefined;

/** Longest time for one script, also where it has more: the slowest honest one takes a tenth of it. */
const MOST_MS = 2_000;

/**
 * Runs `work` for at most `ms` milliseconds. Both parsers are quick on what models write, but 160 hostile characters keep
 * the type stripper busy for seconds, and it looks at no clock: only a stop of the engine itself ends it. Costs 0.4 ms.
 *
 * Load what `work` needs before: a module that is stopped while it loads stays broken.
 *
 * @throws {Error} with code `ERR_SCRIPT_EXECUTION_TIMEOUT` when the time is over; a RangeError when the stack is.
 */
export function within<T>(ms: number, work: () => T): T {
  box ??= createContext({}) as { work?: (() => unknown) | undefined };
  entry ??= new Script("work()");
  box.work = work;
  try {
    return entry.runInContext(box, { timeout: Math.max(1, Math.min(MOST_MS, Math.ceil(ms))) }) as T;
  } finally {
    box.work = undefined;
  }
}
