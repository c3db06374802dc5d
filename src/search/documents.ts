import { createHash } from "node:crypto";
import { serverOf, tagsOf, type Tool } from "../catalog/tool.js";
import { aliasesOf, fieldsOf, type ToolFields } from "./fields.js";
import { startSlices } from "./slices.js";
import { foldName, nameTermsOf, termsOf, wordsOf } from "./tokenize.js";

/** A tool as it is searched: its terms, field by field. Equal tools share one, whoever lists them. */
export interface ToolDocument {
  /** Digest of all that is searched: equal for tools that are searched alike. */
  readonly key: string;
  readonly name: string;
  readonly server: string;
  /** Spellings under which the tool is found by name: with and without its server, and its title, all folded. */
  readonly foldedNames: readonly string[];
  readonly fields: Readonly<Record<keyof ToolFields, readonly string[]>>;
  /** Name and description in plain words: what an embedder reads. */
  readonly summary: string;
}

/** Documents kept for tools that come as new objects on every list. At about 3 KB each. */
export const MAX_DOCUMENTS = 20_000;

/** Characters of {@link ToolDocument.summary}. Small embedding models read no more. */
const SUMMARY_CHARACTERS = 1_000;

/** What a tool object held when its document was made: the parts that are searched, by identity. */
interface Known {
  parts: readonly unknown[];
  document: ToolDocument;
}

const byObject = new WeakMap<Tool, Known>();
const byKey = new Map<string, ToolDocument>();

/** Documents of all tools, in their order. Only tools with a new content are read. */
export async function documentsOf(tools: readonly Tool[]): Promise<ToolDocument[]> {
  const slices = startSlices();
  const documents: ToolDocument[] = [];
  for (const tool of tools) {
    const parts = partsOf(tool);
    const known = byObject.get(tool);
    if (known && known.parts.every((part, index) => part === parts[index])) {
      documents.push(known.document);
      continue;
    }
    const document = documentOf(tool);
    byObject.set(tool, { parts, document });
    documents.push(document);
    if (slices.isOver()) await slices.next();
  }
  return documents;
}

// A host may replace the description of a tool object it keeps. A change inside of a schema object is not noticed:
// tools/list builds its schemas anew, and comparing them deeply would cost more than the search.
const partsOf = (tool: Tool): readonly unknown[] => [
  tool.name,
  tool.title,
  tool.description,
  tool.inputSchema,
  tool.annotations,
  tool._meta,
];

function documentOf(tool: Tool): ToolDocument {
  const key = createHash("sha256").update(contentOf(tool)).digest("base64");
  let document = byKey.get(key);
  if (document) byKey.delete(key);
  else document = readDocument(key, tool, fieldsOf(tool));
  byKey.set(key, document);
  if (byKey.size > MAX_DOCUMENTS) forgetOldest();
  return document;
}

/** Everything a document is made of. Writing it out costs a third of reading the fields of a tool. */
function contentOf(tool: Tool): string {
  const { name, title, description, annotations, inputSchema } = tool;
  const shown = [name, title, description, annotations?.["title"], serverOf(tool), tagsOf(tool), aliasesOf(tool)];
  try {
    return JSON.stringify([shown, inputSchema]);
  } catch {
    return JSON.stringify([name, fieldsOf(tool)]); // a circular schema, or one deeper than the stack
  }
}

function forgetOldest(): void {
  for (const key of byKey.keys()) {
    byKey.delete(key);
    return;
  }
}

function readDocument(key: string, tool: Tool, fields: ToolFields): ToolDocument {
  return {
    key,
    name: tool.name,
    server: serverOf(tool) ?? "",
    foldedNames: [...new Set([tool.name.slice(0, 512), fields.name, fields.title].map(foldName))].filter(Boolean),
    fields: {
      name: nameTermsOf(fields.name),
      server: nameTermsOf(fields.server),
      title: termsOf(fields.title),
      description: termsOf(fields.description),
      parameterNames: nameTermsOf(fields.parameterNames),
      parameterDocs: termsOf(fields.parameterDocs),
      enumValues: termsOf(fields.enumValues),
      tags: termsOf(fields.tags),
      aliases: termsOf(fields.aliases),
    },
    summary: `${fields.title || wordsOf(fields.name).join(" ")}: ${fields.description}`.slice(0, SUMMARY_CHARACTERS),
  };
}
