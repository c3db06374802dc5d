const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/** Remembers whether staying awake paid: after two misses in a row it says no for 100 ms, then 200 ms, ... up to 5 s. */
export class Patience {
  private misses = 0;
  private pausedUntil = 0;
  private pauseMs = FIRST_PAUSE_MS;

  get allows(): boolean {
    return performance.now() >= this.pausedUntil;
  }

  hit(): void {
    this.misses = 0;
    this.pauseMs = FIRST_PAUSE_MS;
  }

  miss(): void {
    if (++this.misses < 2) return;
    this.misses = 0;
    this.pausedUntil = performance.now() + this.pauseMs;
    this.pauseMs = Math.min(this.pauseMs * 2, LONGEST_PAUSE_MS);
  }
}
