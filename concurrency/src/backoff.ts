/** The waits between the attempts of something that keeps failing: each twice the one before, up to a maximum. */
export interface Backoff {
  /** Failures since the last reset. */
  readonly failures: number;
  /** Counts a failure and returns the milliseconds to wait before the next attempt. */
  nextMs(): number;
  /** To be called after a success. */
  reset(): void;
}

export interface BackoffOptions {
  readonly firstMs: number;
  readonly maxMs: number;
  /** The number of failures in a row that are followed by no wait; 0 unless given. */
  readonly immediateRetries?: number;
  /** The random part of each wait, from 0 to 1; 0 unless given. It keeps processes that failed together apart. */
  readonly jitter?: number;
  /** At least 0 and below 1. */
  readonly random?: () => number;
}

export function createBackoff(options: BackoffOptions): Backoff {
  const { firstMs, maxMs, immediateRetries = 0, jitter = 0, random = Math.random } = options;
  let failures = 0;
  return {
    get failures() {
      return failures;
    },
    nextMs() {
      failures += 1;
      const doublings = failures - immediateRetries - 1;
      if (doublings < 0) return 0;
      const longestMs = Math.min(maxMs, firstMs * 2 ** doublings);
      return longestMs * (1 - jitter + jitter * random());
    },
    reset() {
      failures = 0;
    },
  };
}
