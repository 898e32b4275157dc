import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFairScheduler } from '@gatehouse/concurrency';
import { ApiError, type OrganizationId } from '@gatehouse/contract';
import { rawSql, type TelemetryClient, telemetryQuery } from '@gatehouse/store';
import { pino } from 'pino';
import type { AnalyticsDependencies } from './dependencies.ts';
import { openQuerySession } from './query-session.ts';

const HOUR_MS = 3_600_000;
const QUERY = telemetryQuery<{ n: number }>(rawSql('SELECT 1 AS n'));

/** A session over a store that fails as often as `failures` says and then answers with a row. */
function setUp(retryDelaysMs: readonly number[] = []) {
  const store = { failures: 0, queries: 0, error: () => new Error('no connection') };
  const telemetry = {
    async query() {
      store.queries += 1;
      store.failures -= 1;
      if (store.failures >= 0) throw store.error();
      return { json: async () => [{ n: 1 }], close: () => undefined };
    },
  } as unknown as TelemetryClient;
  const logLines: Record<string, unknown>[] = [];
  const counted: string[] = [];
  const queries = createFairScheduler({ permits: 1, permitsPerTenant: 1, queuePerTenant: 1 });
  const gone = new AbortController();
  const dependencies = {
    telemetry,
    log: pino({}, { write: (line: string) => logLines.push(JSON.parse(line)) }),
    timeoutMs: 60_000,
    queries,
    retryDelaysMs,
    metrics: { analyticsQuery: (outcome: string) => counted.push(outcome) },
  } as unknown as AnalyticsDependencies;
  const open = (timeoutMs = 60_000) =>
    openQuerySession(
      { ...dependencies, timeoutMs },
      { organizationId: 'o' as OrganizationId, requestId: 'r', gone: gone.signal },
    );
  /** The number of queries that the store gets until this one is answered, or rejected. */
  const queriesOf = async (answer: () => Promise<unknown>) => {
    store.queries = 0;
    const status = await answer().then(
      () => 200,
      (error) => (error instanceof ApiError ? error.status : error),
    );
    return [status, store.queries];
  };
  return { store, queries, gone, open, logLines, counted, queriesOf };
}

describe('a query session', { timeout: 60_000 }, () => {
  it('runs a query of the first page once, and retries one of a later page after each delay', async () => {
    const { store, open, queriesOf } = setUp([0, 0]);
    let session = open();
    const run = (failures: number) => {
      store.failures = failures;
      return queriesOf(() => session.row(QUERY));
    };
    assert.deepEqual(await run(1), [503, 1]);
    session = open();
    assert.deepEqual(await run(0), [200, 1]);
    session.nextPage();
    assert.deepEqual(await run(2), [200, 3]);
    session.nextPage();
    assert.deepEqual(await run(3), [503, 3]);
  });

  it('logs each failure with its cause', async () => {
    const { store, open, logLines } = setUp();
    store.failures = 1;
    await assert.rejects(open().rows(QUERY), ApiError);
    assert.deepEqual(
      logLines.map(({ level, event, msg, request_id, err }) => [level, event, msg, request_id, typeof err]),
      [[40, 'analytics.query_failed', 'analytics query failed: telemetry store unavailable', 'r', 'object']],
    );
  });

  it('does not retry once the caller has left, also in the middle of a delay', async () => {
    const { store, gone, open, queriesOf, logLines } = setUp([HOUR_MS]);
    const session = open();
    session.nextPage();
    store.failures = 2;
    const waiting = queriesOf(() => session.row(QUERY));
    // All that comes before the delay takes no more than promises.
    await new Promise((resolve) => setImmediate(resolve));
    gone.abort();
    const [error, queries] = await waiting;
    assert.deepEqual([(error as Error).name, queries], ['AbortError', 1]);
    assert.deepEqual(await queriesOf(() => session.row(QUERY)), [503, 0]);
    assert.equal(logLines.length, 1);
  });

  it('rejects a query past the queue of the organisation, and one without a permit in time', async () => {
    const { queries, open, logLines, counted } = setUp();
    const running = await queries.acquire('o', new AbortController().signal);
    const late = open(1).rows(QUERY);
    await assert.rejects(open().rows(QUERY), { status: 503, headers: { 'retry-after': '2' } });
    await assert.rejects(late, { status: 503 });
    running[Symbol.dispose]();
    assert.deepEqual(await open().rows(QUERY), [{ n: 1 }]);
    assert.deepEqual(counted, ['rejected', 'rejected', 'answered']);
    assert.deepEqual(
      logLines.map(({ level, event, msg, organization_id }) => [level, event, msg, organization_id]),
      ['tenant queue full', 'no permit in time'].map((why) => [
        30,
        'analytics.query_rejected',
        `analytics query rejected: ${why}`,
        'o',
      ]),
    );
    assert.equal(queries.tenants(), 0);
  });
});
