import type { Tool } from "../../catalog/tool.js";
import { declarations, signatures } from "../../catalog/typescript.js";
import { commentText } from "../../catalog/untrusted-text.js";
import { briefList, descriptionOf, NOTHING_FOUND } from "./brief.js";
import { asProse, type SearchResultSerializer, type SerializeContext } from "./serializer.js";

/** Characters of the description above a signature. */
const MAX_DESCRIPTION_CHARACTERS = 500;

/** What {@link typescriptSerializer} can print. */
export type TypeScriptDetail = "signature" | "declarations";

/**
 * Prints tools as TypeScript. `detail` (default "signature") is what a call gets that asks for none:
 * - signature: the description as a one-line comment, then `tools.name(args: { ... }): Promise<...>` on one line; types
 *   that are referred to by name at the end, each once;
 * - declarations: `declare namespace tools { ... }` with all documentation and constraints in comments.
 *
 * A call that asks for "brief" gets `- name: description`; "detailed" means signature and "full" declarations.
 *
 * @example
 * codeMode({ searchResultSerializer: typescriptSerializer() });
 */
export function typescriptSerializer(options: { detail?: TypeScriptDetail } = {}): SearchResultSerializer {
  return asProse(function typescript(tools: Tool[], context: SerializeContext): string {
    const identifiers = context.identifiers;
    switch (context.detail ?? options.detail ?? (context.purpose === "schema" ? "declarations" : "signature")) {
      case "brief":
        return briefList(tools);
      case "full":
      case "declarations":
        return tools.length === 0 ? NOTHING_FOUND : declarations(tools, { identifiers });
      case "signature":
      case "detailed":
        return tools.length === 0 ? NOTHING_FOUND : describedSignatures(tools, identifiers);
    }
  });
}

/** How much {@link describedSignatures} prints of each tool. */
export interface SignatureSize {
  maxCharacters?: number;
  maxDescriptionCharacters?: number;
}

/** Signatures with their descriptions above them; types that are named follow at the end, each once. */
export function describedSignatures(
  tools: readonly Tool[],
  identifiers: SerializeContext["identifiers"],
  { maxCharacters, maxDescriptionCharacters = MAX_DESCRIPTION_CHARACTERS }: SignatureSize = {},
): string {
  const { lines, types } = signatures(tools, { identifiers, maxCharacters });
  const blocks = tools.map((tool, index) => {
    const description = commentText(descriptionOf(tool), maxDescriptionCharacters);
    return description === "" ? `${lines[index]}` : `// ${description}\n${lines[index]}`;
  });
  return [...blocks, ...types].join("\n");
}
