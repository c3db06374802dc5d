import {
  apply,
  arrayValues,
  charCodeAt,
  fromCharCode,
  includes,
  getOwnPropertyDescriptor,
  indexOf,
  iteratorSymbol,
  defineProperty,
  keysOf,
  NewTypeError,
  slice,
  toText,
} from "../../values/intrinsics.js";
import { append, defineClass } from "./define.js";
import { forEachOf } from "./iterate.js";
import { percent, percentDecode } from "./percent.js";
import { eachUtf8Byte } from "./utf8.js";

type Pair = [name: string, value: string];

interface State {
  pairs: Pair[];
  /** Tells the URL it belongs to. */
  changed: (() => void) | undefined;
}

/** The pairs of a query text. */
export function pairsOf(query: string): Pair[] {
  const pairs: Pair[] = [];
  for (let from = 0; from <= query.length;) {
    const end = indexOf(query, "&", from);
    const part = slice(query, from, end < 0 ? query.length : end);
    const equals = indexOf(part, "=");
    const name = equals < 0 ? part : slice(part, 0, equals);
    if (part !== "") append(pairs, [decoded(name), equals < 0 ? "" : decoded(slice(part, equals + 1))]);
    from += part.length + 1;
  }
  return pairs;
}

function decoded(text: string): string {
  let spaced = "";
  for (let at = 0; at < text.length; at++) spaced += text[at] === "+" ? " " : (text[at] as string);
  return percentDecode(spaced);
}

function encoded(text: string): string {
  let result = "";
  eachUtf8Byte(text, (byte) => {
    const letter = byte | 32;
    const isPlain = (letter >= 97 && letter <= 122) || (byte >= 48 && byte <= 57);
    const char = fromCharCode(byte);
    result += byte === 32 ? "+" : isPlain || includes("*-._", char) ? char : percent(byte);
  });
  return result;
}

/** The pairs as a query text. */
export function queryOf(pairs: readonly Pair[]): string {
  let text = "";
  for (let index = 0; index < pairs.length; index++) {
    const pair = pairs[index] as Pair;
    text += (index > 0 ? "&" : "") + encoded(pair[0]) + "=" + encoded(pair[1]);
  }
  return text;
}

class Params {
  readonly #state: State = { pairs: [], changed: undefined };

  constructor(init?: unknown) {
    const { pairs } = this.#state;
    if (init === undefined || init === null) return;
    if (typeof init !== "object" && typeof init !== "function") {
      const text = toText(init);
      this.#state.pairs = pairsOf(text[0] === "?" ? slice(text, 1) : text);
    } else if (typeof (init as Record<symbol, unknown>)[iteratorSymbol] === "function") {
      forEachOf(init, (item) => append(pairs, pairFrom(item)));
    } else {
      const keys = keysOf(init);
      for (let index = 0; index < keys.length; index++) {
        const key = keys[index] as string;
        append(pairs, [key, toText((init as Record<string, unknown>)[key])]);
      }
    }
  }

  static stateOf(this: void, params: Params): State {
    return params.#state;
  }

  get size(): number {
    return this.#state.pairs.length;
  }

