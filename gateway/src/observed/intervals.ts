import type { Clock, Timers } from '@gatehouse/concurrency';

/** Counts are written after so long: intervals of the clock, of which none reaches over a minute. */
export const INTERVAL_MS = 10_000;

/** The number of the interval that a time lies in. */
export function intervalOf(micros: bigint): bigint {
  return micros / BigInt(INTERVAL_MS * 1000);
}

/** Calls `then` once at the end of the interval that it is now, however often it is asked to. */
export class IntervalTimer {
  readonly #clock: Clock;
  readonly #timers: Timers;
  readonly #then: () => void;
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, timers: Timers, then: () => void) {
    this.#clock = clock;
    this.#timers = timers;
    this.#then = then;
  }

  start(): void {
    if (this.#cancel) return;
    const leftMs = INTERVAL_MS - (this.#clock.epochMs() % INTERVAL_MS);
    this.#cancel = this.#timers.after(leftMs, () => {
      this.#cancel = undefined;
      this.#then();
    });
  }

  cancel(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }
}
