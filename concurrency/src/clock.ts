/** The source of time, so that a test can move it. */
export interface Clock {
  /** Milliseconds since the epoch. The system may set this clock back. */
  epochMs(): number;
  /** Milliseconds from a fixed, arbitrary point. It never goes back, so durations are measured with it. */
  monotonicMs(): number;
  /** Resolves after `ms`, or as soon as the signal aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `callback` after `ms` and returns what cancels it. The wait does not keep the process running. */
  after(ms: number, callback: () => void): () => void;
}

/** Delays alone, where the time of day does not matter. */
export type Timers = Pick<Clock, 'after'>;

/** setTimeout fires a longer delay at once. */
export const MAX_DELAY_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  epochMs: Date.now,
  monotonicMs: () => performance.now(),
  sleep(ms, signal) {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (signal?.aborted) {
      resolve();
      return promise;
    }
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, Math.min(ms, MAX_DELAY_MS));
    signal?.addEventListener('abort', end);
    return promise;
  },
  after(ms, callback) {
    const timer = setTimeout(callback, Math.min(ms, MAX_DELAY_MS)).unref();
    return () => clearTimeout(timer);
  },
};
