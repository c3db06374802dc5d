/** Calls of the best way of waiting before another one may be tried. */
const STAY = 16;
/** Calls that try another way: the first one is not counted, since it was sent under the old one. */
const TRIAL = 6;
/** Calls until a way that lost is tried again; doubled each time it loses, since a bad one can cost ten times as much. */
const FIRST_PAUSE = 200;
const LONGEST_PAUSE = 20_000;
const WEIGHT = 0.1;
/** A round trip above this is a slow tool: it says nothing of how threads wake each other. */
const MOST_US = 500;
/** Answers that take longer than this are not worth waiting for awake, nor a trial. */
const SLOW_US = 400;

/** How a worker waits for an answer, and its host for the next message. */
interface Way {
  /** The worker looks at the ring for a moment before it sleeps. */
  worker: boolean;
  /** The host looks at the ring for a moment, from its event loop, instead of being woken. */
  host: boolean;
  costUs: number;
  nextTrial: number;
  pause: number;
}

/**
 * Whether a worker and its host wait for each other awake or asleep during a run. Which is faster cannot be known
 * beforehand: to be awake saves most of a call where both threads have a processor each, and costs several times a call where the
 * kernel has put them on the same one, so that who waits is in the way of the other. So each way is measured now and
 * then, and the best one is kept.
 */
export class Attention {
  private readonly ways: readonly Way[] = [
    { worker: false, host: false, costUs: 0, nextTrial: 0, pause: FIRST_PAUSE },
    { worker: true, host: false, costUs: 0, nextTrial: 0, pause: FIRST_PAUSE },
    { worker: true, host: true, costUs: 0, nextTrial: 0, pause: FIRST_PAUSE },
  ];
  private way: Way = this.ways[0] as Way;
  private best: Way = this.way;
  private left = TRIAL;
  private settling = true;
  private calls = 0;
  private samples = 0;

  /** The worker should look before it sleeps. */
  get awake(): boolean {
    return this.way.worker;
  }

  /** The host should look instead of waiting to be woken. */
  get hostAwake(): boolean {
    return this.way.host;
  }

  /** A call was answered after this many microseconds. */
  record(us: number): void {
    this.calls++;
    if (this.settling) {
      this.settling = false;
      return;
    }
    const { way } = this;
    const clipped = Math.min(us, MOST_US);
    // A trial is judged by its own calls alone; the best way by a long memory.
    const weight = way === this.best && this.samples > TRIAL ? WEIGHT : 1 / (this.samples + 1);
    way.costUs += (clipped - way.costUs) * weight;
    this.samples++;
    if (--this.left <= 0) this.choose();
  }

  private choose(): void {
    if (this.way !== this.best) this.judgeTrial();
    const candidate = this.best.costUs > SLOW_US ? this.ways[0] : this.ways.find((way) => this.isWorthATrial(way));
    if (candidate === undefined || candidate === this.best) this.switchTo(this.best, STAY);
    else this.switchTo(candidate, TRIAL);
  }

  /** Its time has come, or the best way has become worse than what this one took when it was last tried. */
  private isWorthATrial(way: Way): boolean {
    if (way === this.best) return false;
    return way.nextTrial <= this.calls || (way.costUs > 0 && way.costUs * 1.3 < this.best.costUs);
  }

  private judgeTrial(): void {
    const { way, best } = this;
    const won = way.costUs < best.costUs;
    const loser = won ? best : way;
    if (won) this.best = way;
    loser.pause = Math.min(loser.pause * 2, LONGEST_PAUSE);
    loser.nextTrial = this.calls + loser.pause;
    this.best.pause = FIRST_PAUSE;
  }

  private switchTo(way: Way, calls: number): void {
    this.settling = way !== this.way;
    if (this.settling) this.samples = way === this.best ? TRIAL + 1 : 0;
    this.way = way;
    this.left = calls;
  }
}
