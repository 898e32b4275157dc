import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { activity, analytics, catalogue, type Endpoint, keys, organization } from '@gatehouse/contract';
import { createTestTelemetry } from '@gatehouse/store/testing';
import { NOW, SECOND } from '../testing/analytics-api.ts';
import { BREAKAGES, type Breakage, bounded, startBrokenTelemetry } from '../testing/broken-telemetry.ts';
import { comparable } from '../testing/comparable.ts';
import { addRequests, requestRow } from '../testing/requests.ts';
import { startTelemetryProxy } from '../testing/telemetry-proxy.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';
import { watchedTelemetry } from '../testing/watched-telemetry.ts';
import type { PageSizes } from './index.ts';

const ENDPOINTS = [
  analytics.getSummary,
  analytics.getTimeseries,
  analytics.listRequests,
  analytics.getUsageThrottling,
  analytics.getSpend,
  analytics.getBreakdown,
  analytics.getTrend,
];

// The answer to each endpoint's first query from a healthy store.
const ROW = {
  requests_text: '1',
  mean_total_ms: 1,
  mean_ttft_ms: null,
  tokens_a_second: null,
  tokens_text: '1',
  cost_text: '1',
  matching: '1',
  bucket: '2026-11-20T10:00:00',
  group: 'a/one',
  value: 1,
  key: '00000000-0000-4000-8000-000000000000',
  throttled_text: '0',
  peak_text: '1',
  last_throttled_micros: null,
  found: [],
  members: '0',
  labels: [],
};

// Endpoints whose first query always has a row. For the others an empty answer is valid.
const NEVER_EMPTY = [
  analytics.getSummary,
  analytics.getTimeseries,
  analytics.listRequests,
  analytics.getSpend,
  analytics.getBreakdown,
  analytics.getTrend,
];

async function rejects503(api: TestApi, of: readonly Endpoint[] = ENDPOINTS) {
  const { client } = await api.signUp();
  for (const endpoint of of) {
    const reply = await bounded(client.send(endpoint));
    assert.equal(reply.status, 503);
    assert.equal(reply.text, '{"error":"analytics backend unavailable"}');
    const causes = api.logLines.filter(
      (line) => line['request_id'] === reply.headers['x-request-id'] && line['msg'] !== 'request',
    );
    assert.equal(causes.length, 1);
  }
}

describe('analytics while the telemetry store refuses connections', () => {
  it('503 with the text of the specification, and one log line with the cause', async () => {
    await using api = await startTestApi();
    await rejects503(api);
    const logged = api.logLines.filter(
      (line) => line['msg'] === 'analytics query failed: telemetry store unavailable',
    );
    assert.equal(logged.length, ENDPOINTS.length);
    for (const { err } of logged) assert.match(JSON.stringify(err), /TelemetryUnavailable.*ECONNREFUSED/);
  });

  it('401, then 400, then 404, and only then 503', async () => {
    await using api = await startTestApi();
    const [account, stranger] = [await api.signUp(), await api.signUp()];
    const { projects } = await stranger.client.call(organization.listProjects);
    const foreign = await stranger.client.call(keys.createKey, {
      body: { project_id: projects[0]?.id, name: 'k' },
    });
    const { client } = account;
    for (const endpoint of ENDPOINTS) {
      const wrong = { time_range: 'x', key_id: foreign.id };
      await api.anonymous().refused(endpoint, 401, { query: wrong });
      await client.refused(endpoint, 400, { query: wrong });
      await client.refused(endpoint, 404, { query: { key_id: foreign.id } });
      await client.refused(endpoint, 503);
    }
    const wrong = { status_category: '9xx', key_id: foreign.id };
    await client.refused(analytics.listRequests, 400, { query: wrong });
    await client.refused(analytics.listRequests, 503, { query: { offset: 2_000_000_000 } });
  });

  it('404 alike for a project or key that is foreign, unknown or malformed', async () => {
    await using api = await startTestApi();
    const [account, stranger] = [await api.signUp(), await api.signUp()];
    const { projects } = await stranger.client.call(organization.listProjects);
    const foreign = await stranger.client.call(keys.createKey, {
      body: { project_id: projects[0]?.id, name: 'k' },
    });
    for (const endpoint of ENDPOINTS) {
      for (const [name, foreignId] of [
        ['project_id', foreign.project_id],
        ['key_id', foreign.id],
      ] as const) {
        const replies = [];
        for (const id of [foreignId, randomUUID(), 'not-a-uuid', `{${foreignId}}`, `${foreignId} `, "'"]) {
          const reply = await account.client.send(endpoint, { query: { [name]: id } });
          assert.equal(reply.status, 404);
          replies.push(comparable(reply));
        }
        for (const reply of replies) assert.deepEqual(reply, replies[0]);
      }
    }
  });

  it('200 from everything else', async () => {
    await using api = await startTestApi();
    const { client } = await api.signUp();
    for (const endpoint of [
      keys.listKeys,
      catalogue.listRoutes,
      organization.listProjects,
      activity.listActivity,
    ]) {
      assert.equal((await client.send(endpoint)).status, 200);
    }
  });
});

