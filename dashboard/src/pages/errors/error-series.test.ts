import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { GetTrendReply } from '@gatehouse/sdk';
import { errorSeries } from './error-series.ts';

const part = (first: number, second: number) => ({
  requests: first + second,
  per_bucket: { requests: [first, second] },
});

const reply = (groups: number, other: GetTrendReply['other']): GetTrendReply => ({
  from: '2026-11-22T00:00:00Z',
  to: '2026-11-22T02:00:00Z',
  interval: '1h',
  time_zone: 'UTC',
  group_by: 'error_code',
  figures: ['requests'],
  buckets: ['2026-11-22T00:00:00Z', '2026-11-22T01:00:00Z'],
  total: part(0, 0),
  groups: Array.from({ length: groups }, (_, nth) => ({
    group: `code${nth}`,
    name: null,
    ...part(100 - nth, nth),
  })),
  other,
  previous: null,
});

describe('the layers of the chart of errors', () => {
  it('are the seven largest groups, and one for all others, listed or not', () => {
    const layers = errorSeries(reply(9, { groups: 3, ...part(5, 6) }));
    assert.equal(layers.length, 8);
    const { label, values, total } = layers.at(-1) ?? assert.fail();
    assert.deepEqual([label, values, total], ['5 others', [93 + 92 + 5, 7 + 8 + 6], 211]);
  });

  it('have none for others where there are none', () => {
    assert.deepEqual(
      errorSeries(reply(2, null)).map(({ id, values }) => [id, values]),
      [
        ['code0', [100, 0]],
        ['code1', [99, 1]],
      ],
    );
  });
});
