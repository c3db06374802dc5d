import { ConfigurationError } from "../errors.js";
import { nearestNames } from "../nearest.js";

/** Names every client takes: some refuse anything else, or more characters. */
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** Reads options that a user of plain JavaScript may have got wrong. Every error names the path and what was expected. */
export class OptionReader {
  private readonly options: Readonly<Record<string, unknown>>;

  /** @throws {ConfigurationError} when `options` is no object or has a key that is not known. */
  constructor(options: object, known: readonly string[]) {
    if (typeof options !== "object" || options === null || Array.isArray(options)) {
      throw new ConfigurationError(`The options must be an object, got ${kindOf(options)}.`);
    }
    this.options = options as Record<string, unknown>;
    for (const key of Object.keys(options)) if (!known.includes(key)) throw unknownOption(key, known);
  }

  boolean(name: string): boolean | undefined {
    return this.typed(name, "true or false", (value) => typeof value === "boolean");
  }

  /** true, false, or an object with nothing but these flags. */
  booleanOrFlags(name: string, flags: readonly string[]): boolean | Record<string, boolean> | undefined {
    const isFlags = (value: unknown): boolean =>
      isObject(value) &&
      Object.entries(value as object).every(([key, flag]) => flags.includes(key) && typeof flag === "boolean");
    const expected = `true or false or { ${flags.join(", ")} } with true or false`;
    return this.typed(name, expected, (value) => typeof value === "boolean" || isFlags(value));
  }

  string(name: string): string | undefined {
    return this.typed(name, "a string", (value) => typeof value === "string");
  }

  toolName(name: string): string | undefined {
    const expected = "a tool name of 1 to 64 characters out of a-z, A-Z, 0-9, _ and -";
    return this.typed(name, expected, (value) => typeof value === "string" && TOOL_NAME.test(value));
  }

  oneOf<T extends string>(name: string, values: readonly T[]): T | undefined {
    const expected = values.map((value) => JSON.stringify(value)).join(" or ");
    return this.typed(name, expected, (value) => (values as readonly unknown[]).includes(value));
  }

  object(name: string): Record<string, unknown> | undefined {
    return this.typed(name, "an object", isObject);
  }

  function(name: string): ((...args: never[]) => unknown) | undefined {
    return this.typed(name, "a function", isFunction);
  }

  functions(name: string): readonly ((...args: never[]) => unknown)[] | undefined {
    return this.typed(name, "a list of functions", (value) => Array.isArray(value) && value.every(isFunction));
  }

  /** An object with these methods. */
  objectWith(name: string, methods: readonly string[]): object | undefined {
    return this.typed(name, `an object with ${methods.join(" and ")}`, (value) => hasMethods(value, methods));
  }

  functionOrObjectWith(name: string, methods: readonly string[]): unknown {
    const expected = `a function or an object with ${methods.join(" and ")}`;
    return this.typed(name, expected, (value) => isFunction(value) || hasMethods(value, methods));
  }

  /** A list of objects with these methods; [] when it is not given. */
  listOf(name: string, methods: readonly string[]): readonly object[] {
    const list = this.typed<readonly unknown[]>(name, "a list", Array.isArray) ?? [];
    for (const [index, item] of list.entries()) {
      if (!hasMethods(item, methods))
        throw wrongType(`${name}[${index}]`, `an object with ${methods.join(" and ")}`, item);
    }
    return list as readonly object[];
  }

  /** @param words Other values that are taken. */
  namesOrFunction(name: string, words: readonly string[] = []): unknown {
    const isNames = (value: unknown): boolean =>
      Array.isArray(value) && value.every((item) => typeof item === "string");
    const others = words.map((word) => ` or ${JSON.stringify(word)}`).join("");
    return this.typed(
      name,
      `a list of tool names or a function${others}`,
      (value) => isNames(value) || isFunction(value) || words.includes(value as string),
    );
  }

  /** One of these values, or an object with nothing but these numbers. */
  valueOrNumbers(name: string, values: readonly unknown[], keys: readonly string[]): unknown {
    const expected = `${values.map((value) => JSON.stringify(value)).join(" or ")} or { ${keys.join(", ")} } with numbers of at least 1`;
    const isNumbers = (value: unknown): boolean =>
      isObject(value) &&
      Object.keys(value as object).every((key) => keys.includes(key)) &&
      keys.every((key) => Number((value as Record<string, unknown>)[key]) >= 1);
    return this.typed(name, expected, (value) => values.includes(value) || isNumbers(value));
  }

  /** `undefined` counts as not given, so that options can be spread together. */
  private typed<T>(name: string, expected: string, fits: (value: unknown) => boolean): T | undefined {
    const value = this.options[name];
    if (value === undefined) return undefined;
    if (!fits(value)) throw wrongType(name, expected, value);
    return value as T;
  }
}

const isFunction = (value: unknown): boolean => typeof value === "function";
const isObject = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value);

function hasMethods(value: unknown, methods: readonly string[]): boolean {
  return isObject(value) && methods.every((method) => isFunction((value as Record<string, unknown>)[method]));
}

function wrongType(path: string, expected: string, value: unknown): ConfigurationError {
  return new ConfigurationError(`Option ${path} must be ${expected}, got ${kindOf(value)}.`, {
    details: { option: path },
  });
}

function unknownOption(key: string, known: readonly string[]): ConfigurationError {
  const [nearest] = nearestNames(key, known, 1);
  const hint = nearest === undefined ? `Known options: ${known.join(", ")}.` : `Did you mean ${nearest}?`;
  return new ConfigurationError(`Unknown option "${key}". ${hint}`, { details: { option: key, nearest } });
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "string" ? JSON.stringify(value.slice(0, 64)) : typeof value;
}
