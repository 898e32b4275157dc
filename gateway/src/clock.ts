/** Where the time comes from, so that a test can move it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds from any fixed point; never goes back. */
  monotonic(): number;
}

/** Where a delay comes from. `after` returns what calls it off. */
export interface Timers {
  after(ms: number, then: () => void): () => void;
}

// A longer delay would make setTimeout fire at once.
const LONGEST_DELAY_MS = 2 ** 31 - 1;

export const realTimers: Timers = {
  after(ms, then) {
    const timer = setTimeout(then, Math.min(ms, LONGEST_DELAY_MS));
    // What it is meant to end keeps the process running, not the wait.
    timer.unref();
    return () => clearTimeout(timer);
  },
};
