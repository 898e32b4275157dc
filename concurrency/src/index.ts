export { BACKGROUND_THREADS } from './background-threads.ts';
export { type Backoff, type BackoffOptions, createBackoff } from './backoff.ts';
export { type Clock, systemClock, type Timers } from './clock.ts';
export {
  createFairBatcher,
  type FairBatcher,
  type FairBatcherOptions,
  type Queued,
  QueueTimeout,
  type Urgency,
} from './fair-batcher.ts';
export {
  createFairScheduler,
  type FairScheduler,
  type FairSchedulerOptions,
  type Permit,
  PermitTimeout,
  QueueFull,
} from './fair-scheduler.ts';
export { createKeyedMutex, type KeyedMutex } from './keyed-mutex.ts';
export {
  identifyProcess,
  ownProcess,
  type ProcessIdentity,
  type ProcessState,
  processState,
} from './process-identity.ts';
export { Registry } from './registry.ts';
export { createMutex, createSemaphore, type QueueOptions, type Semaphore } from './semaphore.ts';
export { createTurns } from './turns.ts';
export { finishesWithin, withTimeout } from './with-timeout.ts';
