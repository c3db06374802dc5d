import { create, defineProperty, hasOwn, includes, isArray, keysOf, NewProxy, parse } from "../../values/intrinsics.js";
import { callHost } from "./bridge.js";

/**
 * `tools.<identifier>(args)`, behind a gateway `tools.<server>.<tool>(args)`: `call_tool` with the path as name, and the
 * result made handy. The host resolves the path, so that no run carries the names of a whole catalog.
 */
export function installTools(): void {
  const tools = new NewProxy(create(null) as object, {
    get: (_target, key) =>
      typeof key === "string" && key !== "then" && key !== "toJSON" ? toolFunction(key) : undefined,
    has: (_target, key) => typeof key === "string",
    set: () => false,
  });
  defineProperty(globalThis, "tools", { value: tools, writable: true, configurable: true, enumerable: false });
}

function toolFunction(path: string): object {
  const call = async (...args: unknown[]): Promise<unknown> =>
    normalize(await callHost("call_tool", withFirst(path, args)));
  // Every other key is a tool of a server, even one named `name` or `call`.
  return new NewProxy(call, {
    get: (_target, key) =>
      typeof key === "string" && key !== "then" && key !== "toJSON" ? toolFunction(path + "." + key) : undefined,
  });
}

/** A new array, made without the iterators and setters of a script. */
function withFirst(first: unknown, rest: readonly unknown[]): unknown[] {
  const all = [first];
  for (let index = 0; index < rest.length; index++) {
    defineProperty(all, index + 1, { value: rest[index], writable: true, enumerable: true, configurable: true });
  }
  return all;
}

/** What `call_tool` gave: a sole `result` is unwrapped, text that is a JSON object or array is parsed. */
export function normalize(value: unknown): unknown {
  if (typeof value === "string") return parsedOrText(value);
  if (typeof value !== "object" || value === null || isArray(value)) return value;
  return hasOwn(value, "result") && keysOf(value).length === 1 ? (value as { result: unknown }).result : value;
}

function parsedOrText(text: string): unknown {
  let at = 0;
  while (at < text.length && includes(" \n\r\t", text[at] as string)) at++;
  if (text[at] !== "{" && text[at] !== "[") return text;
  try {
    return parse(text);
  } catch {
    return text;
  }
}
