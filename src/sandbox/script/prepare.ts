import { isBlankScript } from "./blank.js";
import { beginsWithFence, blockEdits, FENCE_NOTE, oneLineFence, scriptBlock } from "./fence.js";
import { type Rewrite, thenEdit, unchanged } from "./rewrite.js";

/** Code as the engine takes it, and where it stood in the text that was sent. */
export interface PreparedScript extends Rewrite {
  /** What was repaired: sentences for the model. */
  notes: readonly string[];
}

/**
 * Takes off the code fence that a model's text begins with. Everything else (top-level `await` and `return`, a last
 * expression, a function as the whole script) sandboxes of scripts take as it is, or repair when it does not parse.
 * Takes linear time: it runs on the host.
 */
export function prepareScript(text: string): PreparedScript {
  if (!beginsWithFence(text)) return { ...unchanged(text), notes: [] };
  const inline = oneLineFence(text);
  if (inline !== undefined) return { ...thenEdit(unchanged(text), blockEdits(text, inline)), notes: [] };
  const { block } = scriptBlock(text);
  if (block === undefined) return { ...unchanged(text), notes: [] };
  const isAlone = text.slice(0, block.opening).trim() === "" && isBlankScript(text.slice(block.after));
  return { ...thenEdit(unchanged(text), blockEdits(text, block)), notes: isAlone ? [] : [FENCE_NOTE] };
}
