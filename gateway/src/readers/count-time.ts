/** What of the main thread's time counting tokens may take: it serves everybody, and anybody chooses what is counted. */
export interface CountTime {
  /** How many milliseconds there are for the next texts; 0 where others have used them up. */
  available(): number;
  /** So many were used. */
  used(milliseconds: number): void;
}

// Ordinary prompts need a fiftieth of it. Where it is used up, whatever is longer than a few lines goes to a reader thread.
const MOST_MS = 8;
const SHARE = 0.1;

/** A leaky bucket of milliseconds: eight at once, then a tenth of the time. */
export function createCountTime(nowMs: () => number): CountTime {
  let level = 0;
  let filledAtMs = nowMs();
  return {
    available() {
      const now = nowMs();
      level = Math.max(0, level - (now - filledAtMs) * SHARE);
      filledAtMs = now;
      return Math.max(0, MOST_MS - level);
    },
    used(milliseconds) {
      level += milliseconds;
    },
  };
}
