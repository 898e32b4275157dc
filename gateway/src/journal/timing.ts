import { setTimeout } from 'node:timers/promises';

/** Time and chance as the journal sees them, so that a test can hold both in its hands. */
export interface Timing {
  /** Milliseconds that only ever grow; no calendar. */
  now(): number;
  /** Resolves after `ms`, or as soon as the signal aborts; never rejects. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** At least 0 and below 1. */
  random(): number;
}

export const systemTiming: Timing = {
  now: () => performance.now(),
  async sleep(ms, signal) {
    await setTimeout(ms, undefined, { signal }).catch(() => undefined);
  },
  random: Math.random,
};
