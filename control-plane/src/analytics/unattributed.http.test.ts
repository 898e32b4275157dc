import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { analytics } from '@gatehouse/contract';
import { DAY, NOW, startAnalyticsApi } from '../testing/analytics-api.ts';
import { duringTests } from '../testing/during-tests.ts';
import type { SignedUp } from '../testing/test-api.ts';

// The first two are answered from the hourly rollup; the last, whose buckets do not begin on the hour, from the rows.
const QUERIES = [
  { time_range: '3d', interval: '1d' },
  { time_range: '30d', interval: '1d' },
  { time_range: '3d', interval: '5400s' },
] as const;

for (const [pages, sizes] of [
  ['one page', { points: 50_000, rows: 5_000, bytes: 2_000_000, buckets: 5_000 }],
  ['pages of a point', { points: 1, rows: 5_000, bytes: 2_000_000, buckets: 0 }],
  ['pages of a point, read whole', { points: 1, rows: 5_000, bytes: 2_000_000, buckets: 5_000 }],
] as const) {
  describe(`a series by model of requests without a model, in ${pages}`, () => {
    const started = duringTests(() => startAnalyticsApi({ pages: sizes }));

    /** The series of every kind, each point as group and value. */
    const send = ({ client }: SignedUp, metric: analytics.Metric) =>
      Promise.all(
        QUERIES.map(async (query) => {
          const { data } = await client.call(analytics.getTimeseries, { query: { metric, ...query } });
          return data.map(({ group, value }) => [group, value]);
        }),
      );
    const each = <T>(expected: T) => QUERIES.map(() => expected);

    it('200 with these requests as unattributed', async () => {
      const account = await started.api.signUp();
      await started.add(account, [
        { model: '', status: 401, totalTokens: 1 },
        { model: '', status: 401, totalTokens: 10, startedAtMicros: NOW - 2n * DAY },
        { model: 'a/one', totalTokens: 100 },
        { model: 'z/one', totalTokens: 1000 },
      ]);
      const expected = [
        ['unattributed', 10],
        ['a/one', 100],
        ['unattributed', 1],
        ['z/one', 1000],
      ];
      assert.deepEqual(await send(account, 'token_usage'), each(expected));
    });

    it('200 with one group for these requests and for a model of that name', async () => {
      const account = await started.api.signUp();
      await started.add(account, [
        { model: '', totalMs: 1 },
        { model: 'unattributed', totalMs: 3 },
        { model: '', totalMs: 5 },
        { model: 'b', totalMs: 7 },
        { model: ' ', totalMs: 9 },
      ]);
      const expected = [
        [' ', 9],
        ['b', 7],
        ['unattributed', 3],
      ];
      assert.deepEqual(await send(account, 'latency'), each(expected));
    });
  });
}
