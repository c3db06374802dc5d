import { serverOf, type Tool } from "../catalog/tool.js";
import { nearestNames } from "../nearest.js";
import { bareName } from "./fields.js";

/** Longest query that is read as a list of names. */
export const MAX_LIST_CHARACTERS = 8_000;

/** Most names in one query. */
export const MAX_LISTED_NAMES = 200;

/** Unknown names for which near ones are looked up; the rest come without. */
export const MAX_SUGGESTED_NAMES = 10;

/** Catalogs up to this size are compared whole with an unknown name; of larger ones, names that share a part with it. */
const COMPARED_WHOLE = 500;
const SHARED_PART = 3;

/** An asked name that no tool has. */
export interface UnknownName {
  name: string;
  /** Names of tools that were probably meant, nearest first. */
  nearest: string[];
}

/** The tools of a query that asked for tools by name. */
export interface PickedNames {
  /** In the order asked for, each once. */
  found: Tool[];
  unknown: UnknownName[];
}

/**
 * Reads a query as one or several tool names, separated by commas or line breaks; quotes, backticks and list markers
 * around a name are ignored. It is a name query
 * - when every part is the name of a tool, or
 * - when there are two parts or more, one of them is the name of a tool, and all look like identifiers.
 *
 * Otherwise it is a search for words: `undefined`. A tool is known by its name, its name without or with its server
 * (`create_issue`, `github.create_issue`, `github__create_issue`), and by any of these in another case style
 * (`createIssue`). A part with blanks in it is only known when a tool is called exactly so. A name that tools of
 * several servers have picks them all.
 *
 * @example
 * pickNames("create_issue, `closeIssue`, ping", tools);
 * // { found: [create_issue, close_issue], unknown: [{ name: "ping", nearest: [] }] }
 * pickNames("close an issue", tools); // undefined
 */
export function pickNames(query: string, tools: readonly Tool[]): PickedNames | undefined {
  const parts = partsOf(query);
  if (parts.length === 0 || parts.length > MAX_LISTED_NAMES) return undefined;
  const directory = new NameDirectory(tools);
  const matches = parts.map((name) => ({ name, tools: directory.find(name) }));
  const known = matches.filter((match) => match.tools.length > 0);
  const isNameQuery =
    known.length === parts.length || (known.length > 0 && parts.every((part) => IDENTIFIER.test(part)));
  if (!isNameQuery) return undefined;
  const unknown = matches.filter((match) => match.tools.length === 0);
  return {
    found: [...new Set(known.flatMap((match) => match.tools))],
    unknown: unknown.map(({ name }, index) => ({
      name,
      nearest: index < MAX_SUGGESTED_NAMES ? nearestNames(name, directory.candidates(name)) : [],
    })),
  };
}

const IDENTIFIER = /^[\p{L}_$][\p{L}\p{M}\p{N}_$.:/-]*$/u;
const AROUND_NAMES = /^[\s"'`“”‘’([{*-]+|[\s"'`“”‘’)\]};.*]+$/gu;

/** The parts of a query; the query itself when that is the name of a tool is found by being one part. */
function partsOf(query: string): string[] {
  if (query.length > MAX_LIST_CHARACTERS) return [];
  const parts = query.split(/[,\n]/).map((part) => part.replace(AROUND_NAMES, ""));
  return [...new Set(parts)].filter(Boolean);
}

const fold = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{M}\p{N}]/gu, "");

/** Tools by their names, and by other spellings of them once one is asked for. */
class NameDirectory {
  readonly #tools: readonly Tool[];
  readonly #byName: ReadonlyMap<string, Tool>;
  #byFolded: Map<string, Tool[]> | undefined;

  constructor(tools: readonly Tool[]) {
    this.#tools = tools;
    this.#byName = new Map(tools.map((tool) => [tool.name, tool]));
  }

  find(name: string): readonly Tool[] {
    const exact = this.#byName.get(name);
    if (exact) return [exact];
    if (!IDENTIFIER.test(name)) return [];
    this.#byFolded ??= this.#fold();
    return this.#byFolded.get(fold(name)) ?? [];
  }

  /** Names worth comparing with an unknown one. */
  candidates(name: string): string[] {
    const names = [...this.#byName.keys()];
    if (names.length <= COMPARED_WHOLE) return names;
    const folded = fold(name.slice(0, 64));
    const parts = Array.from({ length: Math.max(1, folded.length - SHARED_PART + 1) }, (_, at) =>
      folded.slice(at, at + SHARED_PART),
    );
    return names.filter((candidate) => {
      const other = fold(candidate.slice(0, 64));
      return parts.some((part) => other.includes(part));
    });
  }

  #fold(): Map<string, Tool[]> {
    const found = new Map<string, Tool[]>();
    for (const tool of this.#tools) {
      const server = serverOf(tool);
      const bare = bareName(tool.name, server);
      for (const folded of new Set([fold(tool.name), fold(bare), fold(`${server ?? ""}${bare}`)])) {
        const others = found.get(folded);
        if (others) others.push(tool);
        else found.set(folded, [tool]);
      }
    }
    found.delete("");
    return found;
  }
}
