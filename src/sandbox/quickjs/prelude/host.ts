import {
  create,
  defineProperty,
  includes,
  indexOf,
  NewError,
  NewWeakMap,
  slice,
  weakMapGet,
  weakMapSet,
} from "../../values/intrinsics.js";

type HostFunction = (kind: number, id: number, text: string) => void;

interface Setup {
  __host?: HostFunction;
  __control?: ArrayBuffer;
}

const setup = globalThis as Setup;

/** The only function of the host. */
export const host = setup.__host as HostFunction;

/** A block of memory that guest and worker share. See {@link WORD}. */
const control = setup.__control as ArrayBuffer;
export const words = new Uint32Array(control);
export const times = new Float64Array(control);
delete setup.__host;
delete setup.__control;

/** Meaning of the control block: 32-bit words, then 64-bit floats (index 4 is byte 32). */
export const WORD = {
  REPLY_ID: 1,
  /** 1 when the script names RESULT: only then is it looked for. */
  MAY_ASSIGN: 2,
  /** Four words of random state begin here. */
  SEED: 4,
} as const;
/** When the next timer of the script is due, in the milliseconds of `Date.now()`; 0 for none. */
export const NEXT_TIMER = 4;
/** When the run began, in the same time. */
export const RUN_START = 5;

/** Errors that came from the host, with their kind: known by identity, so that no script can make one. */
const hostErrors = new NewWeakMap<object, { kind: string; details: unknown }>();

/** What is known of an error that came from the host. */
export const hostErrorOf = (error: object): { kind: string; details: unknown } | undefined =>
  weakMapGet(hostErrors, error);

/** An error of the host as the script meets it. */
export function newHostError(name: string, message: string, kind: string, details: unknown, stack?: string): Error {
  const error = new NewError(message);
  hide(error, "stack", scriptFrames(stack ?? (error.stack as string)));
  hide(error, "name", name);
  hide(error, "kind", kind);
  if (details !== undefined) hide(error, "details", details);
  const facts = details as { data?: unknown; code?: unknown } | null | undefined;
  if (typeof facts === "object" && facts !== null) {
    if (facts.data !== undefined) hide(error, "data", facts.data);
    if (facts.code !== undefined) hide(error, "code", facts.code);
  }
  weakMapSet(hostErrors, error, { kind, details });
  return error;
}

/** The lines of a stack that are the script's own: how the guest's side works is nobody's business. */
function scriptFrames(stack: string): string {
  let frames = "";
  for (let from = 0; from < stack.length;) {
    const end = indexOf(stack, "\n", from);
    const line = slice(stack, from, end < 0 ? stack.length : end + 1);
    const isOurs = includes(line, "(prelude.js") || (frames === "" && !includes(line, "(script.js"));
    if (!isOurs) frames += line;
    from += line.length;
  }
  return frames;
}

function hide(target: object, key: string, value: unknown): void {
  defineProperty(target, key, { value, writable: true, configurable: true, enumerable: false });
}

/** A table without a prototype: no key of it can be met by a script's setter. */
export const newTable = <T>(): Record<number, T> => create(null) as Record<number, T>;
