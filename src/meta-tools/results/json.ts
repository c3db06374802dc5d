import type { ExecuteResultSerializer } from "../meta-tool.js";

/**
 * One JSON object for programs that read the reply: `{ ok, result?, error?, logs?, notes?, calls }`. Images and
 * resources follow as blocks.
 *
 * @example
 * codeMode({ executeResultSerializer: jsonResult() });
 */
export function jsonResult(): ExecuteResultSerializer {
  return function serializeJson(outcome) {
    const ok = outcome.status === "completed";
    const { logs = [], notes, calls } = outcome;
    const reply = {
      ok,
      ...(ok ? { result: outcome.value ?? null } : { error: { ...outcome.error, next: outcome.next } }),
      ...(logs.length > 0 ? { logs } : {}),
      ...(notes.length > 0 ? { notes } : {}),
      calls,
    };
    const content = [{ type: "text" as const, text: JSON.stringify(reply) }, ...outcome.content];
    return ok ? { content } : { content, isError: true };
  };
}
