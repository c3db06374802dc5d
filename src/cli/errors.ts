/** The command was called wrongly, or cannot do what it was asked to: its message is all that is printed. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Exit codes. */
export const EXIT = {
  ok: 0,
  /** The script failed, or the doctor found something. */
  failed: 1,
  /** Wrong arguments or configuration: nothing was run. */
  usage: 2,
} as const;
