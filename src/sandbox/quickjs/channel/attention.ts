/** Calls of one way of waiting before the two are compared again. */
const STAY = 120;
/** Calls that try the other way: the first one is not counted, since it was sent under the old one. */
const TRIAL = 8;
const WEIGHT = 0.15;
/** A round trip above this is a slow tool: it says nothing of how threads wake each other. */
const MOST_US = 500;
/** Answers that take longer than this are not worth waiting for awake, nor a trial. */
const SLOW_US = 400;

/**
 * Whether a worker and its host wait for each other awake or asleep during a run. Which one is faster cannot be known
 * beforehand: awake takes a third of the time when both threads have a processor each, and several times as long when the kernel has put
 * them on the same one, where the waiting thread is in the way of the other. So both are measured, and the better one is kept.
 */
export class Attention {
  private readonly costUs = { awake: 0, asleep: 0 };
  private mode: "awake" | "asleep" = "asleep";
  private left = TRIAL;
  private settling = true;
  /** The last stretch was a long one: the next tries the other way. */
  private stayed = true;

  get awake(): boolean {
    return this.mode === "awake";
  }

  /** A call was answered after this many microseconds. */
  record(us: number): void {
    if (this.settling) {
      this.settling = false;
      return;
    }
    const clipped = Math.min(us, MOST_US);
    const before = this.costUs[this.mode];
    this.costUs[this.mode] = before === 0 ? clipped : before + (clipped - before) * WEIGHT;
    if (--this.left <= 0) this.choose();
  }

  private choose(): void {
    const other = this.mode === "awake" ? "asleep" : "awake";
    const tryOther = this.stayed && this.costUs.asleep <= SLOW_US;
    this.stayed = !tryOther;
    if (tryOther) this.switchTo(other, TRIAL);
    else this.switchTo(this.better(), STAY);
  }

  private better(): "awake" | "asleep" {
    const { awake, asleep } = this.costUs;
    return awake > 0 && awake < asleep && asleep <= SLOW_US ? "awake" : "asleep";
  }

  private switchTo(mode: "awake" | "asleep", calls: number): void {
    this.settling = mode !== this.mode;
    this.mode = mode;
    this.left = calls;
  }
}
