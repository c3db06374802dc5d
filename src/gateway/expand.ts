import { homedir } from "node:os";
import type { Awaitable } from "../catalog/tool.js";
import { ConfigurationError } from "../errors.js";
import { nearestNames } from "../nearest.js";
import type { Secrets } from "./secrets.js";

/** A value that a configuration asks its user for: an entry of `inputs`, as VS Code writes them. */
export interface InputDefinition {
  id: string;
  description?: string;
  /** The answer when nobody can be asked. */
  default?: string;
  [key: string]: unknown;
}

/** Answers `${input:id}`; undefined: the default, else an error. Asked once for each id. */
export type AskInput = (input: InputDefinition) => Awaitable<string | undefined>;

/** The environment of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** What references are answered from. */
export interface ExpandOptions {
  env: Environment;
  inputs: readonly InputDefinition[];
  ask: AskInput | undefined;
  secrets: Secrets;
}

/** Where a text stands, for errors. */
export interface Place {
  server: string;
  /** Path within the entry of the server, such as `env.TOKEN`. */
  key: string;
}

const REFERENCE = /\$\{([^{}]*)\}/g;
const VARIABLE = /^(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([\s\S]*))?$/;

/**
 * Fills references in the texts of a configuration: `${VAR}`, `${VAR:-default}`, `${env:VAR}`, `${input:id}`, and VS
 * Code's `${userHome}` and `${workspaceFolder}` (the working directory). What was filled in is not looked at again.
 */
export class Expander {
  readonly #options: ExpandOptions;
  readonly #answers = new Map<string, Promise<string | undefined>>();

  constructor(options: ExpandOptions) {
    this.#options = options;
  }

  /** @throws {ConfigurationError} for a reference that has no value; the message names it, the server and the key. */
  async expand(text: string, place: Place): Promise<string> {
    let expanded = "";
    let end = 0;
    for (const match of text.matchAll(REFERENCE)) {
      expanded += text.slice(end, match.index) + (await this.#valueOf(match[1] ?? "", place));
      end = match.index + match[0].length;
    }
    return expanded + text.slice(end);
  }

  async #valueOf(reference: string, place: Place): Promise<string> {
    if (reference.startsWith("cmd:")) throw refusedCommand(place);
    if (reference.startsWith("input:")) return this.#input(reference.slice("input:".length), place);
    const [, name, fallback] = VARIABLE.exec(reference) ?? [];
    if (name === undefined) throw unknownReference(reference, place);
    return this.#variable(name, fallback, place);
  }

  #variable(name: string, fallback: string | undefined, place: Place): string {
    const { env, secrets } = this.#options;
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    // As in a shell: `:-` stands for a variable that is empty, too.
    if (value !== undefined && !(value === "" && fallback !== undefined)) {
      secrets.addExpanded(value, name);
      return value;
    }
    const builtIn = BUILT_IN.get(name)?.();
    if (fallback === undefined && builtIn === undefined) throw missingVariable(name, place, env);
    return builtIn ?? fallback ?? "";
  }

  async #input(id: string, place: Place): Promise<string> {
    const { inputs, ask, secrets } = this.#options;
    const definition = inputs.find((input) => input.id === id) ?? { id };
    const answer = this.#answers.get(id) ?? Promise.resolve(ask?.(definition));
    this.#answers.set(id, answer);
    const value = (await answer) ?? definition.default;
    if (value === undefined) throw missingInput(id, place);
    secrets.addExpanded(value, `input:${id}`);
    return value;
  }
}

const BUILT_IN: ReadonlyMap<string, () => string> = new Map([
  ["userHome", () => homedir()],
  ["workspaceFolder", () => process.cwd()],
]);

const at = ({ server, key }: Place): string => `Server ${JSON.stringify(server)}, ${key}`;

function missingVariable(name: string, place: Place, env: Environment): ConfigurationError {
  const [nearest] = nearestNames(name, Object.keys(env), 1);
  const hint = nearest === undefined ? "" : ` Did you mean ${nearest}?`;
  return new ConfigurationError(
    `${at(place)}: the environment variable ${name} is not set.${hint} Set it, or write \${${name}:-default}.`,
    { details: { ...place, variable: name } },
  );
}

function missingInput(id: string, place: Place): ConfigurationError {
  return new ConfigurationError(
    `${at(place)}: nobody answered the input ${JSON.stringify(id)}. Give it (--input ${id}=value), or give it a default.`,
    { details: { ...place, input: id } },
  );
}

/** A configuration that somebody sent must not be able to run programs by being read. */
function refusedCommand(place: Place): ConfigurationError {
  return new ConfigurationError(
    `${at(place)}: \${cmd:...} would run a program while the configuration is read, and is refused. Put the value into an environment variable.`,
    { details: place },
  );
}

function unknownReference(reference: string, place: Place): ConfigurationError {
  return new ConfigurationError(
    `${at(place)}: \${${reference.slice(0, 64)}} is no reference. Known: \${VAR}, \${VAR:-default}, \${env:VAR}, \${input:id}.`,
    { details: place },
  );
}
