import type { RateDecision, RateLimiter } from './rate-limiter.ts';

// The times of the requests of the last minute, per key. A counter per clock minute would let twice the limit
// through around its edge, and an average of two counters is only nearly right; the times themselves are exact,
// and never more than the limit of them are kept.
//
// When a key's limit is lowered, more times than the new limit can be in the window for a while: the key then
// waits until enough of them are old.

const WINDOW_MS = 60_000;

/** Exact counting in this process. `monotonicMs` is a clock that never goes back. */
export function createSlidingWindow(monotonicMs: () => number): RateLimiter & { readonly size: number } {
  const windows = new Map<string, Times>();
  let sweptAtMs = monotonicMs();

  // A later request removes keys that went quiet, so no timer has to run.
  const sweep = (nowMs: number) => {
    if (nowMs - sweptAtMs < WINDOW_MS) return;
    sweptAtMs = nowMs;
    for (const [keyId, times] of windows) {
      times.dropUntil(nowMs - WINDOW_MS);
      if (times.size === 0) windows.delete(keyId);
    }
  };

  return {
    async take(keyId, limitRpm) {
      const nowMs = monotonicMs();
      sweep(nowMs);
      let times = windows.get(keyId);
      if (!times) {
        times = new Times();
        windows.set(keyId, times);
      }
      times.dropUntil(nowMs - WINDOW_MS);
      const isAllowed = times.size < limitRpm;
      if (isAllowed) times.add(nowMs);
      return decisionOf(times, limitRpm, nowMs, isAllowed);
    },
    async peek(keyId, limitRpm) {
      const nowMs = monotonicMs();
      const times = windows.get(keyId) ?? new Times();
      times.dropUntil(nowMs - WINDOW_MS);
      return decisionOf(times, limitRpm, nowMs, times.size < limitRpm);
    },
    get size() {
      return windows.size;
    },
  };
}

function decisionOf(times: Times, limit: number, nowMs: number, isAllowed: boolean): RateDecision {
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

/** A queue of ascending times in a ring that doubles when it is full. */
class Times {
  #ring = new Float64Array(8);
  #first = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  at(index: number): number | undefined {
    return index < 0 || index >= this.#size
      ? undefined
      : this.#ring[(this.#first + index) % this.#ring.length];
  }

  add(time: number): void {
    if (this.#size === this.#ring.length) {
      const larger = new Float64Array(this.#ring.length * 2);
      for (let index = 0; index < this.#size; index += 1) larger[index] = this.at(index) ?? 0;
      this.#ring = larger;
      this.#first = 0;
    }
    this.#ring[(this.#first + this.#size) % this.#ring.length] = time;
    this.#size += 1;
  }

  dropUntil(time: number): void {
    for (let oldest = this.at(0); oldest !== undefined && oldest <= time; oldest = this.at(0)) {
      this.#first = (this.#first + 1) % this.#ring.length;
      this.#size -= 1;
    }
  }
}
