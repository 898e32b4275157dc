import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { analytics } from '@gatehouse/contract';
import { NOW, SECOND, signUpWithKey, startAnalyticsApi } from '../testing/analytics-api.ts';
import { duringTests } from '../testing/during-tests.ts';

const HOUR = 3_600n * SECOND;
const NOTHING = { p50: null, p95: null };

describe('GET /analytics/trend', () => {
  const started = duringTests(startAnalyticsApi);

  it('200 with zeros and nulls where there was nothing, by default for a day by the hour', async () => {
    const { client } = await started.api.signUp();
    const trend = await client.call(analytics.getTrend);
    assert.equal(trend.buckets.length, 25);
    const { per_bucket, ...total } = trend.total;
    const nothing = {
      requests: 0,
      rows: 0,
      errors: 0,
      tokens: 0,
      cost_pkr: 0,
      avg_total_ms: null,
      avg_ttft_ms: null,
      tokens_per_sec: null,
      total_ms: NOTHING,
      ttft_ms: NOTHING,
    };
    assert.deepEqual(total, nothing);
    assert.deepEqual(per_bucket.requests, Array(25).fill(0));
    assert.deepEqual(per_bucket.total_ms, { p50: Array(25).fill(null), p95: Array(25).fill(null) });
    assert.deepEqual([trend.group_by, trend.groups, trend.other], [null, [], null]);
    const { from, to, ...before } = trend.previous ?? assert.fail();
    assert.deepEqual(before, nothing);
    assert.deepEqual([from, to], ['2026-11-18T10:30:00.123455Z', '2026-11-19T10:30:00.123456Z']);
    assert.equal(trend.from, to);
  });

  it('200 with only the figures that are wanted', async () => {
    const account = await signUpWithKey(started);
    await account.add({ costMicroPkr: 1n }, { costMicroPkr: 2n, startedAtMicros: NOW - HOUR });
    const query = { time_range: '2h', figures: 'cost_pkr, requests,requests', previous: 'false' };
    const trend = await account.client.call(analytics.getTrend, { query: { ...query, group_by: 'key' } });
    assert.deepEqual(trend, {
      from: '2026-11-20T08:30:00.123456Z',
      to: '2026-11-20T10:30:00.123457Z',
      interval: '1h',
      time_zone: 'UTC',
      group_by: 'key',
      figures: ['requests', 'cost_pkr'],
      buckets: ['2026-11-20T08:00:00+00:00', '2026-11-20T09:00:00+00:00', '2026-11-20T10:00:00+00:00'],
      total: {
        requests: 2,
        cost_pkr: 0.000003,
        per_bucket: { requests: [0, 1, 1], cost_pkr: [0, 0.000002, 0.000001] },
      },
      groups: [
        {
          group: account.key.id,
          name: 'k',
          requests: 2,
          cost_pkr: 0.000003,
          per_bucket: { requests: [0, 1, 1], cost_pkr: [0, 0.000002, 0.000001] },
        },
      ],
      other: null,
      previous: null,
    });
  });

  it('200 with rows that add up to the total of the list, and requests that count what rows stand for', async () => {
    const account = await signUpWithKey(started);
    await account.add(
      { status: 429, refusal: 'rate_limit_exceeded', requestCount: 40 },
      { status: 429, refusal: 'rate_limit_exceeded' },
      {},
    );
    const query = { error_code: 'rate_limit_exceeded', figures: 'rows,requests,errors' };
    const { total } = await account.client.call(analytics.getTrend, { query });
    assert.deepEqual([total.rows, total.requests, total.errors], [2, 41, 41]);
    const list = await account.client.call(analytics.listRequests, {
      query: { error_code: 'rate_limit_exceeded' },
    });
    assert.equal(list.total, total.rows);
  });

  it('200 with the window before, to the microsecond, and none before 1970', async () => {
    const account = await signUpWithKey(started);
    const from = NOW - 2n * HOUR;
    await account.add(
      { startedAtMicros: from },
      { startedAtMicros: from - 1n },
      { startedAtMicros: from - HOUR },
      { startedAtMicros: from - HOUR - 1n },
    );
    const trend = await account.client.call(analytics.getTrend, {
      query: { from: '2026-11-20T08:30:00.123456Z', to: '2026-11-20T09:30:00.123456Z', figures: 'requests' },
    });
    assert.equal(trend.total.requests, 1);
    assert.deepEqual(trend.previous, {
      from: '2026-11-20T07:30:00.123456Z',
      to: '2026-11-20T08:30:00.123456Z',
      requests: 2,
    });
    const first = await account.client.call(analytics.getTrend, {
      query: { from: '1970-01-01T00:00:00Z', to: '1970-01-02T00:00:00Z', interval: '1d' },
    });
    assert.equal(first.previous, null);
    assert.deepEqual(first.buckets, ['1970-01-01T00:00:00+00:00']);
  });

  it('200 with days of the time zone, and hours that are only written in it', async () => {
    const account = await signUpWithKey(started);
    const at = (text: string) => BigInt(Date.parse(text)) * 1000n;
    await account.add(
      { startedAtMicros: at('2026-10-24T22:00:00Z') },
      { startedAtMicros: at('2026-10-25T22:59:59Z') },
      { startedAtMicros: at('2026-10-25T23:00:00Z') },
    );
    const call = (interval: string) =>
      account.client.call(analytics.getTrend, {
        query: {
          from: '2026-10-24T22:00:00Z',
          to: '2026-10-26T00:00:00Z',
          interval,
          time_zone: 'Europe/Berlin',
          figures: 'requests',
        },
      });
    const days = await call('1d');
    assert.deepEqual(days.buckets, ['2026-10-25T00:00:00+02:00', '2026-10-26T00:00:00+01:00']);
    assert.deepEqual(days.total.per_bucket.requests, [2, 1]);
    const hours = await call('12h');
    assert.deepEqual(hours.buckets, [
      '2026-10-24T14:00:00+02:00',
      '2026-10-25T02:00:00+02:00',
      '2026-10-25T13:00:00+01:00',
    ]);
    assert.deepEqual(hours.total.per_bucket.requests, [1, 0, 2]);
  });

  it('200 with 2,500 buckets, and 400 for more, or for more groups than fit', async () => {
    const { client } = await started.api.signUp();
    const { buckets } = await client.call(analytics.getTrend, { query: { time_range: '2499h' } });
    assert.equal(buckets.length, 2_500);
    for (const [query, name, message] of [
      [{ time_range: '2500h' }, 'interval', /more than 2500 buckets. 3h is wide enough/],
      [{ interval: '1s' }, 'interval', /more than 2500 buckets/],
      [
        { time_range: '2499h', group_by: 'model' },
        'limit',
        /^Too many groups for 2500 buckets: send a wider interval, or figures without total_ms and ttft_ms/,
      ],
      [{ time_range: '2499h', group_by: 'model', figures: 'requests', limit: '19' }, 'limit', /at most 18/],
      [{ time_range: '900h', group_by: 'model' }, 'limit', /a limit of at most 3, a wider interval, or/],
      [{ figures: 'requests,cost' }, 'figures', /names from requests, rows/],
      [{ figures: ',' }, 'figures', /names from requests/],
      [{ previous: 'yes' }, 'previous', /true, false/],
      [{ group_by: 'metadata:' }, 'group_by', /metadata:NAME/],
      [{ group_by: `metadata:${'n'.repeat(65)}` }, 'group_by', /up to 64 characters/],
      [{ time_zone: 'Mars/Olympus' }, 'time_zone', /IANA time zone/],
      [{ from: '2026-11-21T00:00:00Z' }, 'from', /in the past/],
      [{ from: '2026-11-02T00:00:00Z', to: '2026-11-01T00:00:00Z' }, 'to', /after from/],
      [{ min_cost_pkr: '-1' }, 'min_cost_pkr', /number of PKR/],
    ] as const) {
      const { detail } = await client.refused(analytics.getTrend, 400, { query });
      const [issue] = detail as { loc: string[]; msg: string }[];
      assert.deepEqual(issue?.loc, ['query', name], JSON.stringify(query));
      assert.match(issue?.msg ?? '', message);
    }
    const { error } = await client.refused(analytics.getTrend, 400, { query: { status_category: '6xx' } });
    assert.equal(error, 'status_category must be one of 2xx, 3xx, 4xx, 5xx.');
  });

  it('200 with the ten largest of 10,000 groups and the rest together, in figures, series and total', async () => {
    const account = await signUpWithKey(started);
    await started.telemetry.client.command({
      query: `INSERT INTO request_log (organization_id, timestamp, request_id, model, status, total_ms, termination_reason, metadata)
              SELECT '${account.organizationId}', fromUnixTimestamp64Micro(${NOW} - toInt64(number) * 1000), toString(number), 'm', 200, 1,
                     'success', map('trace', toString(number % 10000))
              FROM numbers(10010)`,
    });
    const trend = await account.client.call(analytics.getTrend, {
      query: { group_by: 'metadata:trace', time_range: '1h', interval: '1m' },
    });
    assert.deepEqual(
      trend.groups.map(({ group, requests }) => [group, requests]),
      Array.from({ length: 10 }, (_, n) => [String(n), 2]),
    );
    assert.deepEqual(
      [trend.other?.groups, trend.other?.requests, trend.total.requests],
      [9_990, 9_990, 10_010],
    );
    assert.deepEqual(trend.total.total_ms, { p50: 1, p95: 1 });
    for (const [nth, requests] of trend.total.per_bucket.requests?.entries() ?? []) {
      const parts = [...trend.groups, trend.other].map((part) => part?.per_bucket.requests?.[nth] ?? 0);
      assert.equal(
        parts.reduce((a, b) => a + b, 0),
        requests,
      );
    }
  });

  it('200 with 100 listed groups of names that are as long and as strange as they can be', async () => {
    const account = await signUpWithKey(started);
    const name = 'n'.repeat(64);
    const values = Array.from(
      { length: 120 },
      (_, n) => `${String(n).padStart(3, '0')}'"\\\n${'😀'.repeat(250)}`,
    );
    await account.add(
      ...values.flatMap((value, n) =>
        Array.from({ length: n < 100 ? 2 : 1 }, () => ({ metadata: new Map([[name, value]]) })),
      ),
    );
    const trend = await account.client.call(analytics.getTrend, {
      query: { group_by: `metadata:${name.toUpperCase()}`, limit: '1000', time_range: '1h' },
    });
    assert.deepEqual(
      trend.groups.map(({ group }) => group),
      values.slice(0, 100),
    );
    assert.deepEqual([trend.other?.groups, trend.other?.requests, trend.total.requests], [20, 20, 220]);
  });
});
