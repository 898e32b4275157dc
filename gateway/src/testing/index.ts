export { releaseOverdueHolds, type Settlement, settle } from '../journal/settle.ts';
export { type Admission, admit, admitMany, type Ruling, type Verdict } from '../queries.ts';
export { createSlidingWindow } from '../rates/sliding-window.ts';
export { newRequestId } from '../request-id.ts';
export { admitByok } from '../vault/queries.ts';
export {
  chunk,
  completion,
  delta,
  json,
  type MockProvider,
  type Script,
  sse,
  startMockProvider,
} from './mock-provider.ts';
