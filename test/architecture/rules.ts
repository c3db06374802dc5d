import { importsOf, resolveImport } from "./imports.js";

/** Source texts by path relative to src, with forward slashes. */
export type Sources = ReadonlyMap<string, string>;

/** Who may import whom: a folder or top-level file imports only lower ranks; a folder also itself. */
export const RANKS: ReadonlyMap<string, number> = new Map(
  [
    ["errors", "nearest", "version"],
    ["catalog", "sandbox", "telemetry", "workspace"],
    ["search", "calls", "session"],
    ["meta-tools", "tensor"],
    ["mcp", "openapi"],
    ["options"],
    ["create-code-mode", "presets"],
    ["code-mode", "measure"],
    ["index", "search.ts", "sandbox.ts", "gateway", "testing", "register", "register-v2"],
    ["cli"],
  ].flatMap((names, rank) => names.map((name): [string, number] => [name, rank])),
);

/** Entry points that carry the name of a folder: they re-export it to users and rank by their own file name. */
const ENTRY_FILES = new Set(["search.ts", "sandbox.ts"]);

/** The folder or top-level file that a path belongs to, as named in {@link RANKS}. */
export function unitOf(path: string): string {
  const [first = ""] = path.split("/");
  return ENTRY_FILES.has(path) ? path : first.replace(/\.ts$/, "");
}

/** Violations of the rank rule, with place and both ranks. */
export function rankViolations(sources: Sources): string[] {
  return eachImport(sources, (path, specifier) => {
    const target = specifier === undefined ? undefined : resolveImport(path, specifier);
    if (specifier === undefined) return "imports something that is no text: its rank cannot be known";
    if (target === undefined) return undefined;
    if (target.startsWith("..")) return `imports ${specifier}, which is outside of src`;
    const [from, to] = [unitOf(path), unitOf(target)];
    if (from === to) return undefined;
    const [fromRank, toRank] = [RANKS.get(from), RANKS.get(to)];
    if (fromRank === undefined) return `belongs to "${from}", which has no rank`;
    if (toRank === undefined) return `imports ${specifier} of "${to}", which has no rank`;
    return toRank < fromRank ? undefined : `(${from}, rank ${fromRank}) imports ${specifier} (${to}, rank ${toRank})`;
  });
}

/** Only these may import an MCP SDK; the rest knows it by structural types. */
const KNOWS_AN_SDK = /^(register(-v2)?\.ts|gateway\/|cli\/)/;

/** Imports of an MCP SDK, types included, outside of the files that may. */
export function sdkViolations(sources: Sources): string[] {
  return eachImport(sources, (path, specifier) =>
    specifier?.startsWith("@modelcontextprotocol/") && !KNOWS_AN_SDK.test(path) ? `imports ${specifier}` : undefined,
  );
}

/** Imports of the public surface from inside: they would make cycles. */
export function indexViolations(sources: Sources): string[] {
  return eachImport(sources, (path, specifier) =>
    specifier !== undefined && resolveImport(path, specifier) === "index.ts" ? `imports ${specifier}` : undefined,
  );
}

const PRELUDE = "sandbox/quickjs/prelude/";
/**
 * Imports that the guest cannot have: packages, Node's own modules, and files outside of the sandbox. Followed from every
 * file of the prelude through all files that it imports. Types are erased and do not count.
 */
export function preludeViolations(sources: Sources): string[] {
  const waiting = [...sources.keys()].filter((path) => path.startsWith(PRELUDE) && !path.endsWith(".d.ts"));
  const seen = new Set(waiting);
  const violations: string[] = [];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    for (const { specifier, typeOnly, line } of importsOf(path, sources.get(path) ?? "")) {
      const target = specifier === undefined ? undefined : resolveImport(path, specifier);
      if (typeOnly) continue;
      if (target === undefined || !target.startsWith("sandbox/"))
        violations.push(`${path}:${line} imports ${specifier ?? "something"}`);
      else if (!seen.has(target)) {
        seen.add(target);
        waiting.push(target);
      }
    }
  }
  return violations;
}

function eachImport(
  sources: Sources,
  fault: (path: string, specifier: string | undefined) => string | undefined,
): string[] {
  const violations: string[] = [];
  for (const [path, text] of sources) {
    for (const { specifier, line } of importsOf(path, text)) {
      const found = fault(path, specifier);
      if (found !== undefined) violations.push(`${path}:${line} ${found}`);
    }
  }
  return violations;
}
