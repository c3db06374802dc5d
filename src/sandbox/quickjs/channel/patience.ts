/** Weight of the newest outcome. */
const WEIGHT = 0.2;
/** Staying awake pays while at least this part of it met a message: a wake-up costs several times a look. */
const WORTH_IT = 0.3;
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 1_000;

/**
 * Remembers how often staying awake paid lately. When it did not, it says no, and lets one try through after 10 ms, 20 ms, ... up
 * to 1 s; a try that pays brings it back at once. So bursts are served awake from their second message on, and a
 * machine whose threads share a processor, where no amount of waiting awake helps, is left in peace.
 */
export class Patience {
  private rate = 1;
  private nextTry = 0;
  private pauseMs = FIRST_PAUSE_MS;

  get allows(): boolean {
    return this.rate >= WORTH_IT || performance.now() >= this.nextTry;
  }

  hit(): void {
    this.rate = Math.max(this.rate + (1 - this.rate) * WEIGHT, WORTH_IT * 1.6);
    this.pauseMs = FIRST_PAUSE_MS;
  }

  miss(): void {
    this.rate -= this.rate * WEIGHT;
    if (this.rate >= WORTH_IT) return;
    this.nextTry = performance.now() + this.pauseMs;
    this.pauseMs = Math.min(this.pauseMs * 2, LONGEST_PAUSE_MS);
  }
}
