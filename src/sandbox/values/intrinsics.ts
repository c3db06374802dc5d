/* oxlint-disable typescript/unbound-method -- taking methods off their prototypes is what this file is for */
/**
 * The language as it was when this module was loaded. In the guest that is before any script ran, so whatever a script
 * replaces afterwards, code that uses only these names goes on as written.
 *
 * Methods are functions of their `this`: `slice(text, 0, 3)`. A bound `call` needs no property of the function at run time.
 */
const { call } = Function.prototype;
type Unbound<T extends unknown[], R> = (target: never, ...args: T) => R;

/** A method as a function of its `this`. Only of use while this module and those that import it are loaded. */
export function uncurry<This, Args extends unknown[], Result>(
  method: (...args: Args) => Result,
): (target: This, ...args: Args) => Result {
  return call.bind(method as unknown as Unbound<Args, Result>) as (target: This, ...args: Args) => Result;
}

/** The getter of an accessor property, as a function of its `this`; undefined where the engine has none. */
function getter<Result>(prototype: object, name: string | symbol): (target: object) => Result {
  const get = Object.getOwnPropertyDescriptor(prototype, name)?.get;
  return get === undefined ? () => undefined as Result : uncurry<object, [], Result>(get);
}

/** `read`, or undefined where it throws because its `this` is of another class. */
function ifOwnClass<Result>(read: (target: object) => Result): (target: object) => Result | undefined {
  return (target) => {
    try {
      return read(target);
    } catch {
      return undefined;
    }
  };
}

export const { parse, stringify } = JSON;
export const { apply, ownKeys } = Reflect;
const { defineProperty: define, setPrototypeOf } = Object;
export const { create, getPrototypeOf, hasOwn, getOwnPropertyDescriptor, freeze } = Object;
/** `Object.defineProperty`, for a descriptor of its own keys alone: a script may have put `get` on Object.prototype. */
export const defineProperty = <T extends object>(target: T, key: PropertyKey, descriptor: PropertyDescriptor): T =>
  define(target, key, setPrototypeOf(descriptor, null) as PropertyDescriptor);
export const keysOf: (value: object) => string[] = Object.keys;
export const { isArray } = Array;
export const objectPrototype: object = Object.prototype;
export const arrayPrototype: object = Array.prototype;
export const functionToText: (value: unknown) => string = uncurry(Function.prototype.toString) as (
  value: unknown,
) => string;

export const includes = uncurry<string, [string], boolean>(String.prototype.includes as (text: string) => boolean);
export const indexOf = uncurry<string, [string, number?], number>(String.prototype.indexOf);
export const slice = uncurry<string, [number, number?], string>(String.prototype.slice);
export const charCodeAt = uncurry<string, [number], number>(String.prototype.charCodeAt);
export const repeat = uncurry<string, [number], string>(String.prototype.repeat);
export const lastIndexOf = uncurry<string, [string], number>(String.prototype.lastIndexOf as (text: string) => number);
export const toLowerCase = uncurry<string, [], string>(String.prototype.toLowerCase);
export const normalizeText = uncurry<string, [], string>(String.prototype.normalize as () => string);
export const fromCharCode: (...codes: number[]) => string = String.fromCharCode;
export const toText: (value: unknown) => string = String;
export const toNumber: (value: unknown) => number = Number;
export const toBigInt: (value: string) => bigint = BigInt;
export const now: () => number = Date.now;
export const { floor, imul } = Math;
export const symbolDescription = getter<string | undefined>(Symbol.prototype, "description") as (
  value: unknown,
) => string | undefined;

export const { iterator: iteratorSymbol, asyncIterator: asyncIteratorSymbol, toStringTag: tagSymbol } = Symbol;
export const arrayValues = uncurry<object, [], object>(Array.prototype.values) as <T>(
  items: readonly T[],
) => IterableIterator<T>;
export const promisePrototype: object = Promise.prototype;

export const NewMap = Map;
export const NewSet = Set;
export const NewDate = Date;
export const NewRegExp = RegExp;
export const NewError = Error;
export const NewTypeError = TypeError;
export const NewPromise = Promise;
export const NewProxy = Proxy;
export const NewWeakMap = WeakMap;
export const NewUint8Array = Uint8Array;
export const NewArrayBuffer = ArrayBuffer;
export const NewRangeError = RangeError;
export const NewURIError = URIError;

