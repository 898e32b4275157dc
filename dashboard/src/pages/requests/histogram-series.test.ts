import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { histogramSeries } from './histogram-series.ts';

describe('the histogram of requests', () => {
  it('stacks errors on the requests without one, so that the height is all requests', () => {
    const total = { requests: 6, errors: 2, per_bucket: { requests: [3, 0, 3], errors: [1, 0, 1] } };
    const [fine, errors] = histogramSeries(total);
    assert.deepEqual([fine?.values, fine?.total], [[2, 0, 2], 4]);
    assert.deepEqual([errors?.values, errors?.total], [[1, 0, 1], 2]);
  });
});
