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

const QUESTIONS: readonly (readonly [Endpoint, Record<string, string>])[] = [
  [analytics.getSummary, {}],
  [analytics.getSummary, { time_range: '90d' }],
  [analytics.getTimeseries, {}],
  [analytics.getTimeseries, { time_range: '90d', interval: '1s', group_by: 'key' }],
  [analytics.listRequests, { search: 'x' }],
  [analytics.getUsageThrottling, {}],
];

/** How many questions of one organisation may wait for their turn. */
const IN_LINE = 100;

/** An API over a store in which every row of the log is there without end, so that no question is ever through. */
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

/** How many questions about this store the engine is at. */
async function running({ client, database }: TestTelemetry): Promise<number> {
  const result = await client.query({
    query: `SELECT count() AS n FROM system.processes
            WHERE current_database = {database:String} AND position(query, 'system.processes') = 0`,
    query_params: { database },
    format: 'JSONEachRow',
  });
  return Number((await result.json<{ n: string }>())[0]?.n);
}

/** Sends a question whose answer is never taken. */
function begin({ port }: TestApi, { client }: SignedUp, endpoint: Endpoint, query: Record<string, string>) {
  const cookie = [...client.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const path = `/api${endpoint.path}?${new URLSearchParams(query)}`;
  const outgoing = request({ host: '127.0.0.1', port, path, headers: { cookie }, agent: false });
  outgoing.on('error', () => undefined);
  outgoing.end();
  return outgoing;
}

describe('a question of analytics that is never through', () => {
  it('stops in the engine when the caller goes, whichever question it is', async () => {
    await using stack = new AsyncDisposableStack();
    const { telemetry, api, account, end } = await startEndless(stack);
    for (const [endpoint, query] of QUESTIONS) {
      const outgoing = begin(api, account, endpoint, query);
      await waitFor(`${endpoint.name} to run`, async () => (await running(telemetry)) > 0);
      outgoing.destroy();
      await waitFor(`${endpoint.name} to stop`, async () => (await running(telemetry)) === 0);
    }
    // Nobody was there to be told, so there is nothing to warn of.
    const isRequest = (line: Record<string, unknown>) => line['msg'] === 'request';
    await waitFor(
      'the lines of the requests',
      () =>
        api.logLines.filter(isRequest).filter(({ path }) => /analytics|admin/.test(String(path))).length ===
        QUESTIONS.length,
    );
    assert.deepEqual(
      api.logLines.filter((line) => !isRequest(line)),
      [],
    );
    // Every turn has been given back.
    await end();
    assert.equal((await account.client.call(analytics.getSummary)).total_requests, 1);
    assert.equal((await account.client.call(analytics.getTimeseries)).data.length, 1);
  });

  it('never starts when the caller goes while it waits for its turn', async () => {
    await using stack = new AsyncDisposableStack();
    const { telemetry, api, account, end } = await startEndless(stack);
    const first = begin(api, account, analytics.getSummary, {});
    const second = begin(api, account, analytics.getSummary, {});
    await waitFor('two to run', async () => (await running(telemetry)) === 2);
    const others = Array.from({ length: IN_LINE + 1 }, () => begin(api, account, analytics.getSummary, {}));
    // One is refused, and that because all the others wait.
    const refused = await Promise.any(
      others.map(async (other) => (await once(other, 'response'))[0] as IncomingMessage),
    );
    assert.equal(refused.statusCode, 503);
    for (const other of others) other.destroy();
    const isOne = (line: Record<string, unknown>) => line['operation'] === analytics.getSummary.name;
    await waitFor('the others to be gone', () => api.logLines.filter(isOne).length === others.length);
    // The turn of the one that ran is free, and nobody who is still there wants it.
    second.destroy();
    await waitFor('one to stop', async () => (await running(telemetry)) === 1);
    for (let count = 0; count < 20; count += 1) assert.equal(await running(telemetry), 1);
    first.destroy();
    await waitFor('both to stop', async () => (await running(telemetry)) === 0);
    await end();
    assert.equal((await account.client.call(analytics.getSummary)).total_requests, 1);
  });

  it('503 past the time limit, and then the engine is through with it too', async () => {
    await using stack = new AsyncDisposableStack();
    const { telemetry, account, end } = await startEndless(stack, 500);
    for (const [endpoint, query] of QUESTIONS) {
      const body = await account.client.refused(endpoint, 503, { query });
      assert.deepEqual(body, { error: 'analytics backend unavailable' });
      await waitFor(`${endpoint.name} to stop`, async () => (await running(telemetry)) === 0);
    }
    await end();
  });
});
