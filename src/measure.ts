import { createCodeMode } from "./create-code-mode.js";
import type { CallContext, Tool, ToolSource } from "./catalog/tool.js";
import { estimateTokens } from "./search/serializers/token-estimate.js";
import { identifiersOf } from "./meta-tools/search.js";
import { byName } from "./meta-tools/find-tools.js";
import type { CodeModeOptions } from "./options.js";
import { gradedSerializer } from "./search/serializers/graded.js";
import { markdownSerializer } from "./search/serializers/markdown.js";
import type { Detail, SearchResultSerializer } from "./search/serializers/serializer.js";

/** The forms in which a page of a search can be printed. */
export type PageForm = "json" | "graded" | "compact" | "signature" | "markdown" | "brief";

/** What a catalog costs in tokens. */
export interface Measurement {
  /** Tools of the catalog. */
  tools: number;
  /** Tokens of `tools/list` as it would be without code mode, as compact JSON. */
  toolsList: number;
  /** Tokens of the meta-tools that are listed instead, with the tools their descriptions name. */
  metaTools: number;
  /** Tokens of a page, by form: the mean over pages of `pageSize` tools in name order. "json": as `tools/list` gives them. */
  page: Record<PageForm, number>;
  /** Tools on a measured page; fewer when there are not so many. */
  pageSize: number;
}

/** Options of {@link measure}. */
export interface MeasureOptions {
  /** Counts the tokens of a text. @default bytes of UTF-8 / 3.5, an estimate */
  countTokens?: (text: string) => number;
  /** Tools on a page, at least 1. @default 5 */
  pageSize?: number;
  /** Options of code mode whose meta-tools are measured. @default none */
  options?: CodeModeOptions;
  /** Who asks: some sources list by caller. */
  context?: Partial<CallContext>;
}

/** Pages that are printed: a sample of a large catalog is enough, and takes bounded time. */
const MAX_PAGES = 20;

const graded = gradedSerializer();
const FORMS: Record<Exclude<PageForm, "json">, [SearchResultSerializer, Detail | undefined]> = {
  graded: [graded, undefined],
  compact: [graded, "full"],
  signature: [graded, "signature"],
  markdown: [markdownSerializer(), undefined],
  brief: [graded, "brief"],
};

/**
 * What a source's tools cost a model in tokens: listed as they are, behind the meta-tools, and as a page of a search in
 * each form.
 *
 * @throws what the source rejects with.
 * @example
 * const { toolsList, metaTools, page } = await measure(source);
 * console.log(`${toolsList} -> ${metaTools}, and ${page.graded} for a search`);
 */
export async function measure(source: ToolSource, given: MeasureOptions = {}): Promise<Measurement> {
  const { countTokens = estimateTokens, pageSize = 5, options = {}, context = {} } = given;
  const engine = createCodeMode(source, options);
  try {
    const tools = [...(await engine.listTools(context))].sort(byName);
    const full = { signal: new AbortController().signal, ...context };
    const listed = await Promise.all(engine.metaTools.map(async (one) => one.listed?.(full) ?? one.tool));
    const pages = samplePages(tools, pageSize);
    return {
      tools: tools.length,
      toolsList: countTokens(JSON.stringify(tools)),
      metaTools: countTokens(JSON.stringify(listed)),
      page: await measurePages(pages, identifiersOf(tools), countTokens),
      pageSize: Math.min(pageSize, tools.length),
    };
  } finally {
    await engine.close();
  }
}

/** Pages from all over the catalog, none smaller than the others. */
function samplePages(tools: readonly Tool[], pageSize: number): Tool[][] {
  const last = Math.max(0, tools.length - pageSize);
  const count = Math.min(MAX_PAGES, Math.ceil(tools.length / pageSize));
  const step = count < 2 ? 0 : last / (count - 1);
  return Array.from({ length: count }, (_, page) => {
    const start = Math.round(page * step);
    return tools.slice(start, start + pageSize);
  });
}

async function measurePages(
  pages: readonly Tool[][],
  identifiers: ReadonlyMap<string, string>,
  countTokens: (text: string) => number,
): Promise<Measurement["page"]> {
  const mean = async (print: (page: Tool[]) => unknown): Promise<number> => {
    const texts = await Promise.all(pages.map(async (page) => String(await print(page))));
    const total = texts.reduce((sum, text) => sum + countTokens(text), 0);
    return pages.length === 0 ? 0 : Math.round(total / pages.length);
  };
  const measured = Object.entries(FORMS).map(async ([form, [serializer, detail]]) => {
    const context = { total: pages.length, identifiers, detail };
    return [form, await mean((page) => serializer(page, context))] as const;
  });
  const page = Object.fromEntries(await Promise.all(measured)) as Omit<Measurement["page"], "json">;
  return { json: await mean((tools) => JSON.stringify(tools)), ...page };
}
