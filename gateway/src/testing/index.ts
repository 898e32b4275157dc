export { READ_ON_MS } from '../attempt/read-on.ts';
export type { Route } from '../catalogue/route.ts';
export { ADMISSION_BATCHES, type Admissions, createAdmissions } from '../credit/admissions.ts';
export type { Admission, AdmissionDecision, FinishedHold } from '../credit/queries.ts';
export { newRequestId } from '../exchange/request-id.ts';
export { FORMAT as JOURNAL_FORMAT } from '../journal/instance-directory.ts';
export { decodeLines, encodeLine } from '../journal/record-line.ts';
export { releaseOverdueHolds, type Settlement, settle, settleOverdueHolds } from '../journal/settle.ts';
export { openBareWriter } from '../journal/testing/bare-writer.ts';
export { finished, TestProcesses } from '../journal/testing/fixtures.ts';
export { referenceLine } from '../journal/testing/reference-line.ts';
export { waitUntil } from '../journal/testing/wait-until.ts';
export * as rateScripts from '../rates/rate-scripts.ts';
export { createSlidingWindow } from '../rates/sliding-window.ts';
export { addRoute, ROUTE_TIMEOUT_MS } from './add-route.ts';
export { type AdmissionOfOne, admit, type FinishedOfOne } from './admit.ts';
export { type Bench, startBench, useBench } from './bench.ts';
export { claudeCodeBody } from './claude-code-body.ts';
export { codexBody } from './codex-body.ts';
export { CreditNode, type CreditWish, type Reserved } from './credit-node.ts';
export { type FakeRedis, startFakeRedis } from './fake-redis.ts';
export {
  type Asked,
  chunk,
  completion,
  delta,
  flush,
  json,
  type MockProvider,
  type Script,
  sse,
  startMockProvider,
} from './mock-provider.ts';
export { assertNoDelays } from './no-delays.ts';
export { type PostgresProxy, startPostgresProxy } from './postgres-proxy.ts';
export { findRedisServer, type RedisServer, startRedisServer } from './redis-server.ts';
export { type IssuedKey, issueKey, moneyOf, startTestGateway, type TestGateway } from './test-gateway.ts';
