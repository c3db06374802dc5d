/**
 * What a script finds besides `call_tool`, as plain JavaScript: for sandbox providers that take the body of an async
 * function and have no prelude of their own.
 */

/** `tools.<path>(args)`: `call_tool` with the path as name; a sole `result` is unwrapped, JSON text of objects and arrays is parsed. */
const TOOLS = `
const normalize = (value) => {
  if (typeof value === "string") { try { return /^\\s*[{[]/.test(value) ? JSON.parse(value) : value; } catch { return value; } }
  const sole = value !== null && typeof value === "object" && !Array.isArray(value) && Object.hasOwn(value, "result") && Object.keys(value).length === 1;
  return sole ? value.result : value;
};
const toolAt = (path) => new Proxy(async (...args) => normalize(await call_tool(path, ...args)), {
  get: (_, key) => (typeof key === "string" && key !== "then" && key !== "toJSON" ? toolAt(path + "." + key) : undefined),
});
const tools = new Proxy(Object.create(null), {
  get: (_, key) => (typeof key === "string" && key !== "then" && key !== "toJSON" ? toolAt(key) : undefined),
});
`;

const ONE_LINE = TOOLS.trim().replace(/\n\s*/g, " ");

/**
 * The body of an async function with `tools` in scope around it. The body keeps its line numbers, since everything
 * before it is on its first line, and its own scope, so that it may declare `tools` itself.
 *
 * @param body The body of an async function, from `toFunctionBody`.
 */
export function portablePrelude(body: string): string {
  return `${ONE_LINE} return await (async () => {${body}\n})();`;
}
