export {
  createFairScheduler,
  type FairScheduler,
  type FairSchedulerOptions,
  type Permit,
  PermitTimeout,
  QueueFull,
} from './fair-scheduler.ts';
