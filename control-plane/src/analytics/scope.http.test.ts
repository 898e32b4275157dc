import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { before, describe, it } from 'node:test';
import { analytics, type Endpoint } from '@gatehouse/contract';
import type { RequestLogRow } from '@gatehouse/store';
import { DAY, NOW, SECOND, signUpWithKey, startAnalyticsApi } from '../testing/analytics-api.ts';
import { duringTests } from '../testing/during-tests.ts';
import { exportedNdjson } from '../testing/request-log-export.ts';

// The window and the filters that all endpoints of analytics take: what each of them reads is the same.

const YEARS = 3650n * DAY;
const AGES = {
  future: -1n,
  now: 0n,
  minute: 60n * SECOND,
  beforeMinute: 60n * SECOND + 1n,
  day: DAY,
  beforeDay: DAY + 1n,
  years: YEARS,
  beforeYears: YEARS + 1n,
} as const;

const ENDPOINTS: readonly Endpoint[] = [
  analytics.getSummary,
  analytics.getTimeseries,
  analytics.listRequests,
  analytics.getUsageThrottling,
];

describe('the scope of analytics', () => {
  const started = duringTests(startAnalyticsApi);
  let account: Awaited<ReturnType<typeof signUpWithKey>>;
  let windows: Awaited<ReturnType<typeof signUpWithKey>>;
  let secondKeyId: string;
  let rows: ReadonlyMap<string, Partial<RequestLogRow>>;

  before(async () => {
    account = await signUpWithKey(started);
    secondKeyId = (await account.mint()).id;
    rows = new Map([
      ['plain', {}],
      ['second key', { keyId: secondKeyId }],
      ['unattributed', { keyId: null, projectId: null }],
      ['other model', { model: 'a/two' }],
      ['other project', { projectId: randomUUID() }],
    ]);
    await account.add(...[...rows].map(([requestId, row]) => ({ requestId, ...row })));
    windows = await signUpWithKey(started);
    await windows.add(
      ...Object.entries(AGES).map(([requestId, age]) => ({ requestId, startedAtMicros: NOW - age })),
    );
    // Another organisation's rows, even of the same keys, project and models.
    const stranger = await signUpWithKey(started);
    for (const { key, projectId } of [account, windows])
      await stranger.add({ requestId: 'foreign', keyId: key.id, projectId });
  });

  /** The ids that the log has, given that every endpoint reads just these rows. */
  async function read({ client, ...of }: typeof account, scope: Record<string, string>): Promise<string[]> {
    const { model, ...others } = scope;
    const query = { ...others, ...(model === undefined ? {} : { model_alias: model }) };
    const what = JSON.stringify(scope);
    const { requests, total } = await client.call(analytics.listRequests, { query: scope });
    assert.equal(total, requests.length, what);
    assert.deepEqual(await exportedNdjson({ client, ...of }, scope), requests, what);
    assert.equal((await client.call(analytics.getSummary, { query })).total_requests, total, what);
    for (const group_by of analytics.GROUPINGS) {
      const { data } = await client.call(analytics.getTimeseries, { query: { ...query, group_by } });
      assert.equal(
        data.reduce((sum, { value }) => sum + value, 0),
        total,
        what,
      );
    }
    const { keys } = await client.call(analytics.getUsageThrottling, { query });
    assert.equal(
      keys.reduce((sum, key) => sum + key.requests, 0),
      requests.filter(({ key }) => key !== null).length,
      what,
    );
    return requests.map(({ req_id }) => req_id).sort();
  }

  it('200 from every endpoint with both ends of the window and nothing beyond', async () => {
    const inMinute = ['minute', 'now'];
    const inDay = ['beforeMinute', 'day', ...inMinute];
    for (const [time_range, expected, applied] of [
      ['60s', inMinute, '60s'],
      ['1m', inMinute, '1m'],
      ['59s', ['now'], '59s'],
      ['24h', inDay, '24h'],
      ['1440m', inDay, '1440m'],
      ['', inDay, '24h'],
      [' ', inDay, '24h'],
      ['2d', [...inDay, 'beforeDay'], '2d'],
      ['000000000002d', [...inDay, 'beforeDay'], '000000000002d'],
      ...['3650d', '3651d', '999999999999d', '999999999999s', '87601h'].map(
        (longest) => [longest, [...inDay, 'beforeDay', 'years'], '3650d'] as const,
      ),
    ] as const) {
      assert.deepEqual(await read(windows, { time_range }), [...expected].sort(), time_range);
      for (const endpoint of [analytics.getSummary, analytics.getTimeseries, analytics.getUsageThrottling]) {
        const reply = (await windows.client.call(endpoint, { query: { time_range } })) as {
          time_range: string;
        };
        assert.equal(reply.time_range, applied);
      }
    }
  });

  it('200 from every endpoint with the rows that all filters let through', async () => {
    const { key, projectId } = account;
    const all = [...rows.keys()];
    const ofProject = ['other model', 'plain', 'second key'];
    for (const [scope, expected] of [
      [{}, all],
      [{ project_id: projectId }, ofProject],
      [{ project_id: projectId.toUpperCase() }, ofProject],
      [{ key_id: key.id }, ['other model', 'other project', 'plain']],
      [{ key_id: key.id.toUpperCase() }, ['other model', 'other project', 'plain']],
      [{ key_id: secondKeyId }, ['second key']],
      [{ key_id: key.id, project_id: projectId }, ['other model', 'plain']],
      [{ model: 'a/two' }, ['other model']],
      [{ model: 'A/two' }, []],
      [{ model: 'a/tw%' }, []],
      [{ model: 'a/on_' }, []],
      [{ model: 'a/one', key_id: secondKeyId }, ['second key']],
      [{ model: 'a/two', key_id: secondKeyId }, []],
      [{ project_id: '', key_id: ' ', model: ' ', time_range: '' }, all],
    ] as const) {
      for (const time_range of ['24h', '30d'])
        assert.deepEqual(await read(account, { time_range, ...scope }), [...expected].sort());
    }
    // Each endpoint has one name for the model, and ignores the other.
    const { client } = account;
    assert.equal((await client.call(analytics.listRequests, { query: { model_alias: 'x' } })).total, 5);
    assert.equal((await client.call(analytics.getSummary, { query: { model: 'x' } })).total_requests, 5);
  });

  const notDurations = '0s,-1h,+5m,1.5h,\u0663h,24H,24h\n,1d2h,h,24,1w,1234567890123s'.split(',');
  for (const endpoint of ENDPOINTS) {
    it(`400 from ${endpoint.name} for a time_range that is not a duration`, async () => {
      for (const time_range of [...notDurations, "24h'"]) {
        const body = await account.client.refused(endpoint, 400, { query: { time_range } });
        assert.deepEqual(
          (body['detail'] as { loc: string[] }[])[0]?.loc,
          ['query', 'time_range'],
          time_range,
        );
      }
    });
  }
});
