import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import type { Json } from "./case.js";

/** Where the library puts the structured part of a reply. */
const RUN_MARK = "mcp-codemode/run";

/** What execute, or the set-up before it, answered. */
export class Reply {
  readonly result: CallToolResult | undefined;
  readonly thrown: Error | undefined;
  /** Milliseconds from the request to the reply. */
  readonly ms: number;

  constructor(outcome: { result: CallToolResult } | { thrown: unknown }, ms: number) {
    this.result = "result" in outcome ? outcome.result : undefined;
    this.thrown = "thrown" in outcome ? toError(outcome.thrown) : undefined;
    this.ms = ms;
  }

  get isError(): boolean {
    return this.thrown !== undefined || this.result?.isError === true;
  }

  /** The structured part: never read from prose. A refused configuration counts as kind validation. */
  get kind(): string | undefined {
    if (this.thrown?.name === "ConfigurationError") return "validation";
    const kind =
      this.mark["kind"] ?? (this.result?.structuredContent as Json | undefined)?.["kind"] ?? this.thrownData["kind"];
    return typeof kind === "string" ? kind : undefined;
  }

  get mark(): Json {
    return (this.result?._meta?.[RUN_MARK] ?? {}) as Json;
  }

  private get thrownData(): Json {
    return ((this.thrown as { data?: unknown } | undefined)?.data ?? {}) as Json;
  }

  get blocks(): readonly Json[] {
    return (this.result?.content ?? []) as unknown as Json[];
  }

  /** Texts of all blocks. */
  get texts(): string[] {
    return this.blocks.filter(({ type }) => type === "text").map(({ text }) => String(text));
  }

  /** All text of the reply, and the message when it was none. */
  get text(): string {
    return [...this.texts, ...(this.thrown === undefined ? [] : [this.thrown.message])].join("\n");
  }

  /** Reply and structured part as JSON. */
  get everything(): string {
    return JSON.stringify(this.result ?? { message: this.thrown?.message, data: this.thrownData });
  }

  /** Text of the message and of the structured part, for patterns. */
  get message(): string {
    const error = this.mark["error"] as { message?: unknown } | undefined;
    return [this.text, typeof error?.message === "string" ? error.message : ""].join("\n");
  }

  /** Console output, notes and the rest: the blocks of console and notes come last, in this order. */
  private get parts(): { value: readonly Json[]; logs: string; notes: string } {
    const blocks = [...this.blocks];
    const take = (head: string): string => {
      const last = blocks.at(-1);
      if (last?.["type"] !== "text" || !String(last["text"]).startsWith(head)) return "";
      blocks.pop();
      return String(last["text"]);
    };
    const notes = take("Note: ");
    const logs = take("Console:\n");
    return { value: blocks, logs, notes };
  }

  get logs(): string {
    return this.parts.logs;
  }

  /** Notes and hints: everything outside of value and logs. */
  get notes(): string {
    const hints = this.isError
      ? this.texts.flatMap((text) => text.split("\n").filter((line) => /^(Hint|Next|Note):/.test(line)))
      : [];
    return [this.parts.notes, ...hints].join("\n");
  }

  /** The line of the error, structured or as printed. */
  get line(): number | undefined {
    const line = (this.mark["error"] as { line?: unknown } | undefined)?.line;
    if (typeof line === "number") return line;
    const printed = /\bline (\d+)/.exec(this.text)?.[1];
    return printed === undefined ? undefined : Number(printed);
  }

  /** The text that carries the value; undefined when there is none. */
  get valueText(): string | undefined {
    const [block] = this.parts.value;
    return block?.["type"] === "text" ? String(block["text"]) : undefined;
  }

  /** The value: JSON where the text is JSON, else the text itself. Undefined for a failure or no value. */
  get value(): unknown {
    const text = this.valueText;
    if (this.isError || text === undefined) return undefined;
    try {
      return JSON.parse(text) as unknown;
    } catch {
      return text;
    }
  }

  get calls(): readonly Json[] {
    const calls = this.mark["calls"];
    return Array.isArray(calls) ? (calls as Json[]) : [];
  }

  /** A line for a reason: what came instead. */
  get summary(): string {
    const kind = this.isError ? `error ${this.kind ?? "without kind"}: ` : "";
    return `${kind}${this.text.slice(0, 300).replaceAll("\n", " | ")}`;
  }
}

const toError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));
