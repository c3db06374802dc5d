import { signature } from "../catalog/typescript.js";
import type { CallToolResult, Tool } from "../catalog/tool.js";
import { ValidationError } from "../errors.js";
import { portablePrelude } from "../sandbox/portable-prelude.js";
import type { SandboxResult, SandboxRunOptions, ScriptError } from "../sandbox/provider.js";
import { prepareScript, toFunctionBody } from "../sandbox/script.js";
import { startSlices } from "../search/slices.js";
import type { MetaToolSettings } from "./meta-tool.js";
import { RUN_MARK, type RunMark } from "./run-mark.js";
import { textReply } from "./search-page.js";

/** Global under which the catalog comes in, as JSON text. */
const CATALOG = "__catalog";

/** On the first line, before the code, so that its lines keep their numbers. The catalog is parsed when it is asked for. */
const PREFIX = `const spec = ((text, parse) => { let catalog; return () => (catalog ??= parse(text)); })(${CATALOG}, JSON.parse); `;

const CALLS_SPEC = /(?<![\w$.])spec\s*\(/;

/** True for a query that is code: it calls `spec(`. Words that only happen to parse as code are not. */
export function isSearchCode(query: string): boolean {
  return CALLS_SPEC.test(query);
}

/** What code of a search runs over. */
export interface SearchCode {
  code: string;
  tools: readonly Tool[];
  identifiers: ReadonlyMap<string, string>;
  signal: AbortSignal | undefined;
}

/**
 * Runs a query that is code: `spec()` gives all tools (name -> description, signature, inputSchema, outputSchema), and
 * what the code returns is the reply. Nothing can be called.
 */
export async function runSearchCode(
  { code: text, tools, identifiers, signal }: SearchCode,
  { sandbox, sandboxLimits }: MetaToolSettings,
): Promise<CallToolResult> {
  const { code } = prepareScript(text);
  const options: SandboxRunOptions = {
    inputs: { [CATALOG]: await specText(tools, identifiers) },
    externalFunctions: { call_tool: refuse, search_tools: refuse, get_schema: refuse },
    limits: sandboxLimits,
    resultOverflow: "truncate",
    ...(signal === undefined ? {} : { signal }),
  };
  const whole = `${PREFIX}${code}`;
  if (sandbox.accepts === "script") return reply(await sandbox.run(whole, options));
  const prepared = await toFunctionBody(whole);
  if ("error" in prepared) return failure(prepared.error);
  const result: unknown = await sandbox.run(portablePrelude(prepared.body), options);
  return reply(isSandboxResult(result) ? result : { status: "completed", value: result });
}

function isSandboxResult(result: unknown): result is SandboxResult {
  return typeof result === "object" && result !== null && "status" in result;
}

function refuse(): never {
  throw new ValidationError("Tools can be called only in execute: search has no side effects.");
}

function reply(result: SandboxResult): CallToolResult {
  if (result.status === "failed") return failure(result.error);
  const value = result.status === "completed" ? result.value : undefined;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return textReply([text ?? "Nothing was returned: end the code with an expression.", ...(result.notes ?? [])]);
}

/** The place in the query, without what stands before it on its first line. */
function failure({ kind, name, message, line, column }: ScriptError): CallToolResult {
  const at = line === 1 && column !== undefined ? column - PREFIX.length : column;
  const place = line === undefined ? "" : `\n  at line ${line}${at === undefined ? "" : `, column ${at}`} of the query`;
  const mark: RunMark = { kind, calls: [], durationMs: 0, truncated: false, error: { name, message } };
  return { ...textReply([`${name}: ${message}${place}`]), isError: true, _meta: { [RUN_MARK]: mark } };
}

/** The catalog as JSON text, made in slices: signatures of a thousand tools take a second. */
async function specText(tools: readonly Tool[], identifiers: ReadonlyMap<string, string>): Promise<string> {
  const slices = startSlices();
  const entries: string[] = [];
  for (const tool of tools) {
    entries.push(`${JSON.stringify(tool.name)}:${specEntry(tool, identifiers)}`);
    if (slices.isOver()) await slices.next();
  }
  return `{${entries.join(",")}}`;
}

const known = new WeakMap<Tool, string>();

function specEntry(tool: Tool, identifiers: ReadonlyMap<string, string>): string {
  let text = known.get(tool);
  if (text === undefined) {
    const { description, inputSchema, outputSchema } = tool;
    const line = signature(tool, identifiers.get(tool.name) ?? tool.name);
    try {
      text = JSON.stringify({ description, signature: line, inputSchema, outputSchema });
    } catch {
      text = JSON.stringify({ description, signature: line }); // a schema that is no JSON
    }
    known.set(tool, text);
  }
  return text;
}
