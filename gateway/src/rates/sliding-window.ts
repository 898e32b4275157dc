import type { RateDecision, RateLimiter } from './rate-limiter.ts';
import { RequestTimes } from './request-times.ts';

// The times of the requests of the last minute, per key. A counter per clock minute would let twice the limit
// through around its edge, and an average of two counters is only nearly right; the times themselves are exact,
// and never more than the limit of them are kept.
//
// When a key's limit is lowered, more times than the new limit can be in the window for a while: the key then
// waits until enough of them are old.

const WINDOW_MS = 60_000;

/** Exact counting. `monotonicMs` is a clock that never goes back. */
export class SlidingWindow {
  readonly #monotonicMs: () => number;
  readonly #windows = new Map<string, RequestTimes>();
  #sweptAtMs: number;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
    this.#sweptAtMs = monotonicMs();
  }

  get size(): number {
    return this.#windows.size;
  }

  /** Counts one request if it is allowed. A refused one is not counted. */
  take(keyId: string, limitRpm: number): RateDecision {
    const nowMs = this.#monotonicMs();
    const times = this.#timesOf(keyId, nowMs);
    const isAllowed = times.size < limitRpm;
    if (isAllowed) times.add(nowMs);
    return decisionOf(times, limitRpm, nowMs, isAllowed);
  }

  /** How the key stands, counting nothing. */
  peek(keyId: string, limitRpm: number): RateDecision {
    const nowMs = this.#monotonicMs();
    const times = this.#windows.get(keyId) ?? new RequestTimes();
    times.dropUntil(nowMs - WINDOW_MS);
    return decisionOf(times, limitRpm, nowMs, times.size < limitRpm);
  }

  /** Counts a request that was allowed elsewhere, so long ago. */
  remember(keyId: string, ageMs: number): void {
    const nowMs = this.#monotonicMs();
    if (ageMs < WINDOW_MS) this.#timesOf(keyId, nowMs).add(nowMs - ageMs);
  }

  #timesOf(keyId: string, nowMs: number): RequestTimes {
    this.#sweep(nowMs);
    let times = this.#windows.get(keyId);
    if (!times) {
      times = new RequestTimes();
      this.#windows.set(keyId, times);
    }
    times.dropUntil(nowMs - WINDOW_MS);
    return times;
  }

  // A later request removes keys that went quiet, so no timer has to run.
  #sweep(nowMs: number): void {
    if (nowMs - this.#sweptAtMs < WINDOW_MS) return;
    this.#sweptAtMs = nowMs;
    for (const [keyId, times] of this.#windows) {
      times.dropUntil(nowMs - WINDOW_MS);
      if (times.size === 0) this.#windows.delete(keyId);
    }
  }
}

/** Exact counting in this process. */
export function createSlidingWindow(monotonicMs: () => number): RateLimiter & { readonly size: number } {
  const window = new SlidingWindow(monotonicMs);
  return {
    async take(keyId, limitRpm) {
      return window.take(keyId, limitRpm);
    },
    async peek(keyId, limitRpm) {
      return window.peek(keyId, limitRpm);
    },
    get size() {
      return window.size;
    },
  };
}

function decisionOf(times: RequestTimes, limit: number, nowMs: number, isAllowed: boolean): RateDecision {
  // The one whose leaving makes room: with more in the window than the limit, not the oldest.
  const blocking = times.size >= limit ? times.at(times.size - limit) : undefined;
  const newest = times.at(times.size - 1);
  return {
    isAllowed,
    limit,
    remaining: Math.max(0, limit - times.size),
    resetMs: newest === undefined ? 0 : leftOfWindow(newest, nowMs),
    retryAfterMs: blocking === undefined ? 0 : leftOfWindow(blocking, nowMs),
  };
}

// The age is subtracted and not the window added: such a sum is rounded, and could come to more than a minute.
function leftOfWindow(timeMs: number, nowMs: number): number {
  return WINDOW_MS - (nowMs - timeMs);
}
