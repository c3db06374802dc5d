import { executeTool } from "./meta-tools/execute.js";
import { outputErrorResult } from "./meta-tools/results/output-error.js";
import { schemaTool } from "./meta-tools/schema.js";
import { searchTool } from "./meta-tools/search.js";
import type { CodeModeOptions } from "./options.js";
import { markdownSerializer } from "./search/serializers/markdown.js";
import { typescriptSerializer } from "./search/serializers/typescript.js";

/** Options that give the surface of a project that people may know. They hold no logic. */
type Preset = (overrides?: CodeModeOptions) => CodeModeOptions;

/** Kedi's limits, where they differ from ours. */
const KEDI_LIMITS = {
  timeoutMs: 60_000,
  maxToolCalls: 48,
  maxConcurrentCalls: 8,
  maxCallResultBytes: 256_000,
  maxTotalResultBytes: 1_000_000,
};

/**
 * Ready options that give the surface of another project's code mode. `overrides` win over them; objects (`limits`) are
 * merged one level deep.
 *
 * - `fastmcp`: `search` (brief markdown), `get_schema` (detailed) and `execute`;
 * - `noxus`: `search` (exact names, words, or code over `spec()`) and `execute`, whose description names every tool with
 *   its first sentence;
 * - `kedi`: `search_tools` (names, page by page), `get_tool_schema` (strict) and `execute_code`; a client's own calls of
 *   hidden tools are refused.
 *
 * @example
 * server.use(codeMode(presets.fastmcp({ limits: { maxToolCalls: 10 } })));
 */
export const presets: Record<"fastmcp" | "noxus" | "kedi", Preset> = {
  fastmcp: (overrides) =>
    merged(
      {
        metaTools: [searchTool({ detail: "brief" }), schemaTool(), executeTool()],
        searchResultSerializer: markdownSerializer(),
        catalogInDescription: false,
      },
      overrides,
    ),
  noxus: (overrides) =>
    merged(
      {
        metaTools: [searchTool({ code: true }), executeTool()],
        searchResultSerializer: typescriptSerializer(),
        catalogInDescription: "summaries",
      },
      overrides,
    ),
  kedi: (overrides) =>
    merged(
      {
        searchToolName: "search_tools",
        executeToolName: "execute_code",
        metaTools: [
          searchTool({ namesOnly: true, defaultLimit: 10, maxLimit: 50 }),
          schemaTool({ name: "get_tool_schema", strict: true }),
          executeTool(),
        ],
        executeResultSerializer: outputErrorResult(),
        catalogInDescription: false,
        directCalls: "refuse",
        requireSchema: true,
        session: { variables: true },
        limits: KEDI_LIMITS,
      },
      overrides,
    ),
};

function merged(preset: CodeModeOptions, overrides: CodeModeOptions = {}): CodeModeOptions {
  const limits = { ...preset.limits, ...overrides.limits };
  return { ...preset, ...overrides, ...(Object.keys(limits).length === 0 ? {} : { limits }) };
}
