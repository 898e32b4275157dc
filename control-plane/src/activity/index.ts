export { listActivity } from './list-activity.ts';
export { type ActivityEntry, record } from './record.ts';
