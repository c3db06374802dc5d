import { CancelledError, LimitError } from "../errors.js";
import type { LimitValues } from "./limits.js";

/** The limits a {@link CallBudget} keeps. */
export type BudgetLimits = Pick<
  LimitValues,
  "maxToolCalls" | "maxConcurrentCalls" | "maxArgumentBytes" | "maxCallResultBytes" | "maxTotalResultBytes"
>;

/** What calls of a run have used of what all of them may. */
export interface SpentBudget {
  calls: number;
  /** Bytes of results. */
  resultBytes: number;
}

interface Waiting {
  alone: boolean;
  enter: () => void;
  fail: (reason: Error) => void;
}

/** What the calls of one run may use: their number, how many go at a time, and their bytes. */
export class CallBudget {
  private calls: number;
  private active = 0;
  private activeAlone = false;
  private totalBytes: number;
  private readonly waiting: Waiting[] = [];
  private closed = false;

  /** @param spent What the run had used before it was paused. */
  constructor(
    private readonly limits: BudgetLimits,
    spent: SpentBudget = { calls: 0, resultBytes: 0 },
  ) {
    this.calls = spent.calls;
    this.totalBytes = spent.resultBytes;
  }

  /** What the run has used so far. */
  get spent(): SpentBudget {
    return { calls: this.calls, resultBytes: this.totalBytes };
  }

  /** Counts one call. @throws {LimitError} when the script has made all it may. */
  countCall(): void {
    const { maxToolCalls } = this.limits;
    if (this.calls >= maxToolCalls) {
      throw new LimitError(
        `A script may make at most ${maxToolCalls} tool calls (limits.maxToolCalls). Ask for more per call, or split the work over several scripts.`,
        { details: { limit: "maxToolCalls", most: maxToolCalls } },
      );
    }
    this.calls++;
  }

  /**
   * Waits for a turn, in the order of asking. Call {@link leave} after it.
   *
   * @param alone No other call may be under way at the same time.
   * @returns undefined when the turn is there at once, which saves a microtask.
   */
  enter(alone: boolean): Promise<void> | undefined {
    if (this.waiting.length === 0 && this.hasRoom(alone)) {
      this.start(alone);
      return undefined;
    }
    return new Promise((enter, fail) => {
      if (this.closed) fail(ended());
      else this.waiting.push({ alone, enter, fail });
    });
  }

  /** Gives the turn back and lets those go on that waited for it. */
  leave(): void {
    this.active--;
    this.activeAlone = false;
    for (let next = this.waiting[0]; next !== undefined && this.hasRoom(next.alone); next = this.waiting[0]) {
      this.waiting.shift();
      this.start(next.alone);
      next.enter();
    }
  }

  /** Nobody gets a turn any more: those who wait fail with {@link CancelledError}. */
  close(): void {
    this.closed = true;
    for (const { fail } of this.waiting.splice(0)) fail(ended());
  }

  /** @throws {LimitError} when the arguments of one call are too large. */
  checkArgumentBytes(tool: string, bytes: number): void {
    const { maxArgumentBytes } = this.limits;
    if (bytes > maxArgumentBytes) throw tooLarge(tool, "arguments", bytes, "maxArgumentBytes", maxArgumentBytes);
  }

  /** Counts the result of one call. @throws {LimitError} when it, or all of them together, are too large. */
  countResultBytes(tool: string, bytes: number): void {
    const { maxCallResultBytes, maxTotalResultBytes } = this.limits;
    if (bytes > maxCallResultBytes) throw tooLarge(tool, "result", bytes, "maxCallResultBytes", maxCallResultBytes);
    this.totalBytes += bytes;
    if (this.totalBytes > maxTotalResultBytes) {
      throw tooLarge(tool, "results so far", this.totalBytes, "maxTotalResultBytes", maxTotalResultBytes);
    }
  }

  private hasRoom(alone: boolean): boolean {
    if (this.closed || this.activeAlone) return false;
    return alone ? this.active === 0 : this.active < this.limits.maxConcurrentCalls;
  }

  private start(alone: boolean): void {
    this.active++;
    this.activeAlone = alone;
  }
}

const ended = (): CancelledError => new CancelledError("The run ended before this call had its turn.");

function tooLarge(tool: string, what: string, bytes: number, limit: string, most: number): LimitError {
  const remedy = what === "arguments" ? "Send less." : "Ask for less: a page, a filter, fewer fields.";
  return new LimitError(
    `call_tool('${tool}') failed: ${what} of ${bytes} bytes, at most ${most} are allowed (limits.${limit}). ${remedy}`,
    { details: { tool, limit, bytes, most } },
  );
}
