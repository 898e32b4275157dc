import type { Clock } from './clock.ts';
import { createFairScheduler, type Permit } from './fair-scheduler.ts';

/**
 * Permits in the order of asking, with a bounded queue. A semaphore is a fair scheduler with one tenant, a keyed mutex
 * one with a permit per tenant. `p-limit` and `async-mutex` have no bounded queue and cannot abort a single waiter.
 */
export interface Semaphore {
  /** Throws `QueueFull`, `PermitTimeout` or the signal's reason where it gives no permit. */
  acquire(signal?: AbortSignal): Promise<Permit>;
  /** Runs the work with a permit. */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

export interface QueueOptions {
  /** How many may wait (for each key of a keyed mutex); no limit unless given. */
  readonly queue?: number;
  /** How long each waits; until the permit comes unless given. */
  readonly timeoutMs?: number;
  readonly clock?: Pick<Clock, 'after'>;
}

const ALL = '';
const NEVER = new AbortController().signal;

export function createSemaphore(options: QueueOptions & { readonly permits: number }): Semaphore {
  const { permits, queue = Number.POSITIVE_INFINITY, ...others } = options;
  const scheduler = createFairScheduler({
    permits,
    permitsPerTenant: permits,
    queuePerTenant: queue,
    ...others,
  });
  const acquire = (signal = NEVER) => scheduler.acquire(ALL, signal);
  return {
    acquire,
    async run(work, signal) {
      using _ = await acquire(signal);
      return await work();
    },
  };
}

/** Runs work one after the other, in the order of asking. Work that fails does not stop the next. */
export function createMutex(options: QueueOptions = {}): Semaphore {
  return createSemaphore({ ...options, permits: 1 });
}
