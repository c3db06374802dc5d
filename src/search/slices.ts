/** Milliseconds that may pass in one go. Small against the 50 ms at which a server feels stuck. */
const SLICE_MS = 8;

/** Cuts long synchronous work into slices, so that a server goes on answering while it indexes. */
export interface Slices {
  /** True when this slice has taken its time. Ask after each small step. */
  isOver(): boolean;
  /** Lets everything else run, then begins a new slice. */
  next(): Promise<void>;
}

/** Begins the first slice. */
export function startSlices(): Slices {
  let started = performance.now();
  return {
    isOver: () => performance.now() - started > SLICE_MS,
    async next() {
      await new Promise<void>((resolve) => setImmediate(resolve));
      started = performance.now();
    },
  };
}
