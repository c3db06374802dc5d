import { stringLiteral } from "../../catalog/identifiers.js";
import { parametersOf } from "../../catalog/json-schema.js";
import type { Tool } from "../../catalog/tool.js";
import { ConfigurationError } from "../../errors.js";
import { NOTHING_FOUND, sentenceList } from "./brief.js";
import { compactPage } from "./compact.js";
import { asProse, type SearchResultSerializer, type SerializeContext } from "./serializer.js";
import { estimateTokens } from "./token-estimate.js";
import { describedSignatures } from "./typescript.js";

/** Hits that are shown whole. */
const WHOLE_HITS = 2;
/** A tool that takes more than this part of the budget alone is not shown whole. */
const MAX_SHARE = 0.6;
/** Characters of the signature of a tool that is too large to be shown whole, in parts of the budget's. */
const SIGNATURE_SHARE = 0.25;
const CHARACTERS_PER_TOKEN = 3.5;
/** Of further hits: what they are for, not how to use them. */
const SHORT = { maxCharacters: 1_000, maxDescriptionCharacters: 200 };

/** Options of {@link gradedSerializer}. */
export interface GradedOptions {
  /**
   * Tokens of a page, estimated as bytes of UTF-8 / 3.5. The first two tools may take more.
   * @default 1500
   */
  budgetTokens?: number;
}

/**
 * Prints the best hits whole, further ones as signatures, and the rest as names with a first sentence, so that one call
 * shows depth and breadth. The first two are whole in a compact form that loses nothing of their schemas; one that alone
 * would take over 60 % of the budget is a signature that says how to read the rest.
 *
 * A call may ask for another `detail`: "brief" are names with a first sentence, "signature" and "detailed" signatures,
 * and "full" is the compact form of every tool.
 *
 * @throws {ConfigurationError} for a budget that is no number of at least 1.
 * @example
 * codeMode({ searchResultSerializer: gradedSerializer({ budgetTokens: 3000 }) });
 */
export function gradedSerializer({ budgetTokens = 1500 }: GradedOptions = {}): SearchResultSerializer {
  if (!Number.isFinite(budgetTokens) || budgetTokens < 1) {
    throw new ConfigurationError(`gradedSerializer: budgetTokens must be a number of at least 1; got ${budgetTokens}.`);
  }
  return asProse(function graded(tools: Tool[], context: SerializeContext): string {
    if (tools.length === 0) return NOTHING_FOUND;
    const { identifiers } = context;
    switch (context.detail ?? (context.purpose === "schema" ? "full" : "graded")) {
      case "brief":
        return sentenceList(tools);
      case "signature":
      case "detailed":
        return describedSignatures(tools, identifiers);
      case "full":
        return compactPage(tools, identifiers).text;
      case "graded":
        return gradedPage(tools, budgetTokens, identifiers);
    }
  });
}

type Identifiers = SerializeContext["identifiers"];

function gradedPage(tools: readonly Tool[], budgetTokens: number, identifiers: Identifiers): string {
  const head = bestHits(tools.slice(0, WHOLE_HITS), budgetTokens, identifiers);
  const rest = tools.slice(WHOLE_HITS);
  const signed = rest.slice(0, fittingSignatures(rest, budgetTokens - estimateTokens(head), identifiers));
  const parts = [head, describedSignatures(signed, identifiers, SHORT), sentenceList(rest.slice(signed.length))];
  return parts.filter((part) => part !== "").join("\n\n");
}

function bestHits(tools: readonly Tool[], budgetTokens: number, identifiers: Identifiers): string {
  const isWhole = (tool: Tool): boolean =>
    estimateTokens(compactPage([tool], identifiers).text) <= budgetTokens * MAX_SHARE;
  if (tools.every(isWhole)) return compactPage(tools, identifiers).text;
  const parts = tools.map((tool) =>
    isWhole(tool) ? compactPage([tool], identifiers).text : largeSignature(tool, budgetTokens, identifiers),
  );
  return parts.join("\n\n");
}

/** The signature of a tool that is not shown whole, and how to read the rest. */
function largeSignature(tool: Tool, budgetTokens: number, identifiers: Identifiers): string {
  const maxCharacters = Math.floor(budgetTokens * CHARACTERS_PER_TOKEN * SIGNATURE_SHARE);
  const count = parametersOf(tool.inputSchema).length;
  const pointer = `// get_schema(${stringLiteral(tool.name)}) for all ${count} parameters`;
  return `${describedSignatures([tool], identifiers, { maxCharacters })}\n${pointer}`;
}

/** How many signatures fit, so that the names of those after them fit too. */
function fittingSignatures(tools: readonly Tool[], budgetTokens: number, identifiers: Identifiers): number {
  let left = budgetTokens - estimateTokens(sentenceList(tools));
  const end = tools.findIndex((tool) => {
    const longer =
      estimateTokens(describedSignatures([tool], identifiers, SHORT)) - estimateTokens(sentenceList([tool]));
    left -= longer;
    return left < 0;
  });
  return end < 0 ? tools.length : end;
}
