/** After this many failed calls in a row, further ones are refused at once for a while. */
export const FAILURES_TO_OPEN = 5;
const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 30_000;

/** Refuses calls to an upstream that fails every time, so that scripts do not wait for it; one success closes it. */
export class Breaker {
  #failures = 0;
  #pauseMs = FIRST_PAUSE_MS;
  #openUntil = 0;

  /** Milliseconds until a call is let through; 0: now. */
  get waitMs(): number {
    return this.#failures < FAILURES_TO_OPEN ? 0 : Math.max(0, this.#openUntil - performance.now());
  }

  succeeded(): void {
    this.#failures = 0;
    this.#pauseMs = FIRST_PAUSE_MS;
  }

  failed(): void {
    this.#failures++;
    if (this.#failures < FAILURES_TO_OPEN) return;
    this.#openUntil = performance.now() + this.#pauseMs;
    this.#pauseMs = Math.min(2 * this.#pauseMs, LONGEST_PAUSE_MS);
  }
}
