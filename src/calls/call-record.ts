/** One call a script made. */
export interface CallRecord {
  /** The tool's name; what the script asked for when there is no such tool. */
  tool: string;
  server?: string | undefined;
  ok: boolean;
  /** Milliseconds from the script's call to its answer. */
  ms: number;
  /** True when the tool says of itself that it changes nothing (`readOnlyHint`). */
  readOnly?: boolean | undefined;
}
