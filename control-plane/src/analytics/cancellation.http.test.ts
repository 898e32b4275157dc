import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { describe, it } from 'node:test';
import { analytics, type Endpoint } from '@gatehouse/contract';
import { createTestTelemetry, type TestTelemetry } from '@gatehouse/store/testing';
import { NOW } from '../testing/analytics-api.ts';
import { addRequests, requestRow } from '../testing/requests.ts';
import { type SignedUp, startTestApi, type TestApi } from '../testing/test-api.ts';
import { waitFor } from '../testing/wait-for.ts';

const QUERIES: readonly (readonly [Endpoint, Record<string, string>])[] = [
  [analytics.getSummary, {}],
  [analytics.getSummary, { time_range: '90d' }],
  [analytics.getTimeseries, {}],
  [analytics.getTimeseries, { time_range: '90d', interval: '1s', group_by: 'key' }],
  [analytics.listRequests, { search: 'x' }],
  [analytics.getUsageThrottling, {}],
];

/** How many queries of one organisation are queued. */
const QUEUED = 100;

/** An API over a store whose request log repeats its rows without end, so that no query finishes. */
async function startEndless(stack: AsyncDisposableStack, analyticsTimeoutMs = 60_000) {
  const telemetry = stack.use(await createTestTelemetry());
  const api = stack.use(
    await startTestApi({ analyticsTimeoutMs }, { telemetry: telemetry.client, nowMicros: () => NOW }),
  );
  const account = await api.signUp();
  const { organizationId } = account;
  await addRequests(telemetry, [
    requestRow({
      organizationId,
      keyId: randomUUID(),
      startedAtMicros: NOW - 1n,
      metadata: new Map([['x', 'x']]),
    }),
  ]);
  const run = (query: string) => telemetry.client.command({ query });
  await run('RENAME TABLE request_log TO rows');
  await run(`CREATE VIEW request_log AS
             SELECT rows.*, total_us, ttft_us, generation_us, search_text
             FROM numbers(1000000000) AS a, numbers(1000) AS b, rows`);
  return {
    telemetry,
    api,
    account,
    async end() {
      await run('DROP VIEW request_log');
      await run('RENAME TABLE rows TO request_log');
    },
  };
}

/** The number of queries that the engine runs on this store. */
async function running({ client, database }: TestTelemetry): Promise<number> {
  const result = await client.query({
    query: `SELECT count() AS n FROM system.processes
            WHERE current_database = {database:String} AND position(query, 'system.processes') = 0`,
    query_params: { database },
    format: 'JSONEachRow',
  });
  return Number((await result.json<{ n: string }>())[0]?.n);
}

/** Sends a request without reading the answer. */
function begin({ port }: TestApi, { client }: SignedUp, endpoint: Endpoint, query: Record<string, string>) {
  const cookie = [...client.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const path = `/api${endpoint.path}?${new URLSearchParams(query)}`;
  const outgoing = request({ host: '127.0.0.1', port, path, headers: { cookie }, agent: false });
  outgoing.on('error', () => undefined);
  outgoing.end();
  return outgoing;
}

describe('an analytics query that never finishes', () => {
  it('stops in the engine when the caller leaves, for every endpoint', async () => {
    await using stack = new AsyncDisposableStack();
    const { telemetry, api, account, end } = await startEndless(stack);
    for (const [endpoint, query] of QUERIES) {
      const outgoing = begin(api, account, endpoint, query);
      await waitFor(`${endpoint.name} to run`, async () => (await running(telemetry)) > 0);
      outgoing.destroy();
      await waitFor(`${endpoint.name} to stop`, async () => (await running(telemetry)) === 0);
    }
    // The caller is not there, so there is nothing to warn of.
    const isRequest = (line: Record<string, unknown>) => line['msg'] === 'request';
    await waitFor(
      'the lines of the requests',
      () =>
        api.logLines.filter(isRequest).filter(({ path }) => /analytics|admin/.test(String(path))).length ===
        QUERIES.length,
    );
    assert.deepEqual(
      api.logLines.filter((line) => !isRequest(line)),
      [],
    );
    // Every permit was returned.
    await end();
    assert.equal((await account.client.call(analytics.getSummary)).total_requests, 1);
    assert.equal((await account.client.call(analytics.getTimeseries)).data.length, 1);
  });

  it('never starts when the caller leaves while it is queued', async () => {
    await using stack = new AsyncDisposableStack();
    const { telemetry, api, account, end } = await startEndless(stack);
    const first = begin(api, account, analytics.getSummary, {});
    const second = begin(api, account, analytics.getSummary, {});
    await waitFor('two to run', async () => (await running(telemetry)) === 2);
    const others = Array.from({ length: QUEUED + 1 }, () => begin(api, account, analytics.getSummary, {}));
    // One is rejected because all the others are queued.
    const rejected = await Promise.any(
      others.map(async (other) => (await once(other, 'response'))[0] as IncomingMessage),
    );
    assert.equal(rejected.statusCode, 503);
    for (const other of others) other.destroy();
    const isOne = (line: Record<string, unknown>) => line['operation'] === analytics.getSummary.name;
    await waitFor('the others to be gone', () => api.logLines.filter(isOne).length === others.length);
    // The permit of the second is free, and no caller that is still there waits for it.
    second.destroy();
    await waitFor('one to stop', async () => (await running(telemetry)) === 1);
    for (let count = 0; count < 20; count += 1) assert.equal(await running(telemetry), 1);
    first.destroy();
    await waitFor('both to stop', async () => (await running(telemetry)) === 0);
    await end();
    assert.equal((await account.client.call(analytics.getSummary)).total_requests, 1);
  });

  it('503 past the time limit, and the engine stops too', async () => {
    await using stack = new AsyncDisposableStack();
    const { telemetry, account, end } = await startEndless(stack, 500);
    for (const [endpoint, query] of QUERIES) {
      const body = await account.client.refused(endpoint, 503, { query });
      assert.deepEqual(body, { error: 'analytics backend unavailable' });
      await waitFor(`${endpoint.name} to stop`, async () => (await running(telemetry)) === 0);
    }
    await end();
  });
});
