import { createHash } from "node:crypto";

/** Stands between the prefix and the tool's own name. Names are never split at it again: that is what the table is for. */
const SEPARATOR = "__";
/** Clients refuse longer names, and other characters. */
const MAX_NAME_CHARACTERS = 64;
const NOT_IN_NAME = /[^a-zA-Z0-9_-]+/g;
const LEGAL = /^[a-zA-Z0-9_-]+$/;
const ASCII = /^[ -~]*$/;

/** A tool of an upstream, under the upstream's own name. */
export interface UpstreamTool {
  upstream: string;
  tool: string;
}

/**
 * The names under which the gateway offers tools: `prefix__tool`, in characters that every client takes. A name once
 * given stays with its tool for as long as the process lives, so that no tool answers to a name that was another one's.
 */
export class ToolNames {
  readonly #byName = new Map<string, UpstreamTool>();
  readonly #byTool = new Map<string, string>();

  /** The name of a tool; the same one every time. */
  nameFor(prefix: string, { upstream, tool }: UpstreamTool): string {
    const key = JSON.stringify([upstream, tool]);
    const known = this.#byTool.get(key);
    if (known !== undefined) return known;
    const wanted = bounded(`${beginningOf(prefix)}${readable(tool)}`, key);
    // Two ids or names may be spelt alike.
    const name = this.#byName.has(wanted) ? withHash(wanted, key) : wanted;
    this.#byName.set(name, { upstream, tool });
    this.#byTool.set(key, name);
    return name;
  }

  /** The tool that has this name. */
  toolOf(name: string): UpstreamTool | undefined {
    return this.#byName.get(name);
  }
}

/** How a name of a tool begins when it belongs to this prefix. */
export const beginningOf = (prefix: string): string => (prefix === "" ? "" : `${readable(prefix)}${SEPARATOR}`);

const bounded = (name: string, key: string): string =>
  name.length <= MAX_NAME_CHARACTERS ? name : withHash(name, key);

/** In characters that clients take. What loses letters by that gets a hash: it might read like another name. */
function readable(text: string): string {
  if (LEGAL.test(text)) return text;
  const plain = text.replaceAll(NOT_IN_NAME, "_").replaceAll(/^_+|_+$/g, "");
  if (plain === "") return `x${hash(text)}`;
  return ASCII.test(text) ? plain : withHash(plain, text);
}

const withHash = (name: string, key: string): string => {
  const suffix = `_${hash(key)}`;
  return `${name.slice(0, MAX_NAME_CHARACTERS - suffix.length)}${suffix}`;
};

const hash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 8);