describe('analytics while the telemetry store is broken', () => {
  for (const breakage of Object.keys(BREAKAGES) as Breakage[]) {
    it(`503 when it ${breakage}`, async () => {
      await using broken = await startBrokenTelemetry(breakage, ROW);
      await using api = await startTestApi({ analyticsTimeoutMs: 300 }, { telemetry: broken.client });
      await rejects503(api, breakage === 'answers with nothing' ? NEVER_EMPTY : ENDPOINTS);
    });
  }

  it('503 at once, with one cause, when one of two concurrent queries fails and the other hangs', async () => {
    await using silent = await startBrokenTelemetry('never answers');
    for (const [breakage, failing] of [
      ['hangs up', 1],
      ['hangs up', 2],
      // The first counts rows, which always has an answer.
      ['answers with nothing', 1],
    ] as const) {
      await using broken = await startBrokenTelemetry(breakage);
      const choose = (query: number) => (query === failing ? broken : silent).client;
      const telemetry = watchedTelemetry(silent.client, choose);
      await using api = await startTestApi({ analyticsTimeoutMs: 60_000 }, { telemetry });
      await rejects503(api, [analytics.listRequests]);
    }
  });

  it('200 when it answers with the row, so that the failures above are those of the breakage', async () => {
    await using whole = await startBrokenTelemetry('answers with the row', ROW);
    await using api = await startTestApi({}, { telemetry: whole.client });
    const { client } = await api.signUp();
    const cookie = [...client.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    for (const endpoint of ENDPOINTS) {
      // So far past the only row, the list only counts.
      const path = `/api${endpoint.path}?offset=2000`;
      // The points are passed on as the store wrote them, so they have more members than the contract declares.
      const { status } = await client.raw({ method: 'GET', path, headers: { cookie } });
      assert.equal(status, 200, endpoint.name);
    }
  });
});

describe('analytics while the telemetry store becomes unavailable', () => {
  /** A series of sixty points, over a store that answers a limited number of queries. */
  async function setUp(stack: AsyncDisposableStack, pages?: PageSizes) {
    const telemetry = stack.use(await createTestTelemetry());
    const cut = stack.use(await startTelemetryProxy(telemetry));
    const parts = { telemetry: cut.client, nowMicros: () => NOW, ...(pages ? { pages } : {}) };
    const api = stack.use(await startTestApi({}, parts));
    const account = await api.signUp();
    const rows = Array.from({ length: 60 }, (_, index) =>
      requestRow({
        organizationId: account.organizationId,
        startedAtMicros: NOW - BigInt(index) * 60n * SECOND,
      }),
    );
    await addRequests(telemetry, rows);
    const send = () => account.client.send(analytics.getTimeseries, { query: { interval: '1m' } });
    const causes = () => api.logLines.filter((line) => line['msg'] !== 'request');
    return { cut, send, causes };
  }

  it('200 aborted where the second page is missing, with one log line with the cause', async () => {
    await using stack = new AsyncDisposableStack();
    const { cut, send, causes } = await setUp(stack, {
      points: 20,
      rows: 1,
      bytes: 1_000_000,
      buckets: 100_000,
    });
    cut.allow(1);
    await assert.rejects(send(), { code: 'ECONNRESET' });
    assert.deepEqual(
      causes().map((line) => line['msg']),
      ['analytics query failed: telemetry store unavailable'],
    );
    // The permit of the answer is returned each time.
    for (let count = 0; count < 5; count += 1) {
      cut.allow(2);
      await assert.rejects(send(), { code: 'ECONNRESET' });
    }
    cut.allow(Number.POSITIVE_INFINITY);
    const reply = await send();
    assert.equal(JSON.parse(reply.text).data.length, 60);
  });

  it('503 where the first page is missing', async () => {
    await using stack = new AsyncDisposableStack();
    const { cut, send } = await setUp(stack, { points: 20, rows: 1, bytes: 1_000_000, buckets: 100_000 });
    cut.allow(0);
    assert.equal((await send()).status, 503);
    cut.allow(Number.POSITIVE_INFINITY);
    assert.equal((await send()).status, 200);
  });
});
