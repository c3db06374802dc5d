import type { CallRecord } from "../../calls/call-record.js";
import { shownName } from "../../calls/parameters.js";

const MAX_LISTED_TOOLS = 20;

/** Calls that had their effect, by tool: those that may have changed something first. */
export function completedCalls(calls: readonly CallRecord[]): string {
  const byTool = new Map<string, { count: number; readOnly: boolean }>();
  for (const { tool, ok, readOnly } of calls) {
    if (!ok) continue;
    const known = byTool.get(tool);
    byTool.set(tool, { count: (known?.count ?? 0) + 1, readOnly: readOnly === true });
  }
  const tools = [...byTool].sort(([, a], [, b]) => Number(a.readOnly) - Number(b.readOnly));
  const listed = tools.slice(0, MAX_LISTED_TOOLS).map(([tool, { count, readOnly }]) => {
    return `${shownName(tool)} (${count} call${count === 1 ? "" : "s"}${readOnly ? ", read-only" : ""})`;
  });
  const left = tools.length - listed.length;
  return left > 0 ? `${listed.join(", ")} and ${left} more tools` : listed.join(", ");
}
