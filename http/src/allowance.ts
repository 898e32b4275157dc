export interface AllowanceOptions {
  /** The number that may come at once. */
  readonly most: number;
  /** The number that comes back in a second. */
  readonly perSecond: number;
  /** Time in milliseconds that never goes back. */
  readonly now: () => number;
}

/** A number of things that is used up and comes back with time. Returns what takes one, and says whether there was one. */
export function createAllowance({ most, perSecond, now }: AllowanceOptions): () => boolean {
  let left = most;
  let sinceMs = now();
  return () => {
    const nowMs = now();
    left = Math.min(most, left + ((nowMs - sinceMs) / 1_000) * perSecond);
    sinceMs = nowMs;
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}
