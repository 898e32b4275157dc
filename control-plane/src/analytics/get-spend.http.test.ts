import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { analytics, keys, organization } from '@gatehouse/contract';
import { DAY, NOW, SECOND, signUpWithKey, startAnalyticsApi } from '../testing/analytics-api.ts';
import { duringTests } from '../testing/during-tests.ts';
import type { SignedUp } from '../testing/test-api.ts';

// Now is 2026-11-20T10:30:00.123456Z. Everything else is in random-spend.http.test.ts.

describe('GET /analytics/spend', () => {
  const started = duringTests(startAnalyticsApi);
  const spendOf = ({ client }: SignedUp, query: Record<string, string> = {}) =>
    client.call(analytics.getSpend, { query });

  it('200 with zero in every bucket, and no groups, of an empty window', async () => {
    const account = await signUpWithKey(started);
    assert.deepEqual(await spendOf(account, { time_range: '2h' }), {
      from: '2026-11-20T08:30:00.123456Z',
      to: '2026-11-20T10:30:00.123457Z',
      interval: '1h',
      time_zone: 'UTC',
      group_by: 'model',
      buckets: ['2026-11-20T08:00:00+00:00', '2026-11-20T09:00:00+00:00', '2026-11-20T10:00:00+00:00'],
      total: { cost_pkr: 0, costs_pkr: [0, 0, 0] },
      groups: [],
      other: null,
    });
  });

  it('200 with the most expensive first, the rest together, and all of it in the total', async () => {
    const account = await signUpWithKey(started);
    const earlier = NOW - 3_600n * SECOND;
    await account.add(
      { model: 'cheap', costMicroPkr: 1n },
      { model: 'dear', costMicroPkr: 8_200_000n, startedAtMicros: earlier },
      { model: 'dear', costMicroPkr: 1n },
      { model: 'middle', costMicroPkr: 5n, startedAtMicros: earlier },
      { model: '', costMicroPkr: 2n },
      { model: 'refused', costMicroPkr: 0n, status: 404 },
    );
    const { total, groups, other } = await spendOf(account, { time_range: '1h', limit: '2' });
    assert.deepEqual(total, { cost_pkr: 8.200009, costs_pkr: [8.200005, 0.000004] });
    assert.deepEqual(groups, [
      { group: 'dear', name: 'dear', cost_pkr: 8.200001, costs_pkr: [8.2, 0.000001] },
      { group: 'middle', name: 'middle', cost_pkr: 0.000005, costs_pkr: [0.000005, 0] },
    ]);
    assert.deepEqual(other, { groups: 2, cost_pkr: 0.000003, costs_pkr: [0, 0.000003] });
  });

  it('200 with the filters of the request log, over the whole window', async () => {
    const account = await signUpWithKey(started);
    const daysAgo = (days: bigint) => ({ startedAtMicros: NOW - days * DAY });
    await account.add(
      { model: 'm', costMicroPkr: 100n, ...daysAgo(3n) },
      {
        model: 'm',
        costMicroPkr: 20n,
        status: 502,
        terminationReason: 'upstream_stream_aborted',
        ...daysAgo(3n),
      },
      { model: 'm', costMicroPkr: 3n, status: 502, terminationReason: 'upstream_stream_aborted' },
    );
    const costOf = async (filter: Record<string, string>) => {
      const { total, groups } = await spendOf(account, { time_range: '7d', ...filter });
      assert.equal(groups[0]?.cost_pkr, total.cost_pkr);
      return total.cost_pkr;
    };
    assert.equal(await costOf({}), 0.000123);
    assert.equal(await costOf({ status_category: '5xx' }), 0.000023);
    assert.equal(await costOf({ termination_reason: 'upstream_stream_aborted' }), 0.000023);
    assert.equal(await costOf({ error_code: 'any' }), 0.000023);
    assert.equal(await costOf({ min_cost_pkr: '0.00002' }), 0.00012);
  });

  it('400 for a status category that is none, instead of the cost of everything', async () => {
    const { client } = await signUpWithKey(started);
    const { status } = await client.send(analytics.getSpend, { query: { status_category: '7xx' } });
    assert.equal(status, 400);
  });

  it('200 with names of keys and projects, null for a revoked key and for no key', async () => {
    const account = await signUpWithKey(started, 'live');
    const revoked = await account.mint('revoked');
    await account.add(
      { costMicroPkr: 3n },
      { costMicroPkr: 2n, keyId: revoked.id },
      { costMicroPkr: 1n, keyId: null, projectId: null },
    );
    await account.client.call(keys.revokeKey, { params: { key_id: revoked.id } });
    const named = async (group_by: string) =>
      (await spendOf(account, { group_by })).groups.map(({ group, name }) => [group, name]);
    assert.deepEqual(await named('key'), [
      [account.key.id, 'live'],
      [revoked.id, null],
      [null, null],
    ]);
    const { projects } = await account.client.call(organization.listProjects);
    assert.deepEqual(await named('project'), [
      [account.projectId, projects[0]?.name],
      [null, null],
    ]);
  });

  it('200 with a window that includes from and excludes to', async () => {
    const account = await signUpWithKey(started);
    const at = Date.parse('2026-11-10T00:00:00Z');
    const micros = BigInt(at) * 1000n;
    await account.add(
      { costMicroPkr: 1n, startedAtMicros: micros - 1n },
      { costMicroPkr: 20n, startedAtMicros: micros },
      { costMicroPkr: 300n, startedAtMicros: micros + DAY - 1n },
      { costMicroPkr: 4_000n, startedAtMicros: micros + DAY },
      { costMicroPkr: 50_000n, startedAtMicros: NOW },
    );
    for (const [query, expected] of [
      [{ from: '2026-11-10T00:00:00Z', to: '2026-11-11T00:00:00Z' }, 0.00032],
      [{ from: '2026-11-10T05:00:00+05:00', to: '2026-11-10T19:00:00-05:00' }, 0.00032],
      [{ from: '2026-11-10T00:00:00.000001Z' }, 0.0543],
      [{ from: '2026-11-09T23:59:59.999999Z', to: '2026-11-10T00:00:00Z' }, 0.000001],
      [{ from: '2026-11-20T10:30:00.123456Z' }, 0.05],
      [{ from: '2026-11-20T00:00:00Z', to: '2026-11-21T00:00:00Z' }, 0.05],
      [{ time_range: '1d' }, 0.05],
      [{ from: ' ', to: '', time_range: '' }, 0.05],
    ] as const) {
      const spend = await spendOf(account, query);
      assert.equal(spend.total.cost_pkr, expected, JSON.stringify(query));
      // The window of the reply is the same window.
      const { total } = await spendOf(account, { from: spend.from, to: spend.to });
      assert.equal(total.cost_pkr, expected, JSON.stringify(query));
    }
  });

  it('200 with days of a time zone, and no midnight of another in between', async () => {
    const account = await signUpWithKey(started);
    const at = (text: string) => BigInt(Date.parse(text)) * 1000n;
    await account.add(
      // In Berlin, the 25 October has 25 hours.
      { costMicroPkr: 1n, startedAtMicros: at('2026-10-24T21:59:59.999Z') },
      { costMicroPkr: 2n, startedAtMicros: at('2026-10-24T22:00:00Z') },
      { costMicroPkr: 4n, startedAtMicros: at('2026-10-25T22:59:59.999Z') },
      { costMicroPkr: 8n, startedAtMicros: at('2026-10-25T23:00:00Z') },
    );
    const window = { from: '2026-10-24T12:00:00Z', to: '2026-10-26T12:00:00Z', interval: '1d' };
    const berlin = await spendOf(account, { ...window, time_zone: 'Europe/Berlin' });
    assert.deepEqual(berlin.buckets, [
      '2026-10-24T00:00:00+02:00',
      '2026-10-25T00:00:00+02:00',
      '2026-10-26T00:00:00+01:00',
    ]);
    assert.deepEqual(berlin.total.costs_pkr, [0.000001, 0.000006, 0.000008]);
    const utc = await spendOf(account, window);
    assert.deepEqual(utc.total.costs_pkr, [0.000003, 0.000012, 0]);
    const offset = await spendOf(account, { ...window, time_zone: '+01:30' });
    assert.deepEqual(offset.buckets[1], '2026-10-25T00:00:00+01:30');
    assert.deepEqual(offset.total.costs_pkr, [0.000003, 0, 0.000012]);
  });

  it('400 for a window, a time zone or an interval that is none, with what is accepted', async () => {
    const { client } = await started.api.signUp();
    const day = '2026-11-19T00:00:00Z';
    for (const [query, name, message] of [
      [{ time_range: '1h', from: day }, 'time_range', /send one of the two/],
      [{ to: day }, 'from', /^Required with to/],
      [{ from: day, to: day }, 'to', /after from/],
      [{ from: '2026-11-21T00:00:00Z' }, 'from', /in the past/],
      [{ from: '1969-12-31T23:59:59Z', to: day }, 'from', /1970 to 2099/],
      [{ from: day, to: '2100-01-01T00:00:01Z' }, 'to', /1970 to 2099/],
      [{ from: '2016-11-19T00:00:00Z', to: day }, 'from', /3650 days/],
      [{ from: '2026-11-19' }, 'from', /RFC 3339 timestamp with an offset/],
      [{ from: '2026-11-19T00:00:00' }, 'from', /RFC 3339 timestamp with an offset/],
      [{ from: '2026-02-30T00:00:00Z' }, 'from', /RFC 3339 timestamp with an offset/],
      [{ from: '1795170600' }, 'from', /RFC 3339 timestamp with an offset/],
      [{ from: day, to: 'now' }, 'to', /RFC 3339 timestamp with an offset/],
      [{ time_range: '1 day' }, 'time_range', /followed by s, m, h or d/],
      [{ time_zone: 'Mars/Olympus', interval: '1d' }, 'time_zone', /IANA time zone/],
      [{ time_zone: ' 05:00', interval: '1d' }, 'time_zone', /%2B/],
      [{ time_zone: 'x'.repeat(10_000), interval: '1d' }, 'time_zone', /IANA time zone/],
      [{ interval: '1s' }, 'interval', /more than 2500 buckets. 1m is wide enough/],
      [{ time_range: '3650d', interval: '1d', time_zone: 'Asia/Karachi' }, 'interval', /7d is wide enough/],
      [{ limit: '0' }, 'limit', /at least 1/],
      [{ group_by: 'status' }, 'group_by', /one of model, key, project/],
    ] as const) {
      const reply = await client.send(analytics.getSpend, { query });
      assert.equal(reply.status, 400, JSON.stringify(query));
      const { detail } = JSON.parse(reply.text) as { detail: { loc: string[]; msg: string }[] };
      assert.deepEqual(
        detail.map(({ loc }) => loc),
        [['query', name]],
        reply.text,
      );
      assert.match(detail[0]?.msg ?? '', message);
    }
  });

  it('200 with as many buckets as are accepted, and at most 100 groups', async () => {
    const account = await signUpWithKey(started);
    await account.add(
      ...Array.from({ length: 130 }, (_, n) => ({ model: `m${n}`, costMicroPkr: BigInt(n) })),
    );
    const spend = await spendOf(account, {
      time_range: '2499d',
      interval: '1d',
      limit: '99999999999999999999',
    });
    assert.equal(spend.buckets.length, 2_500);
    assert.deepEqual([spend.groups.length, spend.other?.groups], [100, 29]);
    assert.equal(spend.total.cost_pkr, 0.008385);
  });
});
