export { type Admissions, createAdmissions } from '../admissions.ts';
export { releaseOverdueHolds, type Settlement, settle, settleOverdueHolds } from '../journal/settle.ts';
export { FakeProcesses } from '../journal/testing.ts';
export { createPermits } from '../permits.ts';
export {
  type Admission,
  type AdmissionDecision,
  admit,
  type FinishedHold,
  type Route,
} from '../queries.ts';
export { createSlidingWindow } from '../rates/sliding-window.ts';
export { newRequestId } from '../request-id.ts';
export { CreditNode, type CreditWish, type Reserved } from './credit-node.ts';
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
export { issueKey } from './test-gateway.ts';
