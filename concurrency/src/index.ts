export {
  createFairScheduler,
  type FairScheduler,
  type FairSchedulerOptions,
  type Permit,
  QueueFull,
} from './fair-scheduler.ts';
