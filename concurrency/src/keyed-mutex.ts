import { createFairScheduler } from './fair-scheduler.ts';
import type { QueueOptions } from './semaphore.ts';

export interface KeyedMutex {
  /** Runs the work once all earlier work with this key has ended. Throws as `acquire` of a semaphore does. */
  run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** How many keys are in use; no others are remembered. */
  keys(): number;
}

const NEVER = new AbortController().signal;

/** Work with different keys runs at the same time, work with the same key one after the other, in the order of asking. */
export function createKeyedMutex(options: QueueOptions = {}): KeyedMutex {
  const { queue = Number.POSITIVE_INFINITY, ...others } = options;
  const scheduler = createFairScheduler({
    permits: Number.POSITIVE_INFINITY,
    permitsPerTenant: 1,
    queuePerTenant: queue,
    ...others,
  });
  return {
    async run(key, work, signal = NEVER) {
      using _ = await scheduler.acquire(key, signal);
      return await work();
    },
    keys: scheduler.tenants,
  };
}
