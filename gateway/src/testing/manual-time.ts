import type { Clock, Timers } from '@gatehouse/concurrency';
import { within } from '../journal/testing/wait-until.ts';

const LIMIT_MS = 30_000;

/** A clock and timers that move only when a test says so. */
export interface ManualTime {
  readonly clock: Clock;
  readonly timers: Timers;
  advance(ms: number): void;
  /** Runs what was to happen after exactly this delay, and throws when there is no such thing. */
  fire(ms: number): void;
  /** The same for the longest delay that is running. */
  fireLongest(): void;
  /** Resolves as soon as something is to happen after exactly this delay. Throws when nothing is within 30 seconds. */
  started(ms: number): Promise<void>;
  /** Resolves as soon as so many delays of exactly this length are running. Throws when they are not within 30 seconds. */
  running(ms: number, delays: number): Promise<void>;
  /** How many delays are running. */
  readonly pending: number;
}

export function createManualTime(): ManualTime {
  let elapsedMs = 0;
  const waiting = new Set<{ readonly ms: number; readonly resolve: () => void }>();
  const running = new Set<{ readonly ms: number; readonly then: () => void }>();
  const checks = new Set<() => void>();
  const fire = (ms: number) => {
    const due = [...running].filter((timer) => timer.ms === ms);
    if (due.length === 0) throw new Error(`nothing waits for ${ms} ms`);
    for (const timer of due) {
      running.delete(timer);
      timer.then();
    }
  };
  const after: Clock['after'] = (ms, then) => {
    const timer = { ms, then };
    running.add(timer);
    for (const check of checks) check();
    for (const one of waiting) if (one.ms === ms && waiting.delete(one)) one.resolve();
    return () => {
      running.delete(timer);
      for (const check of checks) check();
    };
  };
  const clock: Clock = {
    epochMs: () => Date.UTC(2026, 10, 20, 10, 15, 30) + elapsedMs,
    monotonicMs: () => 5_000 + elapsedMs,
    sleep(ms, signal) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const cancel = after(ms, resolve);
      signal?.addEventListener('abort', () => {
        cancel();
        resolve();
      });
      return promise;
    },
    after,
  };
  return {
    clock,
    timers: clock,
    advance(ms) {
      elapsedMs += ms;
    },
    fire,
    fireLongest: () => fire(Math.max(...Array.from(running, ({ ms }) => ms))),
    started(ms) {
      const { promise, resolve } = Promise.withResolvers<void>();
      if ([...running].some((timer) => timer.ms === ms)) resolve();
      else waiting.add({ ms, resolve });
      return within(`a delay of ${ms} ms`, LIMIT_MS, promise);
    },
    running(ms, delays) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const check = () => {
        if ([...running].filter((timer) => timer.ms === ms).length !== delays) return;
        checks.delete(check);
        resolve();
      };
      checks.add(check);
      check();
      return within(`${delays} delays of ${ms} ms`, LIMIT_MS, promise);
    },
    get pending() {
      return running.size;
    },
  };
}
