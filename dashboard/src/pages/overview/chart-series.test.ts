import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { GetTrendReply } from '@gatehouse/sdk';
import { chartSeries } from './chart-series.ts';
import { metricChange, metricDetail } from './metrics.ts';

const empty = {
  requests: 0,
  errors: 0,
  cost_pkr: 0,
  per_bucket: { requests: [0, 0], errors: [0, 0], cost_pkr: [0, 0] },
};

const reply: GetTrendReply = {
  from: '2026-11-22T00:00:00Z',
  to: '2026-11-22T02:00:00Z',
  interval: '1h',
  time_zone: 'UTC',
  group_by: 'model',
  figures: ['requests', 'errors', 'cost_pkr'],
  buckets: ['2026-11-22T00:00:00Z', '2026-11-22T01:00:00Z'],
  total: {
    requests: 40,
    errors: 1,
    cost_pkr: 2,
    per_bucket: { requests: [10, 30], errors: [0, 1], cost_pkr: [1, 1] },
  },
  groups: [
    {
      group: 'a',
      name: 'a',
      requests: 30,
      errors: 1,
      cost_pkr: 2,
      per_bucket: { requests: [5, 25], errors: [0, 1], cost_pkr: [1, 1] },
    },
    { group: null, name: null, ...empty, requests: 6, per_bucket: { ...empty.per_bucket, requests: [1, 5] } },
  ],
  other: { groups: 3, ...empty, requests: 4, per_bucket: { ...empty.per_bucket, requests: [4, 0] } },
  previous: {
    from: '2026-11-21T22:00:00Z',
    to: '2026-11-22T00:00:00Z',
    requests: 20,
    errors: 0,
    cost_pkr: 4,
  },
};

describe('the chart of the overview', () => {
  it('has a series for each group and one for the others, with the totals of the API', () => {
    assert.deepEqual(
      chartSeries(reply, 'requests').map(({ id, label, total, canFilter }) => [id, label, total, canFilter]),
      [
        ['a', 'a', 30, true],
        ['unattributed', 'unattributed', 6, false],
        ['other', '3 others', 4, false],
      ],
    );
  });

  it('leaves out groups without any of it', () => {
    assert.deepEqual(
      chartSeries(reply, 'errors').map(({ id }) => id),
      ['a'],
    );
  });

  it('is one series where nothing divides it', () => {
    assert.deepEqual(
      chartSeries({ ...reply, group_by: null, groups: [], other: null }, 'requests')[0]?.values,
      [10, 30],
    );
  });
});

describe('the figures of the overview', () => {
  it('have the change against the window before', () => {
    assert.equal(metricChange('requests', reply)?.text, '100 %');
    assert.equal(metricChange('spend', reply)?.trend, 'down');
    // Nothing can be compared with no errors.
    assert.equal(metricChange('errors', reply), undefined);
    assert.equal(metricChange('requests', { ...reply, previous: null }), undefined);
  });

  it('say the share of errors and the cost of a request', () => {
    assert.equal(metricDetail('errors', reply), '2.5 % of requests');
    assert.equal(metricDetail('spend', reply), '0.05 PKR a request');
  });
});
