import { runInThisContext } from "node:vm";
import { z } from "zod";

/** What this runner cannot check. The case counts as failed, marked TODO. */
export class Todo extends Error {
  override readonly name = "Todo";
}

/** Any JSON object of a case file. */
export type Json = Readonly<Record<string, unknown>>;

/** One line of a case file. */
export interface Case {
  id: string;
  group: string;
  title: string;
  input: Json;
  expected: string;
  assert: Json;
}

/** The cases of a JSONL text. Blank lines are skipped; a line that is no JSON object is an error that names it. */
export function readCases(text: string): Case[] {
  return text
    .split("\n")
    .map((line, index) => ({ line: line.trim(), number: index + 1 }))
    .filter(({ line }) => line !== "")
    .map(({ line, number }) => readCase(line, number));
}

function readCase(line: string, number: number): Case {
  let value: Partial<Case> | null;
  try {
    value = JSON.parse(line) as Partial<Case> | null;
  } catch (cause) {
    throw new Error(`line ${number} is no JSON`, { cause });
  }
  if (typeof value?.id !== "string") throw new Error(`line ${number} has no id`);
  return {
    title: "",
    expected: "",
    ...value,
    id: value.id,
    group: value.group ?? "",
    input: value.input ?? {},
    assert: value.assert ?? {},
  };
}

/**
 * Fails the case as TODO for a key that is not among `known`: what is not understood must never pass.
 *
 * @throws {Todo}
 */
export function knownKeys(object: unknown, known: Iterable<string>, where: string): void {
  const names = new Set(known);
  const unknown = Object.keys(asJson(object, where)).filter((key) => !names.has(key));
  if (unknown.length > 0) throw new Todo(`${where}: unknown key ${unknown.join(", ")}`);
}

/** The value as an object. @throws {Todo} when it is none. */
export function asJson(value: unknown, where: string): Json {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Json;
  throw new Todo(`${where}: expected an object, got ${JSON.stringify(value) ?? "nothing"}`);
}

/** The value as a list of strings; one string stands for a list of it. @throws {Todo} when it is neither. */
export function asStrings(value: unknown, where: string): string[] {
  const list = Array.isArray(value) ? value : [value];
  if (list.every((item) => typeof item === "string")) return list as string[];
  throw new Todo(`${where}: expected text, got ${JSON.stringify(value)}`);
}

/** The value as text. @throws {Todo} when it is none. */
export function asText(value: unknown, where: string): string {
  if (typeof value === "string") return value;
  throw new Todo(`${where}: expected text, got ${JSON.stringify(value)}`);
}

/** The value as a list. @throws {Todo} when it is none. */
export function asList(value: unknown, where: string): unknown[] {
  if (Array.isArray(value)) return value as unknown[];
  throw new Todo(`${where}: expected a list, got ${JSON.stringify(value)}`);
}

/** The value of a JavaScript expression of a case file; `z` is zod. Case files are part of the tests, not hostile. */
export function evaluate(expression: unknown): unknown {
  const make = runInThisContext(`(z) => (${String(expression)})`) as (zod: typeof z) => unknown;
  return make(z);
}

/** The input with `generate` and every `...Expr` key evaluated, and times multiplied by `scale`. */
export function expandInput(input: Json): Json {
  const { generate, scale, ...rest } = input;
  const generated = generate === undefined ? {} : generatedValues(asJson(generate, "generate"));
  const expanded = expandExpressions({ ...rest, ...generated }) as Json;
  return typeof scale === "number" ? (scaleTimes(expanded, scale) as Json) : expanded;
}

function generatedValues(generate: Json): Record<string, unknown> {
  knownKeys(generate, ["script", "tools", "openapi"], "generate");
  return Object.fromEntries(Object.entries(generate).map(([key, expression]) => [key, evaluate(expression)]));
}

function expandExpressions(value: unknown): unknown {
  return mapEntries(value, expandExpressions, (key, item) => {
    return key.length > 4 && key.endsWith("Expr") ? [key.slice(0, -4), evaluate(item)] : undefined;
  });
}

/** Multiplies every time of a case: keys that end in `Ms`, and `ms`. */
export function scaleTimes(value: unknown, factor: number): unknown {
  return mapEntries(
    value,
    (item) => scaleTimes(item, factor),
    (key, item) => (typeof item === "number" && /(^ms|Ms)$/.test(key) ? [key, item * factor] : undefined),
  );
}

/** A copy of plain data with each entry replaced by `replace`, or its value by `recurse`. */
function mapEntries(
  value: unknown,
  recurse: (item: unknown) => unknown,
  replace: (key: string, item: unknown) => [string, unknown] | undefined,
): unknown {
  if (Array.isArray(value)) return value.map(recurse);
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => replace(key, item) ?? [key, recurse(item)]));
}
