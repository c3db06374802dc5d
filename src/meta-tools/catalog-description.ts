import { isUntrusted, serverOf, type CallContext, type Tool } from "../catalog/tool.js";
import { inlineText } from "../catalog/untrusted-text.js";
import { firstSentence } from "../search/serializers/brief.js";
import { estimateTokens } from "../search/serializers/token-estimate.js";
import { NAMES_HEADING, SUMMARIES_HEADING } from "./descriptions.js";
import { byName } from "./find-tools.js";
import type { CatalogInDescription, CodeMode, MetaTool } from "./meta-tool.js";

/** Where some clients cut a description, in characters. */
export const MAX_DESCRIPTION_CHARACTERS = 2_048;
/** Tokens of the catalog for "names" and "summaries". */
const MAX_CATALOG_TOKENS = 4_000;
/** Characters of what one tool does. */
const MAX_SUMMARY_CHARACTERS = 120;
const MAX_NAME_CHARACTERS = 128;

/** The two meta-tools whose descriptions may name the catalog. */
export type CatalogPlace = "search" | "execute";

/** `listed` of a meta-tool whose description names tools. Where the tools cannot be listed it names none. */
export function listedWithCatalog(engine: CodeMode, tool: Tool, place: CatalogPlace): NonNullable<MetaTool["listed"]> {
  const places = placesByEngine.get(engine) ?? new Map<CatalogPlace, number>();
  placesByEngine.set(engine, places.set(place, tool.description?.length ?? 0));
  return async function listed(context: CallContext): Promise<Tool> {
    const mode = engine.settings.catalogInDescription;
    if (mode === false) return tool;
    try {
      const tools = await engine.listTools(context);
      const hidden = tools.filter((candidate) => !engine.settings.isDirect(candidate));
      const text = cachedText(hidden, tools, tool, { mode, place, places });
      return text === "" ? tool : { ...tool, description: `${tool.description ?? ""}\n${text}` };
    } catch {
      // The error shows where the tools are asked for; a list of meta-tools does not depend on them.
      return tool;
    }
  };
}

/** What the text of one meta-tool depends on besides the tools. */
interface CatalogText {
  mode: Exclude<CatalogInDescription, false>;
  place: CatalogPlace;
  places: Places;
}

/** The places of an engine, with the characters that their descriptions have without the catalog. */
type Places = ReadonlyMap<CatalogPlace, number>;

const placesByEngine = new WeakMap<CodeMode, Map<CatalogPlace, number>>();

/** By the listed tools, which are one array while they are the same: a list asked for again costs nothing. */
const texts = new WeakMap<readonly Tool[], Map<Tool, string>>();

function cachedText(tools: readonly Tool[], key: readonly Tool[], metaTool: Tool, options: CatalogText): string {
  const known = texts.get(key) ?? new Map<Tool, string>();
  texts.set(key, known);
  const text = known.get(metaTool) ?? catalogText(tools, options);
  known.set(metaTool, text);
  return text;
}

/**
 * The tools that a description names; "" for none. Lines are whole, names in order within each server, servers take
 * turns where not all fit, and it says COMPLETE or how many of how many.
 */
export function catalogText(tools: readonly Tool[], { mode, place, places }: CatalogText): string {
  if (tools.length === 0) return "";
  if (mode === "auto" || mode === "unset") return autoText(tools, place, places);
  // One place names the tools in full: execute, where scripts are written.
  if (place !== (places.has("execute") ? "execute" : "search")) return "";
  const fits = (text: string): boolean =>
    estimateTokens(text) <= (typeof mode === "object" ? mode.tokens : MAX_CATALOG_TOKENS);
  const whole = mode === "names" ? "" : summaries(tools);
  if (whole !== "" && fits(whole)) return whole;
  const names = completeNames(tools);
  return fits(names) ? names : someNames(tools, fits);
}

/** Names in the execute tool's description while all fit; else as many as fit in search's, which has more room. */
function autoText(tools: readonly Tool[], place: CatalogPlace, places: Places): string {
  const roomIn = (where: CatalogPlace): number =>
    MAX_DESCRIPTION_CHARACTERS - 1 - (places.get(where) ?? MAX_DESCRIPTION_CHARACTERS);
  const complete = completeNames(tools);
  const home: CatalogPlace = complete.length <= roomIn("execute") || !places.has("search") ? "execute" : "search";
  if (place !== home) return "";
  const fits = (text: string): boolean => text.length <= roomIn(home);
  return fits(complete) ? complete : someNames(tools, fits);
}

function summaries(tools: readonly Tool[]): string {
  const lines = byServer(tools).flatMap(([, own]) =>
    own.map((tool) => {
      const sentence = isUntrusted(tool) ? "" : firstSentence(tool, MAX_SUMMARY_CHARACTERS);
      return `- ${nameOf(tool)}${sentence === "" ? "" : `: ${sentence}`}`;
    }),
  );
  return [`${SUMMARIES_HEADING}, COMPLETE, ${tools.length}:`, ...lines].join("\n");
}

function completeNames(tools: readonly Tool[]): string {
  return [`${NAMES_HEADING}, COMPLETE, ${tools.length}:`, ...nameLines(byServer(tools))].join("\n");
}

/** As many names as fit; none of them when not even a few do. */
function someNames(tools: readonly Tool[], fits: (text: string) => boolean): string {
  const total = tools.length;
  const order = inTurns(byServer(tools).map(([, own]) => own));
  const printed = (count: number): string =>
    [
      `${NAMES_HEADING}, ${count} of ${total}; search finds the others:`,
      ...nameLines(byServer(order.slice(0, count))),
    ].join("\n");
  let [low, high] = [0, total - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(printed(middle))) low = middle;
    else high = middle - 1;
  }
  if (low > 0 && fits(printed(low))) return printed(low);
  const count = `${total} tools: search finds them.`;
  return fits(count) ? count : "";
}

function nameLines(groups: readonly (readonly [server: string, tools: readonly Tool[]])[]): string[] {
  return groups.map(([server, tools]) => {
    const names = tools.map(nameOf).join(", ");
    return groups.length === 1
      ? names
      : `${inlineText(server === "" ? "other" : server, MAX_NAME_CHARACTERS)}: ${names}`;
  });
}

const nameOf = ({ name }: Tool): string => inlineText(name, MAX_NAME_CHARACTERS);

/** Servers and their tools, each in name order: the same text whatever the order of the list. */
function byServer(tools: readonly Tool[]): [server: string, tools: readonly Tool[]][] {
  const groups = new Map<string, Tool[]>();
  for (const tool of [...tools].sort(byName)) {
    const server = serverOf(tool) ?? "";
    const own = groups.get(server);
    if (own === undefined) groups.set(server, [tool]);
    else own.push(tool);
  }
  return [...groups].sort(([left], [right]) => (left < right ? -1 : 1));
}

function inTurns(lists: readonly (readonly Tool[])[]): Tool[] {
  const longest = Math.max(...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, rank) => lists.map((list) => list[rank]))
    .flat()
    .filter((tool) => tool !== undefined);
}
