/** A first failure may be an accident; each further one waits twice as long. */
const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 60_000;
/** An upstream that has worked is started again almost at once. */
const AFTER_WORK_MS = 100;
/** From this many failed starts in a row on, an upstream is parked. */
export const STARTS_UNTIL_PARKED = 8;
/** A parked upstream is tried again this often. */
export const PARKED_MS = 5 * 60_000;

/** When an upstream is started again: a growing delay, then parked. */
export class RestartDelay {
  #failures = 0;

  get isParked(): boolean {
    return this.#failures >= STARTS_UNTIL_PARKED;
  }

  /** It failed. `hasWorked`: it had served calls, or lived for a while. Milliseconds until the next start. */
  failed(hasWorked: boolean): number {
    if (hasWorked) {
      this.#failures = 0;
      return AFTER_WORK_MS;
    }
    this.#failures++;
    if (this.isParked) return PARKED_MS;
    return Math.min(FIRST_DELAY_MS * 2 ** (this.#failures - 1), LONGEST_DELAY_MS);
  }

  /** It cannot work as it is configured: parked at once. */
  park(): number {
    this.#failures = STARTS_UNTIL_PARKED;
    return PARKED_MS;
  }
}