  append(name: unknown, value: unknown): void {
    append(this.#state.pairs, [toText(name), toText(value)]);
    changed(this.#state);
  }

  delete(name: unknown, value?: unknown): void {
    const wanted = toText(name);
    filter(this.#state, (pair) => pair[0] !== wanted || (value !== undefined && pair[1] !== toText(value)));
  }

  get(name: unknown): string | null {
    const { pairs } = this.#state;
    const at = positionOf(pairs, toText(name));
    return at < 0 ? null : (pairs[at] as Pair)[1];
  }

  getAll(name: unknown): string[] {
    const { pairs } = this.#state;
    const wanted = toText(name);
    const values: string[] = [];
    for (let index = 0; index < pairs.length; index++) {
      const pair = pairs[index] as Pair;
      if (pair[0] === wanted) append(values, pair[1]);
    }
    return values;
  }

  has(name: unknown, value?: unknown): boolean {
    const { pairs } = this.#state;
    const wanted = toText(name);
    for (let index = 0; index < pairs.length; index++) {
      const pair = pairs[index] as Pair;
      if (pair[0] === wanted && (value === undefined || pair[1] === toText(value))) return true;
    }
    return false;
  }

  set(name: unknown, value: unknown): void {
    const state = this.#state;
    const wanted = toText(name);
    const first = positionOf(state.pairs, wanted);
    if (first < 0) append(state.pairs, [wanted, toText(value)]);
    else (state.pairs[first] as Pair)[1] = toText(value);
    const kept = state.pairs[first];
    filter(state, (pair) => first < 0 || pair === kept || pair[0] !== wanted);
  }

  sort(): void {
    const { pairs } = this.#state;
    for (let index = 1; index < pairs.length; index++) {
      const pair = pairs[index] as Pair;
      let at = index;
      for (; at > 0 && isAfter((pairs[at - 1] as Pair)[0], pair[0]); at--) pairs[at] = pairs[at - 1] as Pair;
      pairs[at] = pair;
    }
    changed(this.#state);
  }

  forEach(visit: (value: string, name: string, params: Params) => void, self?: unknown): void {
    if (typeof visit !== "function") throw new NewTypeError("The callback must be a function");
    const { pairs } = this.#state;
    for (let index = 0; index < pairs.length; index++) {
      const pair = pairs[index] as Pair;
      apply(visit, self, [pair[1], pair[0], this]);
    }
  }

  entries(): IterableIterator<Pair> {
    return arrayValues(copied(this.#state.pairs, (pair): Pair => [pair[0], pair[1]]));
  }

  keys(): IterableIterator<string> {
    return arrayValues(copied(this.#state.pairs, (pair) => pair[0]));
  }

  values(): IterableIterator<string> {
    return arrayValues(copied(this.#state.pairs, (pair) => pair[1]));
  }

  toString(): string {
    return queryOf(this.#state.pairs);
  }
}

const { stateOf } = Params;
delete (Params as { stateOf?: unknown }).stateOf;

function pairFrom(item: unknown): Pair {
  const parts: string[] = [];
  forEachOf(item, (part) => append(parts, toText(part)));
  if (parts.length !== 2) throw new NewTypeError("Each pair of URLSearchParams must be [name, value]");
  return [parts[0] as string, parts[1] as string];
}

function changed(state: State): void {
  const tell = state.changed;
  if (tell !== undefined) tell();
}

function filter(state: State, keeps: (pair: Pair) => boolean): void {
  const kept: Pair[] = [];
  for (let index = 0; index < state.pairs.length; index++) {
    const pair = state.pairs[index] as Pair;
    if (keeps(pair)) append(kept, pair);
  }
  state.pairs = kept;
  changed(state);
}

function positionOf(pairs: readonly Pair[], name: string): number {
  for (let index = 0; index < pairs.length; index++) if ((pairs[index] as Pair)[0] === name) return index;
  return -1;
}

function copied<T>(pairs: readonly Pair[], take: (pair: Pair) => T): T[] {
  const items: T[] = [];
  for (let index = 0; index < pairs.length; index++) append(items, take(pairs[index] as Pair));
  return items;
}

/** By UTF-16 units, as the standard says. */
function isAfter(left: string, right: string): boolean {
  for (let at = 0; at < left.length && at < right.length; at++) {
    const difference = charCodeAt(left, at) - charCodeAt(right, at);
    if (difference !== 0) return difference > 0;
  }
  return left.length > right.length;
}

/** The parameters of a URL. `onChange` is called whenever a script changes them. */
export function newParams(query: string, onChange: () => void): Params {
  const params = new Params(query === "" ? undefined : "?" + query);
  stateOf(params).changed = onChange;
  return params;
}

/** Sets the pairs without telling the URL. */
export function resetParams(params: Params, query: string): void {
  stateOf(params).pairs = pairsOf(query);
}

/** The query text of the parameters. */
export const paramsText = (params: Params): string => queryOf(stateOf(params).pairs);

export type { Params };

/** `URLSearchParams`. */
export function installSearchParams(): void {
  defineProperty(Params.prototype, iteratorSymbol, getOwnPropertyDescriptor(Params.prototype, "entries") ?? {});
  defineClass("URLSearchParams", Params);
}