export const mapGet = uncurry<object, [unknown], unknown>(Map.prototype.get) as <K, V>(
  map: Map<K, V>,
  key: K,
) => V | undefined;
export const mapSet = uncurry<object, [unknown, unknown], unknown>(Map.prototype.set) as <K, V>(
  map: Map<K, V>,
  key: K,
  value: V,
) => void;
export const mapForEach = uncurry<object, [(value: unknown, key: unknown) => void], void>(Map.prototype.forEach);
export const setAdd = uncurry<object, [unknown], unknown>(Set.prototype.add) as (
  set: Set<unknown>,
  value: unknown,
) => void;
export const setForEach = uncurry<object, [(value: unknown) => void], void>(Set.prototype.forEach);
export const weakMapGet = uncurry<object, [object], unknown>(WeakMap.prototype.get as (key: object) => unknown) as <V>(
  map: WeakMap<object, V>,
  key: object,
) => V | undefined;
export const weakMapSet = uncurry<object, [object, unknown], unknown>(
  WeakMap.prototype.set as (key: object, value: unknown) => unknown,
) as <V>(map: WeakMap<object, V>, key: object, value: V) => void;

/** Size of a Map; undefined for anything else. */
export const mapSize = ifOwnClass(getter<number>(Map.prototype, "size"));
/** Size of a Set; undefined for anything else. */
export const setSize = ifOwnClass(getter<number>(Set.prototype, "size"));
/** Milliseconds of a Date (NaN when invalid); undefined for anything else. */
export const dateGetTime = ifOwnClass(uncurry<object, [], number>(Date.prototype.getTime));
export const dateToISOString = uncurry<object, [], string>(Date.prototype.toISOString);
/** Bytes of an ArrayBuffer; undefined for anything else. */
export const arrayBufferByteLength = ifOwnClass(getter<number>(ArrayBuffer.prototype, "byteLength"));
const typedArrayPrototype = getPrototypeOf(Uint8Array.prototype) as object;
/** Name of a typed array's class; undefined for anything else. */
export const typedArrayName = getter<string | undefined>(typedArrayPrototype, Symbol.toStringTag);
/** Elements of a typed array. Not its `length`: that is a script's to set. */
export const typedArrayLength = getter<number>(typedArrayPrototype, "length");

const bufferOf = getter<ArrayBuffer>(typedArrayPrototype, "buffer");
const byteOffsetOf = getter<number>(typedArrayPrototype, "byteOffset");
const byteLengthOf = getter<number>(typedArrayPrototype, "byteLength");

/** The bytes of a typed array, whatever a script has made of its properties. */
export const bytesOfView = (view: object): Uint8Array =>
  new NewUint8Array(bufferOf(view), byteOffsetOf(view), byteLengthOf(view));

const sourceOf = getter<string>(RegExp.prototype, "source");
const flagsOf = getter<string>(RegExp.prototype, "flags");

/** Source of a RegExp; undefined for anything else (`RegExp.prototype` itself included). */
export function regExpSource(value: object): string | undefined {
  if (getOwnPropertyDescriptor(value, "lastIndex")?.configurable !== false) return undefined;
  try {
    return sourceOf(value);
  } catch {
    return undefined;
  }
}

/** Flags of a RegExp. */
export const regExpFlags = (value: object): string => toText(flagsOf(value));

const errorPrototype: object = Error.prototype;
const isPrototypeOf = uncurry<object, [object], boolean>(Object.prototype.isPrototypeOf as (value: object) => boolean);

/** Name and message of an Error or a subclass instance; undefined for anything else. */
export function errorLike(value: object): { name: string; message: string } | undefined {
  if (!isPrototypeOf(errorPrototype, value)) return undefined;
  const { name, message } = value as Error;
  return { name: toText(name), message: toText(message) };
}

const VIEWS: Record<string, new (buffer: ArrayBuffer) => ArrayBufferView> = Object.assign(Object.create(null), {
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
  ArrayBuffer,
});

/** The typed array class of that name. */
export const viewOf = (name: unknown): (new (buffer: ArrayBuffer) => ArrayBufferView) | undefined =>
  typeof name === "string" ? VIEWS[name] : undefined;
