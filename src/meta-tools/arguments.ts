import type { Tool } from "../catalog/tool.js";
import { ValidationError } from "../errors.js";
import { nearestNames } from "../nearest.js";

/**
 * Reads the arguments of a meta-tool. What a model often gets slightly wrong is taken as meant (a number as text, one
 * tag instead of a list); what is unknown is refused, so that no invented argument is believed to have had an effect.
 */
export class MetaArguments {
  private readonly known: readonly string[];

  /** @throws {ValidationError} for an argument that the tool's inputSchema does not list. */
  constructor(
    private readonly tool: Tool,
    private readonly args: Readonly<Record<string, unknown>>,
  ) {
    this.known = Object.keys((tool.inputSchema["properties"] as object | undefined) ?? {});
    for (const name of Object.keys(args)) {
      if (!this.known.includes(name)) throw this.unknown(name);
    }
  }

  /** Absent and null are undefined. */
  string(name: string): string | undefined {
    const value = this.value(name);
    if (value === undefined || typeof value === "string") return value;
    throw this.wrong(name, "a string", value);
  }

  /** A whole number of at least `least`; also as text. */
  integer(name: string, least: number): number | undefined {
    const value = this.value(name);
    if (value === undefined) return undefined;
    const number = typeof value === "string" && /^\s*-?\d+\s*$/.test(value) ? Number(value) : value;
    if (typeof number === "number" && Number.isSafeInteger(number) && number >= least) return number;
    throw this.wrong(name, `a whole number of at least ${least}`, value);
  }

  /** Also as text. */
  boolean(name: string): boolean | undefined {
    const value = this.value(name);
    if (value === undefined || typeof value === "boolean") return value;
    if (value === "true" || value === "false") return value === "true";
    throw this.wrong(name, "true or false", value);
  }

  oneOf<T extends string>(name: string, values: readonly T[]): T | undefined {
    const value = this.value(name);
    if (value === undefined) return undefined;
    const found = values.find((candidate) => candidate === value);
    if (found !== undefined) return found;
    throw this.wrong(name, `one of ${values.map((candidate) => JSON.stringify(candidate)).join(", ")}`, value);
  }

  /** A list of strings; one string stands for a list of it. */
  strings(name: string): readonly string[] | undefined {
    const value = this.value(name);
    if (value === undefined) return undefined;
    if (typeof value === "string") return [value];
    if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value as string[];
    throw this.wrong(name, "a list of strings", value);
  }

  object(name: string): Record<string, unknown> | undefined {
    const value = this.value(name);
    if (value === undefined) return undefined;
    if (typeof value === "object" && !Array.isArray(value)) return value as Record<string, unknown>;
    throw this.wrong(name, "an object", value);
  }

  private value(name: string): NonNullable<unknown> | undefined {
    return Object.hasOwn(this.args, name) ? (this.args[name] ?? undefined) : undefined;
  }

  private unknown(name: string): ValidationError {
    const [nearest] = nearestNames(name, this.known, 1);
    const hint = nearest === undefined ? "" : ` Did you mean ${JSON.stringify(nearest)}?`;
    return new ValidationError(
      `${this.tool.name} has no argument ${JSON.stringify(name.slice(0, 64))}.${hint} It takes: ${this.known.join(", ")}.`,
      { details: { argument: name.slice(0, 64), nearest } },
    );
  }

  private wrong(name: string, expected: string, value: unknown): ValidationError {
    const got = typeof value === "number" || typeof value === "string" ? JSON.stringify(value) : typeof value;
    return new ValidationError(`${this.tool.name}: ${name} must be ${expected}, got ${got.slice(0, 64)}.`, {
      details: { argument: name },
    });
  }
}
